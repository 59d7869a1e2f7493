//! `null` in a property that can be left out: a value where the type itself has one, and otherwise
//! refused, as leaving it out is meant.

use serde_json::{Value, json};
use toolwright::{Call, Executor, Handle, Registry, Repair, data, tool};

#[data]
#[serde(untagged)]
#[derive(Default)]
pub enum Json {
    #[default]
    Null,
    Boolean(bool),
    List(Vec<Json>),
}

#[data]
#[serde(untagged)]
pub enum Switch {
    At(bool),
    Off,
}

fn on() -> Switch {
    Switch::At(true)
}

fn yes() -> Json {
    Json::Boolean(true)
}

#[data]
pub struct Inner {
    size: u8,
}

#[data]
pub struct Outer {
    inner: Option<Inner>,
    #[serde(default = "yes")]
    json: Json,
    #[serde(default = "on")]
    switch: Switch,
    maybe: Option<Json>,
    unit: Option<()>,
    value: Option<Value>,
    text: Option<String>,
}

/// Holds values.
#[tool(effect = read)]
async fn keep_nulls(
    /// The values.
    it: Outer,
) {
    let _ = it;
}

/// Holds values in a list.
#[tool(effect = read)]
async fn keep_nulls_in_a_list(
    /// The values.
    it: Vec<Option<Outer>>,
) {
    let _ = it;
}

/// Holds values as they are.
#[tool(effect = read)]
async fn keep_nulls_at_the_root(#[input] it: Outer) {
    let _ = it;
}

fn executor(handle: Handle) -> Executor {
    let registry = Registry::of([handle]).unwrap();
    Executor::builder(registry).unrestricted().repair(Repair::Off).build().unwrap()
}

#[test]
fn null_is_taken_where_the_type_itself_has_it() {
    let cases = [
        ("inner", false),
        ("json", true),
        ("switch", true),
        ("maybe", true),
        ("value", true),
        ("text", false),
    ];
    for (handle, wrap) in [
        (KEEP_NULLS, (|it| json!({"it": it})) as fn(Value) -> Value),
        (KEEP_NULLS_IN_A_LIST, |it| json!({"it": [it]})),
        (KEEP_NULLS_AT_THE_ROOT, |it| it),
    ] {
        let executor = executor(handle);
        let schema = &executor.registry().get(handle.name()).unwrap().input_schema;
        for (key, is_taken) in cases {
            let input = wrap(json!({key: null}));
            let shown = jsonschema::is_valid(schema, &input);
            let read = executor.examine(&Call::new(handle.name(), input.to_string())).is_ok();
            assert_eq!((shown, read), (is_taken, is_taken), "{} {input}", handle.name());
        }
        for input in [json!({}), json!({"inner": {"size": 1}, "json": [true, null], "unit": null})]
        {
            let input = wrap(input);
            let shown = jsonschema::is_valid(schema, &input);
            let read = executor.examine(&Call::new(handle.name(), input.to_string())).is_ok();
            assert_eq!(shown, read, "{} {input}", handle.name());
        }
    }
}
