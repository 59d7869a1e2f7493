//! Attacks by schemas, by numbers and by text that is printed.

use std::io::Write as _;

use regex::Regex;
use serde_json::{Map, Value, json};
use toolwright::policy::{ArgumentTest, Mode, Policy, Protection, Rule};
use toolwright::unstable::arguments::FinalArguments;
use toolwright::{
    Answer, Call, DynamicTool, Effect, Executor, Registry, Repair, data, printable, tool,
};

use crate::shop::shop;
use crate::support::{builder, kind};

/// A run-time tool with this schema.
fn made(schema: Value) -> DynamicTool {
    DynamicTool::new("made", "Takes what its schema says.", schema, |input, _| async move {
        Ok(input.to_string())
    })
    .effect(Effect::Read)
}

fn executor(schema: Value, repair: Repair) -> Executor {
    let registry = Registry::of([made(schema)]).unwrap();
    Executor::builder(registry).unrestricted().repair(repair).build().unwrap()
}

async fn refusal(executor: &Executor, tool: &str, arguments: String) -> String {
    let answer: Answer = executor.call(&Call::new(tool, arguments)).await;
    assert_eq!(kind(&answer), "invalid_input");
    answer.error().unwrap().to_string()
}

/// The place of a wrong leaf, as far as a refusal shows it.
fn at(place: &str, levels: usize) -> String {
    place.repeat(levels).chars().take(200).collect()
}

/// Seven tagged nodes and a leaf.
fn tagged() -> Value {
    let node = json!({"$ref": "#/$defs/node"});
    let mut branches: Vec<Value> = (0..7)
        .map(|tag| {
            json!({
                "type": "object", "required": ["type", "left", "right"],
                "properties": {"type": {"const": format!("t{tag}")}, "left": node, "right": node},
            })
        })
        .collect();
    branches.push(json!({
        "type": "object", "required": ["type", "value"],
        "properties": {"type": {"const": "leaf"}, "value": {"type": "integer"}},
    }));
    json!({
        "type": "object", "properties": {"tree": node}, "required": ["tree"],
        "$defs": {"node": {"oneOf": branches}},
    })
}

#[tokio::test]
async fn a_wrong_leaf_in_a_tree_of_seven_tags_is_told_at_its_place() {
    for repair in [Repair::Off, Repair::Standard, Repair::Lenient] {
        let executor = executor(tagged(), repair);
        for depth in [4, 6, 60] {
            let leaf = |value: Value| json!({"type": "leaf", "value": value});
            let tree = (0..depth).fold(leaf(json!("wrong")), |tree, level| {
                json!({"type": format!("t{}", level % 7), "left": leaf(json!(1)), "right": tree})
            });
            let told = refusal(&executor, "made", json!({"tree": tree}).to_string()).await;
            assert!(told.contains(&format!("/tree{}", at("/right", depth))), "{depth}: {told}");
        }
    }
}

#[tokio::test]
async fn a_wrong_leaf_in_a_tree_without_tags_is_told_at_its_place() {
    let way = |key: &str| json!({"type": "object", "required": [key], "properties": {key: {"$ref": "#/$defs/node"}}});
    let schema = json!({
        "type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}, "required": ["tree"],
        "$defs": {"node": {"anyOf": [{"type": "integer"}, way("a"), way("b")]}},
    });
    for repair in [Repair::Off, Repair::Lenient] {
        let executor = executor(schema.clone(), repair);
        for depth in [18, 120] {
            let tree = (0..depth).fold(json!("x"), |tree, _| json!({"a": tree}));
            let told = refusal(&executor, "made", json!({"tree": tree}).to_string()).await;
            assert!(told.contains(&format!("/tree{}", at("/a", depth))), "{depth}: {told}");
        }
    }
}

/// A term of a sum.
#[toolwright::data]
#[serde(tag = "type", rename_all = "snake_case")]
enum Term {
    /// A number.
    Number {
        /// Which.
        value: i64,
    },
    /// Two terms.
    Sum {
        /// The first.
        left: Box<Term>,
        /// The second.
        right: Box<Term>,
    },
    /// Two terms.
    Product {
        /// The first.
        left: Box<Term>,
        /// The second.
        right: Box<Term>,
    },
}

