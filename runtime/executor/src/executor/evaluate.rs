//! Whether a call may run: decided from what is known of it, without a clock and without I/O.

use super::journal_config::OnNoApprover;

/// What is known of a call when it is evaluated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    /// What policy and the tool want.
    pub(crate) wanted: Wanted,
    /// A person approved exactly this call.
    pub(crate) is_decided: bool,
    /// A person approved calls like it.
    pub(crate) is_granted: bool,
    /// A person said no to the same call in this run.
    pub(crate) was_denied: bool,
    /// It holds secrets, and there is no key to keep them with.
    pub(crate) cannot_be_stored: bool,
    /// What to do where nobody can be asked; nothing where somebody can.
    pub(crate) without_approver: Option<OnNoApprover>,
}

/// What policy and the tool want before a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Nothing,
    /// A person's decision about this call, or a grant.
    DecisionOrGrant,
    /// A person's decision about this call; a grant does not count.
    Decision,
    /// It is put into a plan.
    Plan,
    /// It must not run.
    Never,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    Allow,
    Ask,
    Queue,
    Deny,
    Refuse(Refusal),
    Fail,
}

/// Why a call is refused without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    DeniedBefore,
    SecretCannotWait,
    NoApprover,
}

pub(crate) fn evaluate(case: Case) -> Evaluation {
    let grants_count = match case.wanted {
        // A later no of the policy beats an earlier yes of a person.
        Wanted::Never => return Evaluation::Deny,
        Wanted::Nothing => return Evaluation::Allow,
        Wanted::Plan if case.was_denied => return Evaluation::Refuse(Refusal::DeniedBefore),
        Wanted::Plan if case.cannot_be_stored => {
            return Evaluation::Refuse(Refusal::SecretCannotWait);
        }
        Wanted::Plan => return Evaluation::Queue,
        Wanted::DecisionOrGrant => true,
        Wanted::Decision => false,
    };
    if case.is_decided {
        return Evaluation::Allow;
    }
    if case.was_denied {
        return Evaluation::Refuse(Refusal::DeniedBefore);
    }
    if grants_count && case.is_granted {
        return Evaluation::Allow;
    }
    match case.without_approver {
        Some(OnNoApprover::Deny) => return Evaluation::Refuse(Refusal::NoApprover),
        Some(OnNoApprover::Fail) => return Evaluation::Fail,
        Some(OnNoApprover::Park) | None => {}
    }
    if case.cannot_be_stored {
        return Evaluation::Refuse(Refusal::SecretCannotWait);
    }
    Evaluation::Ask
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: [Wanted; 5] =
        [Wanted::Nothing, Wanted::DecisionOrGrant, Wanted::Decision, Wanted::Plan, Wanted::Never];

    /// Every case there is.
    fn cases() -> impl Iterator<Item = Case> {
        let nobody =
            [None, Some(OnNoApprover::Deny), Some(OnNoApprover::Park), Some(OnNoApprover::Fail)];
        (0..16).flat_map(move |bits: u8| {
            nobody.into_iter().flat_map(move |without_approver| {
                WANTED.map(|wanted| Case {
                    wanted,
                    is_decided: bits & 1 != 0,
                    is_granted: bits & 2 != 0,
                    was_denied: bits & 4 != 0,
                    cannot_be_stored: bits & 8 != 0,
                    without_approver,
                })
            })
        })
    }

    fn asks(case: &Case) -> bool {
        matches!(case.wanted, Wanted::DecisionOrGrant | Wanted::Decision)
    }

    #[test]
    fn what_asks_runs_only_by_a_decision_or_a_grant() {
        for case in cases().filter(|case| asks(case) && !case.is_decided && !case.is_granted) {
            assert_ne!(evaluate(case), Evaluation::Allow, "{case:?}");
        }
    }

    #[test]
    fn what_is_asked_about_each_time_runs_by_no_grant() {
        for case in cases().filter(|it| it.wanted == Wanted::Decision && !it.is_decided) {
            assert_ne!(evaluate(case), Evaluation::Allow, "{case:?}");
        }
    }

    #[test]
    fn what_must_not_run_does_not_run_whatever_a_person_said() {
        for case in cases().filter(|case| case.wanted == Wanted::Never) {
            assert_eq!(evaluate(case), Evaluation::Deny, "{case:?}");
        }
    }

    #[test]
    fn what_is_planned_waits_unless_it_was_denied_or_cannot_be_kept() {
        for case in cases().filter(|case| case.wanted == Wanted::Plan) {
            let expected = match (case.was_denied, case.cannot_be_stored) {
                (true, _) => Evaluation::Refuse(Refusal::DeniedBefore),
                (false, true) => Evaluation::Refuse(Refusal::SecretCannotWait),
                (false, false) => Evaluation::Queue,
            };
            assert_eq!(evaluate(case), expected, "{case:?}");
        }
    }

    #[test]
    fn what_nobody_has_to_decide_runs() {
        for case in cases().filter(|case| case.wanted == Wanted::Nothing) {
            assert_eq!(evaluate(case), Evaluation::Allow, "{case:?}");
        }
    }

    #[test]
    fn a_denial_holds_against_a_grant_and_asks_nobody_again() {
        for case in cases().filter(|case| asks(case) && case.was_denied && !case.is_decided) {
            assert_eq!(evaluate(case), Evaluation::Refuse(Refusal::DeniedBefore), "{case:?}");
        }
    }

    #[test]
    fn a_secret_without_a_key_never_waits() {
        for case in cases().filter(|case| case.cannot_be_stored) {
            assert!(!matches!(evaluate(case), Evaluation::Ask | Evaluation::Queue), "{case:?}");
        }
    }
}
