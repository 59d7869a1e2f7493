//! The properties: what must be true in every state.

use stateright::Property;

use crate::system::{Explored, System};
use crate::witness::Wrong;

pub const ONCE: &str =
    "a `once` call begins again only after a person or its tool said that it had not happened";
/// This is true where people answer correctly and late owners stop.
pub const ONE_EFFECT: &str = "the effect of a `once` call happens at most once";
pub const APPROVAL_ONCE: &str = "only one generation uses an approval";
pub const DECIDED: &str = "a call that needs approval runs only by a grant, or by a decision on this generation and these arguments";
pub const BOUND: &str = "a decision takes effect only on what was shown";
/// An adversary who writes the journal cannot let another call run than the one that a person saw.
pub const SHOWN: &str = "the call that runs is the one that was shown for approval";
pub const IN_TIME: &str = "no call is claimed by a decision that has expired";
pub const NOT_STRANDED: &str = "no accepted decision and no call is stranded";
pub const ONE_ANSWER: &str = "each call of a turn is answered once";
pub const ENDED: &str = "a rejected, denied, expired or cancelled call never begins";
pub const FENCED: &str = "an owner that has lost its lease changes nothing";
pub const RENEWED: &str = "an owner whose lease was renewed keeps its call";
pub const NOT_ACCUSED: &str = "no honest record is reported to contradict its history";
pub const REPLAYED: &str = "every record has the state that its history leads to";
pub const RUN_OVER: &str = "no call is claimed after the caller learned that its run has ended";
pub const NOT_FORGED: &str = "a statement with an untrusted key ends no call";
pub const DENIED: &str =
    "a call that the policy denies is not claimed, even if a person approved it";
pub const PLANNED: &str = "a planned call is claimed only after its plan was accepted";
pub const GRANT_TERMS: &str =
    "a grant counts only on its terms, until it is revoked or its tool changes";
pub const GRANT_USES: &str = "no more calls use a grant than it is for";
pub const EACH_TIME: &str = "a grant does not count where a person has to be asked each time";
pub const REJECTED: &str = "no person is asked again about a call that was rejected in this run";
pub const LETTER: &str = "a requeued dead letter that cannot run is a dead letter again";
pub const KEY: &str = "an idempotency key changes only with the arguments";
pub const STAGED: &str = "no call is claimed that its stages did not let through";
pub const STAGED_NOW: &str =
    "a decision of a stage counts only for the version of the call that it saw";
pub const WAITING: &str =
    "a call that waits for a stage spends no attempt, and waiting does not end it";
pub const KEPT_OUT: &str = "a call that a stage answers or refuses is never run";
pub const SUPPLIED_IN_TIME: &str = "a result that is supplied after its deadline does not count";
pub const HANDED_OVER: &str = "an external call is handed over or not, and never indeterminate";
pub const POSSIBLE: &str = "no decision asks for something that the driver cannot read";

/// Returns the properties to check in a scenario. That an effect happens once is checked only where it is promised or
/// looked for.
#[must_use]
pub fn all(explored: &Explored) -> Vec<Property<Explored>> {
    let mut all = vec![
        Property::always(ONCE, |_, it| never(it, |wrong| wrong.begun_twice)),
        Property::always(APPROVAL_ONCE, |_, it| never(it, |wrong| wrong.decision_reused)),
        Property::always(DECIDED, |_, it| never(it, |wrong| wrong.undecided)),
        Property::always(BOUND, |_, it| never(it, |wrong| wrong.decision_misplaced)),
        Property::always(IN_TIME, |_, it| never(it, |wrong| wrong.expired_used)),
        Property::always(ONE_ANSWER, |_, it| never(it, |wrong| wrong.answered_twice)),
        Property::always(ENDED, |_, it| never(it, |wrong| wrong.claimed_unready)),
        Property::always(FENCED, |_, it| never(it, |wrong| wrong.late_owner_wrote)),
        Property::always(SHOWN, |_, it| never(it, |wrong| wrong.not_shown)),
        Property::always(RENEWED, |_, it| never(it, |wrong| wrong.renewal_lost)),
        Property::always(NOT_ACCUSED, |_, it| never(it, |wrong| wrong.falsely_accused)),
        Property::always(REPLAYED, |_, it| never(it, |wrong| wrong.contradicted)),
        Property::always(RUN_OVER, |_, it| never(it, |wrong| wrong.claimed_after_end)),
        Property::always(NOT_FORGED, |_, it| never(it, |wrong| wrong.forgery_counted)),
        Property::always(DENIED, |_, it| never(it, |wrong| wrong.denied_ran)),
        Property::always(PLANNED, |_, it| never(it, |wrong| wrong.unplanned)),
        Property::always(GRANT_TERMS, |_, it| never(it, |wrong| wrong.grant_outside)),
        Property::always(GRANT_USES, |_, it| never(it, |wrong| wrong.grant_overused)),
        Property::always(EACH_TIME, |_, it| never(it, |wrong| wrong.granted_each_time)),
        Property::always(REJECTED, |_, it| never(it, |wrong| wrong.asked_again)),
        Property::always(LETTER, |_, it| never(it, |wrong| wrong.letter_lost)),
        Property::always(KEY, |_, it| never(it, |wrong| wrong.key_changed)),
        Property::always(STAGED, |_, it| never(it, |wrong| wrong.unstaged)),
        Property::always(STAGED_NOW, |_, it| never(it, |wrong| wrong.staged_before)),
        Property::always(WAITING, |_, it| never(it, |wrong| wrong.waiting_cost)),
        Property::always(KEPT_OUT, |_, it| never(it, |wrong| wrong.answered_ran)),
        Property::always(SUPPLIED_IN_TIME, |_, it| never(it, |wrong| wrong.supplied_late)),
        Property::always(HANDED_OVER, |_, it| never(it, |wrong| wrong.doubted_elsewhere)),
        Property::always(POSSIBLE, |_, it| never(it, |wrong| wrong.impossible)),
    ];
    // An adversary who writes the journal can strand any call.
    let is_rewritten = !explored.scenario.rewrites.is_empty();
    if explored.until.is_none_or(|until| until == NOT_STRANDED) && !is_rewritten {
        all.push(Property::always(NOT_STRANDED, |model: &Explored, it| {
            model.settled.gets_everywhere(&model.scenario, it)
        }));
    }
    if !explored.scenario.late_owners_act || explored.until == Some(ONE_EFFECT) {
        all.push(Property::always(ONE_EFFECT, |_, it| never(it, |wrong| wrong.acted_twice)));
    }
    all
}

fn never(system: &System, is_wrong: fn(&Wrong) -> bool) -> bool {
    !system.witnesses.iter().any(|witness| is_wrong(&witness.wrong))
}
