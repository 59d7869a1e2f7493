//! What must hold, in every state.

use stateright::Property;

use crate::system::{Explored, System};
use crate::witness::Wrong;

/// A `once` call begins at most once without a word.
pub const ONCE: &str = "a once call begins at most once without a word";
/// Its effect happens at most once, where people tell the truth and late owners stop.
pub const ONE_EFFECT: &str = "the effect of a once call happens at most once";
/// An approval is used at most once.
pub const APPROVAL_ONCE: &str = "an approval is used by one generation alone";
/// What asks runs by a decision or a grant alone.
pub const DECIDED: &str = "what a person has to decide runs by a grant, or by a decision on this generation and these arguments";
/// A decision is bound to what was shown.
pub const BOUND: &str = "a decision takes effect on what was shown";
/// Whoever writes the journal cannot have another call run than a person saw.
pub const SHOWN: &str = "what was shown to whoever approved it is what runs";
/// A decision lapses.
pub const IN_TIME: &str = "nothing is claimed by a decision that is too late";
/// Nothing is stranded.
pub const NOT_STRANDED: &str = "no accepted decision and no call is stranded";
/// One answer.
pub const ONE_ANSWER: &str = "each call of a turn is answered once";
/// What has ended never begins.
pub const ENDED: &str = "a rejected, denied, expired or cancelled call never begins";
/// A late owner changes nothing.
pub const FENCED: &str = "a late owner changes nothing";
/// A renewed lease holds.
pub const RENEWED: &str = "an owner whose lease was renewed keeps its call";
/// Nobody is accused.
pub const NOT_ACCUSED: &str = "no honest record is said to contradict its history";
/// History and record agree.
pub const REPLAYED: &str = "every record stands where its history takes it";
/// An ended run begins nothing.
pub const RUN_OVER: &str = "nothing is claimed once the end of its run was told";
/// A forged word ends nothing.
pub const NOT_FORGED: &str = "a word that does not count ends no call";
/// A denial comes first.
pub const DENIED: &str = "what the policy denies is not claimed, whatever a person said";
/// A plan is accepted first.
pub const PLANNED: &str = "what is planned is claimed once its plan was accepted";
/// A grant counts on its terms.
pub const GRANT_TERMS: &str =
    "a grant is used on its terms, until it is revoked or its tool changes";
/// A grant counts so often.
pub const GRANT_USES: &str = "a grant is used by no more calls than it is for";
/// A grant is no answer each time.
pub const EACH_TIME: &str = "a grant does not help where a person is asked each time";
/// A rejection holds.
pub const REJECTED: &str = "nobody is asked again what a person rejected in this run";
/// A dead letter stays one.
pub const LETTER: &str = "a requeued dead letter that cannot run is a dead letter again";
/// A key is stable.
pub const KEY: &str = "an idempotency key changes with the arguments alone";
/// Stages come first.
pub const STAGED: &str = "nothing is claimed that its stages did not let through";
/// Stages speak of the call as it is.
pub const STAGED_NOW: &str = "what stages say counts for the version of the call that they saw";
/// To wait costs nothing.
pub const WAITING: &str =
    "a call that waits for a stage spends no attempt and does not end by that";
/// What a stage answers has its answer.
pub const KEPT_OUT: &str = "a call that a stage answers or refuses is never run";
/// A result has its time.
pub const SUPPLIED_IN_TIME: &str = "no result counts that is supplied after its deadline";
/// A hand-over is known.
pub const HANDED_OVER: &str =
    "a call that is carried out elsewhere is handed over or not, and never in doubt";
/// Decisions are possible.
pub const POSSIBLE: &str = "no decision asks for what the machine does not know";

/// Those that are asked of a scenario. That an effect happens once is asked only where it is promised, or looked for.
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
    // Whoever writes the journal can strand any call.
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
