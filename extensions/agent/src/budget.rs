//! What a run may spend on one message of its user, and what is left of it. Pure.

use crate::{Ended, Limit, ModelError, State};

/// How the run ends where it has spent what it may.
pub(crate) fn reached(state: &State) -> Option<Ended> {
    let (limits, spent) = (state.limits(), state.spent_since_said());
    let unknown = |what: &str, answers: u32| {
        let message = format!(
            "of {answers} answers of the model the {what} is not known, so that the limit of {what} cannot be held; leave the limit out, or ask a model that says what its answers take and whose price is known"
        );
        Ended::model_failed(&ModelError::new("spending_unknown", message))
    };
    match (limits.tokens, limits.cost) {
        (Some(_), _) if spent.unmeasured > 0 => Some(unknown("number of tokens", spent.unmeasured)),
        (_, Some(_)) if spent.unpriced > 0 => Some(unknown("cost", spent.unpriced)),
        (Some(most), _) if spent.usage.total() >= most => {
            Some(Ended::Limit(Limit::Tokens { tokens: spent.usage.total() }))
        }
        (_, Some(most)) if spent.cost >= most => {
            Some(Ended::Limit(Limit::Cost { cost: spent.cost }))
        }
        _ => None,
    }
}

/// What the model reads of what is left, where the application wants that.
pub(crate) fn left(state: &State) -> Option<String> {
    let (limits, spent) = (state.limits(), state.spent_since_said());
    if !limits.reports_left {
        return None;
    }
    let mut left = vec![format!("{} turns", limits.turns.saturating_sub(state.0.taken))];
    if let Some(most) = limits.tokens {
        left.push(format!("{} tokens", most.saturating_sub(spent.usage.total())));
    }
    left.extend(limits.cost.map(|most| most.minus(spent.cost).to_string()));
    Some(format!("[Left for this task: {}.]", left.join(", ")))
}
