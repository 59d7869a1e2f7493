//! Class by effect, attempt by attempt.

use std::fmt::Write as _;
use std::time::Duration;

use insta::assert_snapshot;
use proptest::prelude::*;
use toolwright::journal::{Failure, State, Transition};
use toolwright::retry::{Jitter, RetryPolicy, Stop};
use toolwright::unstable::journal::next;
use toolwright::{Effect, ErrorClass, Retry};

const EFFECTS: [Effect; 4] = [Effect::Read, Effect::Idempotent, Effect::Keyed, Effect::Once];

fn classes() -> [ErrorClass; 7] {
    [
        ErrorClass::NotStarted { retry_after: None },
        ErrorClass::NotStarted { retry_after: Some(Duration::from_secs(60)) },
        ErrorClass::Transient,
        ErrorClass::Invalid,
        ErrorClass::Final,
        ErrorClass::Cancelled,
        ErrorClass::Unknown,
    ]
}

#[test]
fn the_table_is_reviewed_as_code() {
    let policy = RetryPolicy::TOOL.jitter(Jitter::None);
    let mut table = String::new();
    for class in classes() {
        for effect in EFFECTS {
            let shown = (1..=3).map(|attempt| match policy.next(attempt, class, effect, 0) {
                Ok(delay) => format!("{delay:?}"),
                Err(stop) => stop.to_string(),
            });
            let (class, effect) = (format!("{class:?}"), format!("{effect:?}").to_lowercase());
            let _ = writeln!(
                table,
                "{class:<40} {effect:<11} {}",
                shown.collect::<Vec<_>>().join(" | ")
            );
        }
    }
    assert_snapshot!(table);
}

#[test]
fn the_presets_are_reviewed_as_code() {
    let presets = [
        ("tool", RetryPolicy::TOOL),
        ("network", RetryPolicy::NETWORK),
        ("file", RetryPolicy::FILE),
        ("none", RetryPolicy::NONE),
    ];
    let mut table = String::new();
    for (name, policy) in presets {
        let _ = writeln!(table, "{name}: {policy:?}");
    }
    assert_snapshot!(table);
    assert_eq!(RetryPolicy::default(), RetryPolicy::TOOL);
}

#[test]
fn what_is_set_is_what_holds() {
    let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    let policy = RetryPolicy::NETWORK.attempts(7).multiplier(3).jitter(Jitter::None);
    let policy = policy.delay(minute).max_delay(second * 90);
    let set = (policy.attempts, policy.delay, policy.multiplier, policy.max_delay, policy.jitter);
    assert_eq!(set, (7, minute, 3, second * 90, Jitter::None));
}

#[test]
fn what_a_tool_says_comes_first_and_its_delay_is_not_cut_short_by_others() {
    let minute = Duration::from_secs(60);
    let own = Retry { attempts: Some(7), delay: Some(minute), max_delay: None };
    let policy = RetryPolicy::TOOL.overridden_by(own);
    assert_eq!((policy.attempts, policy.longest(1), policy.longest(2)), (7, minute, minute));
    let shorter = Retry { max_delay: Some(Duration::from_millis(10)), ..Retry::default() };
    assert_eq!(RetryPolicy::TOOL.overridden_by(shorter).longest(1), Duration::from_millis(10));
    assert_eq!(RetryPolicy::TOOL.overridden_by(Retry::default()), RetryPolicy::TOOL);
}

#[test]
fn full_jitter_takes_as_much_of_the_delay_as_the_number_is_of_all_numbers() {
    let delay = |random| RetryPolicy::TOOL.next(1, ErrorClass::Transient, Effect::Read, random);
    assert_eq!(delay(0), Ok(Duration::ZERO));
    assert_eq!(delay(1 << 62), Ok(Duration::from_millis(125)));
    assert_eq!(delay(3 << 62), Ok(Duration::from_millis(375)));
    assert_eq!(delay(u64::MAX), Ok(Duration::from_nanos(499_999_999)));
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (0_u64..100_000).prop_map(Duration::from_millis),
        any::<(u64, u32)>()
            .prop_map(|(seconds, nanos)| Duration::new(seconds, nanos % 1_000_000_000)),
        Just(Duration::MAX),
    ]
}

fn policy() -> impl Strategy<Value = RetryPolicy> {
    let count = || prop_oneof![1_u32..6, any::<u32>().prop_map(|it| it.max(1)), Just(u32::MAX)];
    (count(), duration(), count(), duration(), any::<bool>()).prop_map(
        |(attempts, delay, multiplier, max_delay, is_full)| {
            RetryPolicy::TOOL
                .attempts(attempts)
                .delay(delay)
                .multiplier(multiplier)
                .max_delay(max_delay)
                .jitter(if is_full { Jitter::Full } else { Jitter::None })
        },
    )
}

fn class() -> impl Strategy<Value = ErrorClass> {
    prop_oneof![
        prop::option::of(duration()).prop_map(|retry_after| ErrorClass::NotStarted { retry_after }),
        prop::sample::select(classes().to_vec()),
    ]
}

fn failed(class: ErrorClass, effect: Effect, exhausted: bool) -> State {
    let failure = Failure::from(class);
    next(State::Running, Transition::Errored { failure, effect, exhausted })
        .expect("what runs may fail")
}

proptest! {
    #[test]
    fn a_delay_is_never_longer_than_it_may_be_nor_shorter_than_the_other_side_asks(
        policy in policy(), attempt in 1_u32.., class in class(), random in any::<u64>(),
    ) {
        let after = match class {
            ErrorClass::NotStarted { retry_after } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        for effect in EFFECTS {
            if let Ok(delay) = policy.next(attempt, class, effect, random) {
                prop_assert!(delay <= policy.max_delay.max(after));
                prop_assert!(delay <= policy.longest(attempt).max(after));
                prop_assert!(delay >= after);
            }
        }
    }

    #[test]
    fn each_bound_is_at_least_the_one_before(policy in policy(), attempt in 1_u32..u32::MAX) {
        prop_assert!(policy.longest(attempt) <= policy.longest(attempt + 1));
    }

    #[test]
    fn a_higher_number_never_gives_a_shorter_delay(
        policy in policy(), attempt in 1_u32..20, low in any::<u64>(), high in any::<u64>(),
    ) {
        let delay = |random| policy.next(attempt, ErrorClass::Transient, Effect::Read, random);
        if let (Ok(shorter), Ok(longer)) = (delay(low.min(high)), delay(low.max(high))) {
            prop_assert!(shorter <= longer);
        }
    }

    /// The policy and the machine of calls are of one mind, so that no record is `ready` that nobody may repeat.
    #[test]
    fn a_call_is_tried_again_only_where_the_machine_lets_it(
        policy in policy(), attempt in 1_u32.., class in class(), random in any::<u64>(),
    ) {
        for effect in EFFECTS {
            let again = policy.next(attempt, class, effect, random);
            let lets = failed(class, effect, false) == State::Ready;
            prop_assert_eq!(again.is_ok(), lets && attempt < policy.attempts);
            prop_assert_eq!(again == Err(Stop::Exhausted), lets && attempt >= policy.attempts);
            prop_assert_ne!(failed(class, effect, again.is_err()) == State::Ready, again.is_err());
        }
    }
}
