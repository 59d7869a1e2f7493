//! What a run may spend on one message of its user, and what is left of it. Pure.

use super::{Limit, Limits, TotalUsage};

/// Why a run ends that has spent what it may.
pub(crate) enum BudgetEnd {
    Limit(Limit),
    /// It is not known what was spent of what is limited: in words.
    Unknown(String),
}

/// Whether a run has spent what it may on a message.
pub(crate) fn reached(limits: Limits, spent: TotalUsage) -> Option<BudgetEnd> {
    let unknown = |what: &str, answers: u32| {
        BudgetEnd::Unknown(format!(
            "of {answers} answers of the model the {what} is not known, so that the limit of {what} cannot be held; leave the limit out, or ask a model that says what its answers take and whose price is known"
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

/// What the model reads of what is left after so many turns, where the application wants that.
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
