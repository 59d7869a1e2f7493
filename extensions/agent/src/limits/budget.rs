//! Checks what a run has spent on one message of its user against the limits of the run. The functions are pure.

use super::{Limit, Limits, TotalUsage};

/// The reason why a run ends because of its budget.
pub(crate) enum BudgetEnd {
    Limit(Limit),
    /// The usage of a limited resource is unknown; the text says why.
    Unknown(String),
}

/// Returns why the run has to end, if it has reached a limit on tokens or cost.
pub(crate) fn reached(limits: Limits, spent: TotalUsage) -> Option<BudgetEnd> {
    let unknown = |what: &str, answers: u32| {
        BudgetEnd::Unknown(format!(
            "of {answers} answers of the model the {what} is not known, so that its limit cannot be enforced; leave the limit out, or ask a model that reports its usage and whose price is known"
        ))
    };
    match (limits.tokens, limits.cost) {
        (Some(_), _) if spent.unmeasured > 0 => Some(unknown("number of tokens", spent.unmeasured)),
        (_, Some(_)) if spent.unpriced > 0 => Some(unknown("cost", spent.unpriced)),
        (Some(most), _) if spent.usage.total() >= most => {
            Some(BudgetEnd::Limit(Limit::Tokens { tokens: spent.usage.total() }))
        }
        (_, Some(most)) if spent.cost >= most => {
            Some(BudgetEnd::Limit(Limit::Cost { cost: spent.cost }))
        }
        _ => None,
    }
}

/// Writes the message that tells the model how many turns and tokens and how much money are left; `None` unless the
/// application wants this message.
pub(crate) fn left(limits: Limits, spent: TotalUsage, turns: u32) -> Option<String> {
    if !limits.reports_left {
        return None;
    }
    let mut left = vec![format!("{} turns", limits.turns.saturating_sub(turns))];
    if let Some(most) = limits.tokens {
        left.push(format!("{} tokens", most.saturating_sub(spent.usage.total())));
    }
    left.extend(limits.cost.map(|most| most.minus(spent.cost).to_string()));
    Some(format!("[Left for this task: {}.]", left.join(", ")))
}
