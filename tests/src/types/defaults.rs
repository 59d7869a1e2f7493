//! Defaults of the attribute: one that is nothing, one that is another each time, and one that JSON cannot write.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use toolwright::unstable::arguments::FinalArguments;
use toolwright::{Call, Handle, Registry, RegistryProblem, tool};

use crate::support::strict;

/// Takes what may be left out.
#[tool(effect = read)]
async fn take_nothing_at_all(
    /// A text.
    #[arg(default)]
    text: Option<String>,
    /// A number.
    #[arg(default = None)]
    number: Option<u8>,
    /// Any value.
    #[arg(default = None)]
    any: Option<Value>,
    /// A text or `null`.
    #[arg(default)]
    double: Option<Option<String>>,
    /// A number that is there.
    #[arg(default = Some(3))]
    three: Option<u8>,
) -> String {
    format!("{text:?} {number:?} {any:?} {double:?} {three:?}")
}

#[tokio::test]
async fn a_default_of_nothing_means_the_same_as_none() {
    let executor = strict([TAKE_NOTHING_AT_ALL]);
    let definition = executor.registry().get("take_nothing_at_all").unwrap();
    assert!(definition.parameters.iter().all(|it| !it.required));
    for name in ["text", "number", "any", "double"] {
        assert_eq!(definition.input_schema["properties"][name].get("default"), None, "{name}");
    }
    assert_eq!(definition.input_schema["properties"]["three"]["default"], 3);
    let settled = FinalArguments::of(&definition, "{}").unwrap();
    assert_eq!(settled.arguments(), r#"{"three":3}"#);
    for arguments in ["{}", settled.arguments()] {
        let answer = executor.call(&Call::new("take_nothing_at_all", arguments)).await;
        assert_eq!(answer.text(), "None None None None Some(3)");
    }
}

fn ticket() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Takes a number.
#[tool]
async fn take_a_ticket(
    /// Which.
    #[arg(default = ticket())]
    number: u32,
) {
    let _ = number;
}

/// Takes a number.
#[tool]
async fn show_a_ticket(
    /// Which.
    #[arg(example = vec![ticket()])]
    numbers: Vec<u32>,
) {
    let _ = numbers;
}

/// Takes numbers.
#[tool]
async fn take_wide_numbers(
    /// Which.
    #[arg(default = Some(u128::MAX))]
    number: Option<u128>,
) {
    let _ = number;
}

/// Those that make no registry.
pub const WRONG: [Handle; 3] = [TAKE_A_TICKET, SHOW_A_TICKET, TAKE_WIDE_NUMBERS];

fn problem(handle: Handle) -> (String, String) {
    let error = Registry::of([handle]).unwrap_err();
    match error.problems.as_slice() {
        [RegistryProblem::Schema { problem, .. }] => {
            (problem.pointer.clone(), problem.message.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_that_is_another_each_time_makes_no_registry() {
    for (handle, place, what) in [
        (TAKE_A_TICKET, "/properties/number", "the default is another each time it is made"),
        (SHOW_A_TICKET, "/properties/numbers", "the example is another each time it is made"),
    ] {
        let (pointer, message) = problem(handle);
        assert_eq!(pointer, place);
        assert!(message.starts_with(what), "{message}");
        assert!(message.contains("write a constant value"), "{message}");
    }
}

#[test]
fn a_default_that_json_cannot_write_makes_no_registry() {
    let (pointer, message) = problem(TAKE_WIDE_NUMBERS);
    assert_eq!(pointer, "/properties/number");
    assert!(message.starts_with("the default cannot be written as JSON: 3402823"), "{message}");
    assert!(message.contains("has more than 64 bits"), "{message}");
}

/// Takes words.
#[tool(effect = read)]
async fn take_hashed_words(
    /// Which.
    #[arg(default = ["b", "d", "a", "c"].map(str::to_owned).into())]
    words: HashSet<String>,
) -> usize {
    words.len()
}

#[test]
fn a_default_that_is_a_hashed_set_is_shown_in_one_order() {
    for _ in 0..8 {
        let registry = Registry::of([TAKE_HASHED_WORDS]).unwrap();
        let definition = registry.get("take_hashed_words").unwrap();
        let shown = &definition.input_schema["properties"]["words"]["default"];
        assert_eq!(*shown, json!(["a", "b", "c", "d"]));
    }
}
