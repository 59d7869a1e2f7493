//! Decides whether a call may run: one gate for calls with and without a journal.

use crate::call::{OnNoApprover, Refusal};
use toolwright_policy::policy::PolicyDecision;

/// The reason why a call is put into a plan, if the caller gives no reason.
pub(crate) const PLANNED: &str = "what changes something is planned first";

/// The facts besides the policy's decision by which the gate decides on a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownFacts {
    /// Whether a person has approved exactly this call.
    pub(crate) is_decided: bool,
    /// Whether a person rejected the same call in this run; `None` if this was not read yet.
    pub(crate) denied_before: Option<bool>,
    /// Whether a grant covers the call; `None` if this was not read yet.
    pub(crate) is_granted: Option<bool>,
    /// Whether a person other than the call's user has to decide, but the call has no user, so that no decision could
    /// be valid.
    pub(crate) lacks_user: bool,
    /// Whether the call contains secrets that cannot be encrypted because there is no key.
    pub(crate) cannot_be_stored: bool,
    /// What the executor does with a call that needs approval if no approver can be asked; `None` if one can be asked.
    pub(crate) no_approver: Option<OnNoApprover>,
    /// Whether the call can wait in a journal.
    pub(crate) has_journal: bool,
}

impl KnownFacts {
    /// The facts of a call without a journal, for which no approver can be asked.
    pub(super) const NO_JOURNAL: Self = Self {
        is_decided: false,
        denied_before: Some(false),
        is_granted: Some(false),
        lacks_user: false,
        cannot_be_stored: false,
        no_approver: Some(OnNoApprover::Deny),
        has_journal: false,
    };
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gate {
    Allow,
    /// A person is asked to decide, and reads this reason.
    Ask(String),
    /// The call is put into a plan.
    Plan,
    Refuse(Refusal),
    /// The host application has to act: the call needs approval for this reason, and no approver can be asked.
    Fail(String),
}

/// A fact that the journal has, and that has to be read before the gate can decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownFact {
    /// Whether a person has rejected the same call before.
    Denials,
    /// Whether a grant covers the call.
    Grants,
}