/// Counts the numbers of a term.
#[tool(effect = read)]
async fn count_numbers(
    /// Which.
    term: Term,
) -> u64 {
    fn count(term: &Term) -> u64 {
        match term {
            Term::Number { .. } => 1,
            Term::Sum { left, right } | Term::Product { left, right } => count(left) + count(right),
        }
    }
    count(&term)
}

#[tokio::test]
async fn a_wrong_leaf_of_a_tagged_enum_is_told_at_its_place() {
    for repair in [Repair::Off, Repair::Standard] {
        let executor = builder([COUNT_NUMBERS]).repair(repair).build().unwrap();
        let number = |value: Value| json!({"type": "number", "value": value});
        let term = |depth: usize, last: Value| {
            let term = (0..depth).fold(number(last), |term, level| {
                let way = ["sum", "product"][level % 2];
                json!({"type": way, "left": number(json!(1)), "right": term})
            });
            json!({"term": term}).to_string()
        };
        let right = executor.call(&Call::new("count_numbers", term(40, json!(7)))).await;
        assert_eq!(right.text(), "41");
        for depth in [14, 40] {
            let told = refusal(&executor, "count_numbers", term(depth, json!([]))).await;
            assert!(told.contains(&format!("/term{}", at("/right", depth))), "{depth}: {told}");
        }
    }
}

/// Pays an amount.
#[tool(effect = read, unlinked)]
async fn pay_amount(
    /// How much.
    amount: f64,
) -> String {
    format!("paid {amount}")
}

/// Pays an amount.
#[tool(effect = read, unlinked)]
async fn pay_little(
    /// How much.
    amount: f32,
) -> String {
    format!("paid {amount}")
}

/// Pays a number of cents.
#[tool(effect = read)]
async fn pay_cents(
    /// How many.
    amount: u64,
) -> String {
    format!("paid {amount}")
}

