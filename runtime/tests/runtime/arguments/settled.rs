//! The arguments that run.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolwright::unstable::arguments::{ArgumentsError, FinalArguments, canonical};
use toolwright::{
    Call, DynamicTool, Executor, Registration, Registry, RegistryError, Repair, data, tool,
};

/// Where a copy goes.
#[data]
pub struct Target {
    folder: String,
    #[serde(default = "two")]
    depth: u8,
    #[serde(default)]
    flags: Vec<Flag>,
    note: Option<String>,
}

fn two() -> u8 {
    2
}

/// A flag.
#[data]
pub struct Flag {
    name: String,
    #[serde(default = "yes")]
    on: bool,
}

fn yes() -> bool {
    true
}

/// A tree.
#[data]
pub struct Tree {
    name: String,
    #[serde(default)]
    branches: Vec<Tree>,
    #[serde(default = "two")]
    height: u8,
}

/// One of two.
#[data]
#[serde(tag = "kind")]
pub enum Choice {
    Short,
    Long {
        #[serde(default = "two")]
        depth: u8,
    },
}

/// All of it in one.
#[data]
pub struct Whole {
    target: Target,
    #[serde(default)]
    by_name: BTreeMap<String, Flag>,
    #[serde(default = "flag")]
    flag: Flag,
    pair: Option<(u8, Flag)>,
}

fn flag() -> Flag {
    Flag { name: "given".to_owned(), on: false }
}

/// Takes what is big.
#[tool(effect = read)]
async fn scalars(
    /// One.
    big: i128,
    /// Two.
    float: f64,
    /// Three.
    any: Value,
    /// Four.
    #[arg(default = 9007199254740993_u64)]
    large: u64,
    /// Five.
    #[arg(default = "x".to_owned())]
    text: String,
    /// Six.
    #[arg(default = -1.5)]
    ratio: f64,
    /// Seven.
    none: Option<u8>,
) -> String {
    json!([big.to_string(), float, any, large, text, ratio, none]).to_string()
}

/// Takes structures.
#[tool(effect = read)]
async fn structures(
    /// One.
    target: Target,
    /// Two.
    tree: Option<Tree>,
    /// Three.
    #[arg(default = vec![flag()])]
    flags: Vec<Flag>,
    /// Four.
    #[arg(default)]
    by_name: BTreeMap<String, Target>,
    /// Five.
    #[arg(default = Choice::Short)]
    choice: Choice,
) -> String {
    json!([target, tree, flags, by_name, choice]).to_string()
}

/// Takes all.
#[tool(effect = read)]
async fn whole(#[input] whole: Whole) -> Whole {
    whole
}

/// Takes nothing.
#[tool(effect = read)]
async fn nothing() -> &'static str {
    "nothing"
}

fn executor() -> Executor {
    let registry = Registry::of([SCALARS, STRUCTURES, WHOLE, NOTHING]).expect("tools like others");
    Executor::builder(registry)
        .unrestricted()
        .repair(Repair::Off)
        .build()
        .expect("they need nothing")
}

/// What becomes of arguments that the tool takes; checks what holds of all of them.
async fn settled(name: &str, accepted: &str) -> FinalArguments {
    let executor = executor();
    let definition = executor.registry().get(name).expect("a known tool");
    let settled = FinalArguments::of(&definition, accepted).expect("taken by the tool");
    let before = executor.call(&Call::new(name, accepted)).await;
    let after = executor.call(&Call::new(name, settled.arguments())).await;
    assert!(!before.is_error(), "{name} takes {accepted}: {}", before.text());
    assert_eq!(after.text(), before.text(), "{name} reads {}", settled.arguments());
    assert_eq!(
        canonical(settled.arguments()).expect("a settled text is JSON"),
        settled.canonical()
    );
    assert_eq!(
        FinalArguments::of(&definition, settled.arguments()).expect("settled again"),
        settled
    );
    assert_eq!(
        FinalArguments::of(&definition, settled.canonical()).expect("settled again").canonical(),
        settled.canonical()
    );
    assert_eq!(settled.shown(), settled.arguments());
    assert!(!settled.has_secrets());
    settled
}

