//! A rule for a value that its argument can never be is told when the policy is made.

use serde_json::{Value, json};
use toolwright::policy::{ArgumentTest, PolicyBuilder, PolicyError, Rule};
use toolwright::{Catalog, DynamicTool, Registry, ToolError};

use super::scene::bare;

fn tool(name: &str, schema: Value) -> DynamicTool {
    DynamicTool::new(name, "Does it.", schema, |_: Value, _| async { Ok::<_, ToolError>("") })
}

fn catalog() -> Catalog {
    let closed = |properties: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
            "$defs": {"Conflict": {"oneOf": [
                {"const": "overwrite", "description": "What is there goes."},
                {"const": "rename"}
            ]}}
        })
    };
    let copy = closed(json!({
        "force": {"type": "boolean"},
        "args": {"type": "array", "items": {"type": "string"}},
        "on_conflict": {"$ref": "#/$defs/Conflict"},
        "later": {"anyOf": [{"$ref": "#/$defs/Conflict"}, {"type": "null"}]},
        "level": {"type": ["integer", "null"]},
        "where": {"type": "object", "properties": {"side": {"enum": ["left", "right", 3]}}},
        "any": {},
        "size": {"type": "number"},
    }));
    let cut = closed(json!({"force": {"type": "string"}, "other": {"type": "boolean"}}));
    Registry::of([tool("copy", copy), tool("cut", cut)]).expect("a registry").catalog()
}

fn told(builder: PolicyBuilder) -> Option<String> {
    builder.build(&catalog()).err().map(|error: PolicyError| error.to_string())
}

fn wrong(pointer: &str, test: ArgumentTest) -> String {
    let rule = Rule::deny("no").named("r").tool("copy").argument(pointer, test);
    told(bare().rule(rule)).unwrap_or_else(|| "nothing".to_owned())
}

#[test]
fn a_value_that_an_argument_never_is_is_told_with_what_it_can_be() {
    let equals = |pointer, value: &str| wrong(pointer, ArgumentTest::equals(value));
    insta::assert_snapshot!(
        [
            equals("/force", "\"true\""),
            equals("/args", "\"push\""),
            equals("/on_conflict", "\"overwite\""),
            equals("/later", "\"never\""),
            equals("/level", "\"3\""),
            equals("/where/side", "4"),
            equals("/where", "[]"),
            equals("/size", "true"),
            equals("/args/0", "1"),
            wrong("/args", ArgumentTest::contains(["\"push\"", "7"])),
            wrong("/args", ArgumentTest::within(["[]"])),
            wrong("/force", ArgumentTest::one_of(["true", "\"yes\""])),
        ]
        .join("\n")
    );
}

#[test]
fn what_an_argument_can_be_or_what_is_not_said_is_taken() {
    for (pointer, value) in [
        ("/force", "true"),
        ("/args", "[\"push\"]"),
        ("/on_conflict", "\"rename\""),
        ("/later", "\"overwrite\""),
        ("/level", "3"),
        ("/where/side", "3.0"),
        ("/where/other", "\"a\""),
        ("/any", "\"a\""),
        ("/any/deeper/0", "7"),
        ("/size", "1e9"),
        ("/args/0", "\"push\""),
        ("", "{}"),
    ] {
        assert_eq!(wrong(pointer, ArgumentTest::equals(value)), "nothing", "{pointer} and {value}");
    }
}

#[test]
fn one_tool_that_can_be_given_the_value_is_enough() {
    let rule = |value: &str| {
        let rule = Rule::deny("no").named("r").tool("copy").tool("cut");
        told(bare().rule(rule.argument("/force", ArgumentTest::equals(value))))
    };
    assert_eq!((rule("true"), rule("\"true\"")), (None, None));
    let never = rule("7").expect("neither takes a number");
    assert!(never.contains("`/force` of `copy` is never `7`; expected a boolean"), "{never}");
    // A tool that lacks the argument does not take the value either.
    let other = Rule::deny("no").named("r").argument("/other", ArgumentTest::equals("\"on\""));
    let other = told(bare().rule(other)).expect("the one tool takes a boolean");
    assert!(other.contains("`/other` of `cut` is never `\"on\"`; expected a boolean"), "{other}");
}

#[test]
fn a_tool_whose_schema_does_not_say_what_stands_there_may_take_any_value() {
    let side = |others: Vec<DynamicTool>| {
        let side = json!({"type": "object", "properties": {"side": {"enum": ["left"]}}});
        let closed = tool("copy", json!({"type": "object", "properties": {"where": side}}));
        let tools = std::iter::once(closed).chain(others);
        let catalog = Registry::of(tools).expect("a registry").catalog();
        let rule = Rule::deny("no").argument("/where/side", ArgumentTest::equals("\"right\""));
        bare().rule(rule).build(&catalog).is_ok()
    };
    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let open = tool("cut", json!({"type": "object", "properties": {"where": open}}));
    assert_eq!((side(Vec::new()), side(vec![open])), (false, true));
}

#[test]
fn choices_are_followed_so_far_and_what_lies_deeper_may_be_anything() {
    let nested = |depth: usize| {
        let leaf = json!({"type": "boolean"});
        let value = (0..depth).fold(leaf, |inner, _| json!({"anyOf": [inner]}));
        let tool = tool("copy", json!({"type": "object", "properties": {"force": value}}));
        let catalog = Registry::of([tool]).expect("a registry").catalog();
        let rule = Rule::deny("no").argument("/force", ArgumentTest::equals("7"));
        bare().rule(rule).build(&catalog).is_ok()
    };
    assert_eq!((nested(15), nested(16)), (false, true));
}

#[test]
fn objects_and_nothing_are_kinds_of_their_own() {
    let equals = |pointer, value: &str| wrong(pointer, ArgumentTest::equals(value));
    assert!(equals("/force", "{}").contains("is never `{}`; expected a boolean"));
    assert_eq!(equals("/where", "{}"), "nothing");
    assert!(equals("/force", "null").contains("is never `null`; expected a boolean"));
}

#[test]
fn a_tool_that_may_come_later_may_take_any_value() {
    let rule = Rule::deny("no").tool("*").argument("/force", ArgumentTest::equals("7"));
    assert_eq!(told(bare().registered_later("mcp/*").rule(rule)), None);
}

#[test]
fn a_program_that_never_begins_so_is_told() {
    let rule = Rule::allow("yes").named("r").tool("copy");
    let rule = rule.argument("/args", ArgumentTest::begins(["[\"push\", 7]"]));
    let told = told(bare().rule(rule)).expect("arguments are texts");
    assert!(told.contains("an item of `/args` of `copy` is never `7`; expected a text"), "{told}");
}

#[test]
fn a_test_for_null_is_told_because_nothing_passes_it() {
    let told = wrong("/level", ArgumentTest::equals("null"));
    assert!(told.contains("`/level` is tested for null"), "{told}");
}

#[test]
fn arguments_without_a_test_are_told_because_they_select_nothing() {
    let text = "version = 1\n[[deny]]\nreason = \"r\"\ntool = \"copy\"\narguments = {}\n";
    let told = told(bare().text("p", text)).expect("it asks for nothing");
    assert!(told.contains("p:5:13: `arguments` asks for nothing"), "{told}");
}
