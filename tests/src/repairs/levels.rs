//! How far input is mended: by the executor, by the tool, and never behind the back of a person who is asked.

use toolwright::{
    Call, Danger, Executor, ExecutorBuilder, Handle, Registration, Registry, Repair, tool,
};

use crate::support::{builder, kind};

macro_rules! sizes {
    ($($name:ident, $options:tt;)*) => {
        $(sizes!(@one $name $options);)*
    };
    (@one $name:ident ($($options:tt)*)) => {
        /// Sets a size.
        #[tool($($options)*)]
        async fn $name(
            /// How large.
            size: u32,
        ) -> u32 {
            size
        }
    };
}

sizes! {
    size_as_the_executor_says, ();
    size_off, (repair = off);
    size_standard, (repair = standard);
    size_lenient, (repair = lenient);
    size_safe, (danger = safe);
    size_of_read, (effect = read);
    size_dangerous, (danger = dangerous, repair = lenient);
    size_critical, (danger = critical, repair = lenient);
}

/// Sets a size, and computes a danger that asks no person.
#[tool(repair = lenient, danger = if size > 9 { Danger::Moderate } else { Danger::Safe })]
async fn size_computed(
    /// How large.
    size: u32,
) -> u32 {
    size
}

/// Sets a size; a large one is dangerous.
#[tool(danger = if size > 9 { Danger::Dangerous } else { Danger::Safe })]
async fn size_judged(
    /// How large.
    size: u32,
) -> u32 {
    size
}

const AS_IT_IS: &str = r#"{"size":7}"#;
/// What costs nothing to mend.
const LOSSLESS: &str = r#"{"size":"7"}"#;
/// What takes a guess.
const GUESSED: &str = r#"{"siez":"7"}"#;
/// What may have been cut off.
const OPEN: &str = r#"{"size":"7""#;

async fn ends(build: impl Fn(ExecutorBuilder) -> ExecutorBuilder, tool: Handle) -> [String; 3] {
    let executor = build(builder([tool])).build().unwrap();
    let name = executor.registry().definitions().next().unwrap().name.clone();
    let mut ends = Vec::new();
    for arguments in [AS_IT_IS, LOSSLESS, GUESSED] {
        ends.push(kind(&executor.call(&Call::new(name.as_str(), arguments)).await));
    }
    ends.try_into().unwrap()
}

#[tokio::test]
async fn the_executor_says_how_far_and_the_tools_own_word_wins() {
    let off = ["ok", "invalid_input", "invalid_input"];
    let standard = ["ok", "ok", "invalid_input"];
    let lenient = ["ok", "ok", "ok"];
    for (level, expected) in [
        (None, standard),
        (Some(Repair::Off), off),
        (Some(Repair::Standard), standard),
        (Some(Repair::Lenient), lenient),
    ] {
        let build = |builder: ExecutorBuilder| match level {
            Some(level) => builder.repair(level),
            None => builder,
        };
        assert_eq!(ends(build, SIZE_AS_THE_EXECUTOR_SAYS).await, expected, "{level:?}");
        assert_eq!(ends(build, SIZE_OFF).await, off, "{level:?}");
        assert_eq!(ends(build, SIZE_STANDARD).await, standard, "{level:?}");
        assert_eq!(ends(build, SIZE_LENIENT).await, lenient, "{level:?}");
    }
}

#[tokio::test]
async fn a_tool_above_moderate_that_was_mended_by_a_guess_asks_a_person() {
    let executor = builder([SIZE_DANGEROUS, SIZE_CRITICAL, SIZE_LENIENT]).build().unwrap();
    for name in ["size_dangerous", "size_critical"] {
        let answer = executor.call(&Call::new(name, GUESSED)).await;
        assert_eq!(kind(&answer), "approval_required", "{name}");
        assert!(answer.text().contains("its input was repaired leniently"), "{}", answer.text());
        let facts = executor.examine(&Call::new(name, GUESSED)).unwrap();
        assert!(facts.approval.is_some() && facts.repairs().unwrap().is_lenient());
        for sound in [AS_IT_IS, LOSSLESS] {
            assert_eq!(kind(&executor.call(&Call::new(name, sound)).await), "ok", "{name} {sound}");
        }
    }
    let answer = executor.call(&Call::new("size_lenient", GUESSED)).await;
    assert_eq!(answer.text(), "7");
    assert!(answer.repairs().unwrap().is_lenient());
}

#[tokio::test]
async fn a_guess_asks_a_person_if_the_application_raised_a_computed_danger() {
    let raised = Registration::from(SIZE_COMPUTED).danger_at_least(Danger::Critical);
    let registry = Registry::of([raised]).unwrap();
    let executor = Executor::builder(registry).unrestricted().build().unwrap();
    let answer = executor.call(&Call::new("size_computed", GUESSED)).await;
    assert_eq!(kind(&answer), "approval_required");
    assert!(answer.text().contains("its input was repaired leniently"), "{}", answer.text());
    assert!(executor.examine(&Call::new("size_computed", GUESSED)).unwrap().approval.is_some());
    for sound in [AS_IT_IS, LOSSLESS] {
        assert_eq!(kind(&executor.call(&Call::new("size_computed", sound)).await), "ok", "{sound}");
    }
}

#[tokio::test]
async fn a_danger_that_is_judged_by_the_input_is_judged_by_the_mended_one() {
    let executor = builder([SIZE_JUDGED]).repair(Repair::Lenient).build().unwrap();
    let call = |arguments: &'static str| Call::new("size_judged", arguments);
    assert_eq!(executor.examine(&call(r#"{"size":"10"}"#)).unwrap().danger, Danger::Dangerous);
    assert_eq!(kind(&executor.call(&call(r#"{"siez":"10"}"#)).await), "approval_required");
    assert_eq!(kind(&executor.call(&call(r#"{"siez":"9"}"#)).await), "ok");
}

#[tokio::test]
async fn brackets_are_closed_for_safe_tools_alone() {
    let all = [SIZE_SAFE, SIZE_OF_READ, SIZE_AS_THE_EXECUTOR_SAYS, SIZE_DANGEROUS, SIZE_JUDGED];
    let executor = builder(all).repair(Repair::Lenient).build().unwrap();
    for (name, expected) in [
        ("size_safe", "ok"),
        ("size_of_read", "ok"),
        ("size_as_the_executor_says", "invalid_input"),
        ("size_dangerous", "invalid_input"),
        // What would be safe is known only once the input is read.
        ("size_judged", "invalid_input"),
    ] {
        let answer = executor.call(&Call::new(name, OPEN)).await;
        assert_eq!(kind(&answer), expected, "{name}");
        assert_eq!(answer.text().contains("as if it was cut off"), answer.is_error(), "{name}");
    }
}