/// Decides whether a call may run, or returns the fact that has to be read first.
pub(crate) fn gate(policy: &PolicyDecision, known: KnownFacts) -> Result<Gate, UnknownFact> {
    let (reasons, grants_count) = match policy {
        // A denial of the policy overrides an earlier approval.
        PolicyDecision::Deny { reason } => {
            return Ok(Gate::Refuse(Refusal::Denied(reason.clone())));
        }
        PolicyDecision::Allow => return Ok(Gate::Allow),
        PolicyDecision::Queue if !known.has_journal => return Ok(Gate::Refuse(Refusal::NoPlan)),
        PolicyDecision::Queue if known.denied_before.ok_or(UnknownFact::Denials)? => {
            return Ok(Gate::Refuse(Refusal::DeniedBefore));
        }
        PolicyDecision::Queue if known.lacks_user => {
            return Ok(Gate::Refuse(Refusal::NoUser(PLANNED.to_owned())));
        }
        PolicyDecision::Queue if known.cannot_be_stored => {
            return Ok(Gate::Refuse(Refusal::SecretCannotWait(PLANNED.to_owned())));
        }
        PolicyDecision::Queue => return Ok(Gate::Plan),
        PolicyDecision::Ask { reasons, grants_count } => (reasons, *grants_count),
    };
    if known.is_decided {
        return Ok(Gate::Allow);
    }
    if known.denied_before.ok_or(UnknownFact::Denials)? {
        return Ok(Gate::Refuse(Refusal::DeniedBefore));
    }
    if grants_count && known.is_granted.ok_or(UnknownFact::Grants)? {
        return Ok(Gate::Allow);
    }
    let reason = reasons.join("; ");
    Ok(match known.no_approver {
        Some(OnNoApprover::Deny) => Gate::Refuse(Refusal::NoApprover(reason)),
        _ if known.lacks_user => Gate::Refuse(Refusal::NoUser(reason)),
        Some(OnNoApprover::Fail) => Gate::Fail(reason),
        Some(OnNoApprover::Park) | None if known.cannot_be_stored => {
            Gate::Refuse(Refusal::SecretCannotWait(reason))
        }
        Some(OnNoApprover::Park) | None => Gate::Ask(reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policies() -> [PolicyDecision; 5] {
        let ask = |grants_count| PolicyDecision::Ask { reasons: vec!["r".into()], grants_count };
        let deny = PolicyDecision::Deny { reason: "d".into() };
        [PolicyDecision::Allow, ask(true), ask(false), PolicyDecision::Queue, deny]
    }

    /// Every case there is.
    fn cases() -> impl Iterator<Item = (PolicyDecision, KnownFacts)> {
        let nobody =
            [None, Some(OnNoApprover::Deny), Some(OnNoApprover::Park), Some(OnNoApprover::Fail)];
        (0..32).flat_map(move |bits: u8| {
            nobody.into_iter().flat_map(move |no_approver| {
                policies().map(|policy| {
                    let known = KnownFacts {
                        is_decided: bits & 1 != 0,
                        is_granted: Some(bits & 2 != 0),
                        denied_before: Some(bits & 4 != 0),
                        cannot_be_stored: bits & 8 != 0,
                        lacks_user: bits & 16 != 0,
                        no_approver,
                        has_journal: true,
                    };
                    (policy, known)
                })
            })
        })
    }

    fn asks(policy: &PolicyDecision) -> bool {
        matches!(policy, PolicyDecision::Ask { .. })
    }

    fn of(case: &(PolicyDecision, KnownFacts)) -> Gate {
        gate(&case.0, case.1).expect("everything was read")
    }

    #[test]
    fn what_asks_runs_only_by_a_decision_or_a_grant() {
        let undecided = |known: &KnownFacts| !known.is_decided && known.is_granted == Some(false);
        for case in cases().filter(|case| asks(&case.0) && undecided(&case.1)) {
            assert_ne!(of(&case), Gate::Allow, "{case:?}");
        }
    }

    #[test]
    fn what_is_asked_about_each_time_runs_by_no_grant() {
        for case in cases() {
            if let (PolicyDecision::Ask { grants_count: false, .. }, false) =
                (&case.0, case.1.is_decided)
            {
                assert_ne!(of(&case), Gate::Allow, "{case:?}");
            }
        }
    }

    #[test]
    fn what_must_not_run_does_not_run_whatever_a_person_said() {
        for case in cases().filter(|case| matches!(case.0, PolicyDecision::Deny { .. })) {
            assert_eq!(of(&case), Gate::Refuse(Refusal::Denied("d".into())), "{case:?}");
        }
    }

    #[test]
    fn what_is_planned_waits_unless_it_was_denied_or_cannot_be_accepted_or_stored() {
        for case in cases().filter(|case| case.0 == PolicyDecision::Queue) {
            let KnownFacts { denied_before, lacks_user, cannot_be_stored, .. } = case.1;
            let expected = match (denied_before, lacks_user, cannot_be_stored) {
                (Some(true), ..) => Gate::Refuse(Refusal::DeniedBefore),
                (_, true, _) => Gate::Refuse(Refusal::NoUser(PLANNED.to_owned())),
                (_, _, true) => Gate::Refuse(Refusal::SecretCannotWait(PLANNED.to_owned())),
                _ => Gate::Plan,
            };
            assert_eq!(of(&case), expected, "{case:?}");
        }
    }

    #[test]
    fn what_nobody_has_to_decide_runs() {
        for case in cases().filter(|case| case.0 == PolicyDecision::Allow) {
            assert_eq!(of(&case), Gate::Allow, "{case:?}");
        }
    }

    #[test]
    fn a_denial_holds_against_a_grant_and_asks_nobody_again() {
        let denied = |known: &KnownFacts| known.denied_before == Some(true) && !known.is_decided;
        for case in cases().filter(|case| asks(&case.0) && denied(&case.1)) {
            assert_eq!(of(&case), Gate::Refuse(Refusal::DeniedBefore), "{case:?}");
        }
    }

    #[test]
    fn a_call_that_no_decision_could_count_for_never_waits() {
        for case in cases().filter(|case| case.1.lacks_user) {
            assert!(!matches!(of(&case), Gate::Ask(_) | Gate::Plan), "{case:?}");
        }
    }

    #[test]
    fn a_secret_without_a_key_never_waits() {
        for case in cases().filter(|case| case.1.cannot_be_stored) {
            assert!(!matches!(of(&case), Gate::Ask(_) | Gate::Plan), "{case:?}");
        }
    }

    #[test]
    fn a_call_without_a_journal_runs_or_is_refused() {
        for policy in policies() {
            let gate = gate(&policy, KnownFacts::NO_JOURNAL).expect("nothing is read");
            assert!(matches!(gate, Gate::Allow | Gate::Refuse(_)), "{policy:?}: {gate:?}");
        }
    }

    #[test]
    fn what_was_not_read_is_asked_for_and_never_assumed() {
        for (policy, known) in cases() {
            let unread = KnownFacts { denied_before: None, is_granted: None, ..known };
            match gate(&policy, unread) {
                Ok(gate) => assert_eq!(Ok(gate), super::gate(&policy, known), "{policy:?}"),
                Err(need) => assert_eq!(need, UnknownFact::Denials),
            }
        }
    }
}
