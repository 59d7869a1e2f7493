//! Whether a call may run: decided from what is known of it, without a clock and without I/O.

use super::keeping::OnNoApprover;

/// What is known of a call when it is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    /// Its tool wants a person's word.
    pub(crate) asks: bool,
    /// A person approved exactly this call.
    pub(crate) is_decided: bool,
    /// A person approved calls like it.
    pub(crate) is_granted: bool,
    /// A person said no to the same call in this run.
    pub(crate) was_denied: bool,
    /// It holds secrets, and there is no key to keep them with.
    pub(crate) cannot_be_kept: bool,
    /// What to do where nobody can be asked; nothing where somebody can.
    pub(crate) on_nobody: Option<OnNoApprover>,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Allow,
    Ask,
    Refuse(Refusal),
    Fail,
}

/// Why a call is refused without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    DeniedBefore,
    SecretCannotWait,
    NobodyToAsk,
}

pub(crate) fn judge(case: Case) -> Judgement {
    if !case.asks || case.is_decided {
        return Judgement::Allow;
    }
    if case.was_denied {
        return Judgement::Refuse(Refusal::DeniedBefore);
    }
    if case.is_granted {
        return Judgement::Allow;
    }
    match case.on_nobody {
        Some(OnNoApprover::Deny) => return Judgement::Refuse(Refusal::NobodyToAsk),
        Some(OnNoApprover::Fail) => return Judgement::Fail,
        Some(OnNoApprover::Park) | None => {}
    }
    if case.cannot_be_kept {
        return Judgement::Refuse(Refusal::SecretCannotWait);
    }
    Judgement::Ask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every case there is.
    fn cases() -> impl Iterator<Item = Case> {
        let nobody =
            [None, Some(OnNoApprover::Deny), Some(OnNoApprover::Park), Some(OnNoApprover::Fail)];
        (0..32).flat_map(move |bits: u8| {
            nobody.map(|on_nobody| Case {
                asks: bits & 1 != 0,
                is_decided: bits & 2 != 0,
                is_granted: bits & 4 != 0,
                was_denied: bits & 8 != 0,
                cannot_be_kept: bits & 16 != 0,
                on_nobody,
            })
        })
    }

    #[test]
    fn what_asks_runs_only_by_a_decision_or_a_grant() {
        for case in cases().filter(|case| case.asks && !case.is_decided && !case.is_granted) {
            assert_ne!(judge(case), Judgement::Allow, "{case:?}");
        }
    }

    #[test]
    fn what_nobody_has_to_decide_runs() {
        for case in cases().filter(|case| !case.asks) {
            assert_eq!(judge(case), Judgement::Allow, "{case:?}");
        }
    }

    #[test]
    fn a_denial_holds_against_a_grant_and_asks_nobody_again() {
        for case in cases().filter(|case| case.asks && case.was_denied && !case.is_decided) {
            assert_eq!(judge(case), Judgement::Refuse(Refusal::DeniedBefore), "{case:?}");
        }
    }

    #[test]
    fn a_secret_without_a_key_never_waits() {
        for case in cases().filter(|case| case.cannot_be_kept) {
            assert_ne!(judge(case), Judgement::Ask, "{case:?}");
        }
    }
}