async fn paid(rule: Rule, amount: &str) -> [String; 3] {
    let rule = |name: &str| rule.clone().tool(name).named(name);
    let policy = Policy::builder().mode(Mode::Strict);
    let allowed = Rule::allow("any").named("any").tool("pay_*");
    let policy = ["pay_amount", "pay_little", "pay_cents"]
        .into_iter()
        .fold(policy.rule(allowed), |policy, name| policy.rule(rule(name)));
    let registry = Registry::of([PAY_AMOUNT, PAY_LITTLE, PAY_CENTS]).unwrap();
    let executor = Executor::builder(registry).policy(policy).build().unwrap();
    let mut answers = [const { String::new() }; 3];
    for (answer, tool) in answers.iter_mut().zip(["pay_amount", "pay_little", "pay_cents"]) {
        let call = Call::new(tool, format!(r#"{{"amount":{amount}}}"#));
        let found = executor.call(&call).await;
        *answer = match found.error() {
            Some(error) => error.kind().to_owned(),
            None => found.text().to_string(),
        };
    }
    answers
}

#[tokio::test]
async fn a_limit_is_held_against_the_number_that_the_tool_gets() {
    let deny = |test| Rule::deny("too much").argument("/amount", test);
    for amount in ["99.9999999999999999999", "100", "1e2"] {
        let [double, single, _] = paid(deny(ArgumentTest::at_least("100")), amount).await;
        assert_eq!([double, single], ["denied", "denied"], "{amount}");
    }
    // What rounds to the limit in an `f32` alone: a schema does not say which of the two it is.
    let [_, single, _] = paid(deny(ArgumentTest::at_least("100")), "99.99999999").await;
    assert_eq!(single, "denied");
    let [double, single, _] = paid(deny(ArgumentTest::at_least("100")), "99.5").await;
    assert_eq!([double, single], ["paid 99.5", "paid 99.5"]);
    let [double, single, _] = paid(deny(ArgumentTest::equals("0")), "1e-400").await;
    assert_eq!([double, single], ["denied", "denied"]);
    let [double, single, _] =
        paid(deny(ArgumentTest::one_of(["1", "0.1"])), "0.1000000000000000000001").await;
    assert_eq!([double, single], ["denied", "denied"]);
    // A value that is given twice, also in two spellings, counts as well.
    let [double, single, _] = paid(deny(ArgumentTest::one_of(["2", "2", "2.0"])), "2").await;
    assert_eq!([double, single], ["denied", "denied"]);
    // Integers have all their digits.
    let at = "9007199254740993";
    let cents = |answers: [String; 3]| answers[2].clone();
    let below = "9007199254740992";
    assert_eq!(cents(paid(deny(ArgumentTest::at_least(at)), below).await), format!("paid {below}"));
    assert_eq!(cents(paid(deny(ArgumentTest::at_least(at)), at).await), "denied");
    assert_eq!(cents(paid(deny(ArgumentTest::equals(at)), below).await), format!("paid {below}"));
}

/// How it is paid.
#[data]
#[serde(tag = "by", rename_all = "snake_case")]
enum Payment {
    /// In cash.
    Cash {
        /// How much.
        amount: f32,
    },
    /// By card.
    Card {
        /// How much.
        amount: f32,
    },
}

/// Pays in one of two ways.
#[tool(effect = read, unlinked)]
async fn pay_somehow(
    /// How.
    payment: Payment,
) -> String {
    let (Payment::Cash { amount } | Payment::Card { amount }) = payment;
    format!("paid {amount}")
}

/// Serde holds a variant back until it knows the tag, with numbers as `f64`, so that a field of type `f32` is rounded twice.
#[tokio::test]
async fn a_limit_is_held_against_a_number_that_is_rounded_twice() {
    let deny = |test| Rule::deny("no").named("no").argument("/payment/amount", test);
    let allow = Rule::allow("any").named("any").tool("pay_somehow");
    let paid = async |test, amount: &str| {
        let policy = Policy::builder().mode(Mode::Strict).rule(allow.clone()).rule(deny(test));
        let registry = Registry::of([PAY_SOMEHOW]).unwrap();
        let executor = Executor::builder(registry).policy(policy).build().unwrap();
        let arguments = format!(r#"{{"payment":{{"by":"cash","amount":{amount}}}}}"#);
        let found = executor.call(&Call::new("pay_somehow", arguments)).await;
        found.error().map_or_else(|| found.text().to_string(), |error| error.kind().to_owned())
    };
    // A little above the middle of 16777216 and 16777218: the nearest `f32` is the larger, that of the nearest `f64` the smaller.
    let amount = "16777217.0000000001";
    assert_eq!(paid(ArgumentTest::at_least("1e9"), amount).await, "paid 16777216");
    assert_eq!(paid(ArgumentTest::at_most("16777216"), amount).await, "denied");
    assert_eq!(paid(ArgumentTest::equals("16777216"), amount).await, "denied");
}

#[tokio::test]
async fn an_allowance_below_a_limit_covers_no_number_that_rounds_to_it() {
    let allow = Rule::allow("little").named("little").tool("pay_amount");
    let allow = allow.argument("/amount", ArgumentTest::less_than("100"));
    let policy = Policy::builder().mode(Mode::Interactive).without(Protection::ALL).rule(allow);
    let registry = Registry::of([PAY_MODERATELY]).unwrap();
    let executor = Executor::builder(registry).policy(policy).build().unwrap();
    let call = async |amount: &str| {
        let call = Call::new("pay_amount", format!(r#"{{"amount":{amount}}}"#));
        kind(&executor.call(&call).await)
    };
    assert_eq!(call("99.5").await, "ok");
    assert_eq!(call("99.9999999999999999999").await, "approval_required");
}

/// Pays an amount.
#[tool(name = "pay_amount", effect = once)]
async fn pay_moderately(
    /// How much.
    amount: f64,
) -> String {
    format!("paid {amount}")
}

#[tokio::test]
async fn a_secret_inside_a_parameter_is_shown_to_none() {
    let login = json!({"type": "object", "properties": {"user": {"type": "string"}, "pin": {"$ref": "#/$defs/Pin"}}});
    let schema = json!({
        "type": "object",
        "properties": {
            "plain": {"type": "string"},
            "login": login,
            "logins": {"type": "array", "items": {"anyOf": [login, {"type": "null"}]}},
            "by_name": {"type": "object", "additionalProperties": {"type": "string", "writeOnly": true}},
        },
        "$defs": {"Pin": {"type": "string", "format": "password"}},
    });
    let registry = Registry::of([made(schema)]).unwrap();
    let definition = registry.get("made").unwrap();
    let sent = r#"{"plain":"a","login":{"user":"ada","pin":"1234"},"logins":[{"pin":"5678"}],"by_name":{"k":"9012"}}"#;
    let arguments = FinalArguments::of(&definition, sent).unwrap();
    assert!(arguments.has_secrets());
    let shown: Value = serde_json::from_str(arguments.shown()).unwrap();
    let secret = "(secret)";
    assert_eq!(shown, json!({"plain": "a", "login": secret, "logins": secret, "by_name": secret}));
}

#[test]
fn a_secret_under_no_key_of_the_input_is_refused_at_registration() {
    let pin = json!({"type": "string", "writeOnly": true});
    for (schema, place) in [
        (json!({"type": "object", "additionalProperties": pin}), "/additionalProperties"),
        (json!({"type": "object", "patternProperties": {"^k": pin}}), "/patternProperties"),
        (
            json!({"type": "object", "anyOf": [{"properties": {"pin": pin}}, {"required": []}]}),
            "/anyOf/0",
        ),
        (json!({"type": "object", "writeOnly": true}), "a secret"),
    ] {
        let error = Registry::of([made(schema.clone())]).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains("a secret"), "{schema}: {error}");
    }
}

#[test]
fn defaults_without_an_end_are_refused_at_registration() {
    let node = |default: Value| {
        json!({
            "type": "object", "properties": {"node": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node", "default": default}},
            }},
        })
    };
    let error = Registry::of([made(node(json!({})))]).unwrap_err().to_string();
    assert!(error.contains("without an end"), "{error}");
    assert!(Registry::of([made(node(json!(null)))]).is_ok());
    let direct = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a", "default": {}}},
        "$defs": {"a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/a", "default": {}}}}},
    });
    assert!(Registry::of([made(direct)]).is_err());
}

