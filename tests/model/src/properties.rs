//! What must hold, in every state.

use stateright::Property;

use crate::fair;
use crate::system::{Explored, System};
use crate::witness::Wrong;

/// A `once` call begins at most once without a word.
pub const ONCE: &str = "a once call begins at most once without a word";
/// Its effect happens at most once, where people tell the truth and late owners stop.
pub const ONE_EFFECT: &str = "the effect of a once call happens at most once";
/// An approval is used at most once.
pub const APPROVAL_ONCE: &str = "an approval is used by one generation alone";
/// What asks runs by a decision alone.
pub const DECIDED: &str = "what a person has to decide runs by a decision on this generation";
/// A decision is bound to what was shown.
pub const BOUND: &str = "a decision takes effect on what was shown";
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
/// An ended run begins nothing.
pub const RUN_OVER: &str = "nothing is claimed once the end of its run was told";
/// A forged word ends nothing.
pub const NOT_FORGED: &str = "a word that does not count ends no call";

/// Those that are asked of a scenario. That an effect happens once is asked only where it is promised, or looked for.
#[must_use]
pub fn all(explored: &Explored) -> Vec<Property<Explored>> {
    let mut all = vec![
        Property::always(ONCE, |_, it| never(it, |wrong| wrong.begun_twice)),
        Property::always(APPROVAL_ONCE, |_, it| never(it, |wrong| wrong.decision_reused)),
        Property::always(DECIDED, |_, it| never(it, |wrong| wrong.undecided)),
        Property::always(BOUND, |_, it| never(it, |wrong| wrong.decision_misplaced)),
        Property::always(IN_TIME, |_, it| never(it, |wrong| wrong.expired_used)),
        Property::always(NOT_STRANDED, |model: &Explored, it| {
            fair::gets_everywhere(&model.scenario, it)
        }),
        Property::always(ONE_ANSWER, |_, it| never(it, |wrong| wrong.answered_twice)),
        Property::always(ENDED, |_, it| never(it, |wrong| wrong.claimed_unready)),
        Property::always(FENCED, |_, it| never(it, |wrong| wrong.late_owner_wrote)),
        Property::always(RENEWED, |_, it| never(it, |wrong| wrong.renewal_lost)),
        Property::always(NOT_ACCUSED, |_, it| never(it, |wrong| wrong.falsely_accused)),
        Property::always(RUN_OVER, |_, it| never(it, |wrong| wrong.claimed_after_end)),
        Property::always(NOT_FORGED, |_, it| never(it, |wrong| wrong.forgery_counted)),
    ];
    if !explored.scenario.late_owners_act || explored.until == Some(ONE_EFFECT) {
        all.push(Property::always(ONE_EFFECT, |_, it| never(it, |wrong| wrong.acted_twice)));
    }
    all
}

fn never(system: &System, is_wrong: fn(&Wrong) -> bool) -> bool {
    !system.witnesses.iter().any(|witness| is_wrong(&witness.wrong))
}