#[tokio::test]
async fn what_was_sent_keeps_its_spelling_and_defaults_are_filled_in() {
    let sent = r#" {"big" : -170141183460469231731687303715884105728, "any": {"b": 1.50, "a": [ ]}, "float": 20e-1} "#;
    let settled = settled("scalars", sent).await;
    let kept =
        r#"{"big":-170141183460469231731687303715884105728,"any":{"b":1.50,"a":[]},"float":20e-1"#;
    let filled = settled.arguments().strip_prefix(kept).unwrap();
    let filled: Value = serde_json::from_str(&filled.replacen(',', "{", 1)).unwrap();
    assert_eq!(filled, json!({"large": 9_007_199_254_740_993_u64, "text": "x", "ratio": -1.5}));
}

#[tokio::test]
async fn what_is_given_is_not_overwritten() {
    let sent = r#"{"big":1,"float":2,"any":null,"large":3,"text":"","ratio":0,"none":4}"#;
    assert_eq!(settled("scalars", sent).await.arguments(), sent);
    assert_eq!(settled("nothing", "{ }").await.arguments(), "{}");
}

#[tokio::test]
async fn defaults_are_filled_in_along_the_schema() {
    let sent = r#"{
        "target": {"folder": "a", "flags": [{"name": "b"}, {"on": false, "name": "c"}]},
        "tree": {"name": "d", "branches": [{"name": "e", "branches": [{"name": "f", "height": 7}]}]},
        "by_name": {"g": {"folder": "h"}},
        "choice": {"kind": "Long"}
    }"#;
    let settled = settled("structures", sent).await;
    let arguments: Value = serde_json::from_str(settled.arguments()).unwrap();
    assert_eq!(
        arguments,
        json!({
            "target": {
                "folder": "a", "depth": 2,
                "flags": [{"name": "b", "on": true}, {"name": "c", "on": false}],
            },
            "tree": {"name": "d", "height": 2, "branches": [
                {"name": "e", "height": 2, "branches": [{"name": "f", "height": 7, "branches": []}]},
            ]},
            "by_name": {"g": {"folder": "h", "depth": 2, "flags": []}},
            "flags": [{"name": "given", "on": false}],
            // Which of the choices it is, the schema leaves to its reader.
            "choice": {"kind": "Long"},
        })
    );
}

#[tokio::test]
async fn a_type_that_is_the_whole_input_is_filled_in_too() {
    let sent = r#"{"target":{"folder":"a"},"by_name":{"b":{"name":"c"}},"pair":[1,{"name":"d"}]}"#;
    let settled = settled("whole", sent).await;
    let arguments: Value = serde_json::from_str(settled.arguments()).unwrap();
    assert_eq!(
        arguments,
        json!({
            "target": {"folder": "a", "depth": 2, "flags": []},
            "by_name": {"b": {"name": "c", "on": true}},
            "flag": {"name": "given", "on": false},
            "pair": [1, {"name": "d", "on": true}],
        })
    );
}

/// Signs in.
#[tool]
async fn sign_in(
    /// Who.
    #[arg(alias = "user")]
    name: String,
    /// The password.
    #[arg(secret, alias = "password")]
    word: Option<String>,
    /// What else is secret.
    #[arg(secret, default)]
    codes: Vec<u32>,
) {
    let _ = (name, word, codes);
}