#[tokio::test]
async fn near_names_are_sought_for_the_first_unknown_keys_alone() {
    let numbered = |name: &str, from: usize, count: usize, value: &Value| -> Map<String, Value> {
        (from..from + count).map(|it| (format!("{name}_{it:04}"), value.clone())).collect()
    };
    let integer = json!({"type": "integer"});
    let known = numbered("a_long_property_name", 0, 200, &integer);
    let schema = json!({"type": "object", "properties": known, "additionalProperties": false});
    let repairer = toolwright::unstable::repair::Repairer::new(&schema, []).unwrap();
    let input = Value::Object(numbered("a_long_proberty_nane", 1_000, 1_000, &json!(1)));
    let refused = repairer.repair(
        &input.to_string(),
        Repair::Lenient,
        toolwright::unstable::repair::TruncatedInput::Refused,
    );
    let problems = refused.unwrap_err().problems;
    let with_near = problems.iter().filter(|it| it.near.is_some()).count();
    assert_eq!(problems.len(), 100);
    assert!((1..50).contains(&with_near), "{with_near}");
    assert!(problems.iter().take(with_near).all(|it| it.near.is_some()));
}

#[test]
fn every_character_without_ink_or_with_a_function_is_escaped() {
    let classes = r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]";
    let classes = Regex::new(classes).unwrap();
    let blank = ['\u{2800}', '\u{fffc}', '\u{16fe4}', '\u{1d159}', '\u{1da7f}', '\u{13440}'];
    let all = (char::MIN..=char::MAX).filter(|it| *it != ' ');
    let missed: Vec<String> = all
        .filter(|it| classes.is_match(it.encode_utf8(&mut [0; 4])) || blank.contains(it))
        .filter(|it| !printable::acts(*it))
        .map(|it| it.escape_unicode().to_string())
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn json_on_a_terminal_has_no_character_that_acts() {
    let mut child = shop().args(["order", "find", "--json", "-"]).spawn().unwrap();
    let text = "te\u{9b}2J\u{202e}\u{7f}a";
    child.stdin.take().unwrap().write_all(json!({ "text": text }).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(out, "\"nothing like `te\\u009b2J\\u202e\\u007fa` among 0\"\n");
    let read: String = serde_json::from_str(&out).unwrap();
    assert_eq!(read, format!("nothing like `{text}` among 0"));
}
