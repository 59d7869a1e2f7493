//! Defaults of the attribute.

use serde_json::Value;
use toolwright::arguments::Settled;
use toolwright::{Call, tool};

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
    let settled = Settled::of(&definition, "{}").unwrap();
    assert_eq!(settled.arguments(), r#"{"three":3}"#);
    for arguments in ["{}", settled.arguments()] {
        let answer = executor.call(&Call::new("take_nothing_at_all", arguments)).await;
        assert_eq!(answer.text(), "None None None None Some(3)");
    }
}