#[test]
fn secrets_are_masked_whatever_they_are() {
    let registry = Registry::of([SIGN_IN]).unwrap();
    let definition = registry.get("sign_in").unwrap();
    let sent = r#"{"codes":[47,11],"name":"ada","word":"hunter2"}"#;
    let settled = FinalArguments::of(&definition, sent).unwrap();
    assert_eq!(settled.shown(), r#"{"codes":"(secret)","name":"ada","word":"(secret)"}"#);
    assert_eq!(settled.arguments(), sent);
    assert!(settled.canonical().contains("hunter2"));
    assert!(settled.has_secrets());
    let debug = format!("{settled:?}");
    assert!(!debug.contains("hunter2") && !debug.contains("ada"), "{debug}");

    let twice = r#"{"name":"ada","word":{"hunter2":1,"hunter2":2}}"#;
    let error = FinalArguments::of(&definition, twice).unwrap_err();
    assert_eq!(error, ArgumentsError::Duplicate { pointer: "/word".to_owned() });
}

#[test]
fn the_strict_reader_leaves_no_alias_to_resolve() {
    let registry = Registry::of([SIGN_IN]).unwrap();
    let executor = Executor::builder(registry).unrestricted().repair(Repair::Off).build().unwrap();
    assert!(executor.examine(&Call::new("sign_in", r#"{"name":"ada"}"#)).is_ok());
    assert!(executor.examine(&Call::new("sign_in", r#"{"user":"ada"}"#)).is_err());
}

/// A tool of a schema that came from elsewhere.
fn arrived(schema: Value) -> Registry {
    registered(schema).expect("a schema that is taken")
}

fn registered(schema: Value) -> Result<Registry, RegistryError> {
    let tool = DynamicTool::new("arrived", "Came.", schema, |_: Value, _| async { Ok("") });
    Registry::of([Registration::from(tool)])
}

/// The tool is refused when it is registered, because each of its calls would fail.
fn is_endless(schema: Value) {
    let error = registered(schema).unwrap_err().to_string();
    assert!(error.contains("without an end"), "{error}");
}

fn settle(registry: &Registry, accepted: &str) -> Result<String, ArgumentsError> {
    let definition = registry.get("arrived").expect("the tool");
    FinalArguments::of(&definition, accepted).map(|it| it.arguments().to_owned())
}

#[test]
fn a_required_key_is_not_filled_in() {
    let registry = arrived(json!({
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "integer", "default": 2}},
        "required": ["a"],
    }));
    assert_eq!(settle(&registry, r#"{"a":7}"#).unwrap(), r#"{"a":7,"b":2}"#);
}

#[test]
fn defaults_without_end_are_refused() {
    is_endless(json!({
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {
            "type": "object",
            "properties": {
                "left": {"$ref": "#/$defs/node", "default": {}},
                "right": {"$ref": "#/$defs/node", "default": {}},
            },
        }},
    }));
    let long = arrived(json!({
        "type": "object",
        "properties": {"items": {"type": "array", "items": {
            "type": "object",
            "properties": {"text": {"type": "string", "default": "x".repeat(100_000)}},
        }}},
    }));
    assert!(settle(&long, r#"{"items":[{},{}]}"#).is_ok());
    let items = vec!["{}"; 10_000].join(",");
    let error = settle(&long, &format!(r#"{{"items":[{items}]}}"#)).unwrap_err();
    assert!(matches!(error, ArgumentsError::Defaults { .. }), "{error}");
}

#[test]
fn defaults_that_double_at_every_step_are_refused() {
    let mut definitions = json!({"n30": {"type": "object"}});
    for step in 0..30 {
        let next = json!({"$ref": format!("#/$defs/n{}", step + 1), "default": {}});
        definitions[format!("n{step}")] =
            json!({"type": "object", "properties": {"p": next, "q": next}});
    }
    is_endless(json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n0"}},
        "$defs": definitions,
    }));
}

#[test]
fn what_no_reader_accepts_is_refused() {
    let registry = arrived(json!({"type": "object", "properties": {}}));
    assert_eq!(settle(&registry, "[]"), Err(ArgumentsError::NoObject { found: "an array" }));
    assert_eq!(settle(&registry, "{a:1}"), Err(ArgumentsError::Lenient));
}
