//! A rule that can match no call, and a folder that is not there, are reported when the policy is made.

use std::fmt;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolwright::policy::{ArgumentTest, Mode, Policy, PolicyBuilder, Protection, Rule};
use toolwright::{Call, DynamicTool, Executor, Registry, ToolError, tool};

use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::support::{kind, subscribed};

/// Reads a file.
#[tool(unlinked, name = "gates_read", effect = read, reads(file = path))]
async fn read_one(
    /// Which.
    path: String,
) -> String {
    path
}

fn registry() -> Registry {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "paths": {"type": "array", "items": {"type": "string"}},
            "where": {"$ref": "#/$defs/Where"},
            "later": {"anyOf": [{"$ref": "#/$defs/Where"}, {"type": "null"}]},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            "kind": {"enum": ["a", "b"]},
            "size": {"type": "number"},
            "any": {}
        },
        "additionalProperties": false,
        "$defs": {"Where": {
            "type": "object",
            "properties": {"side": {"type": "string"}},
            "additionalProperties": false
        }}
    });
    let found = |_: Value, _| async { Ok::<_, ToolError>("") };
    let registry = Registry::of([DynamicTool::new("gates_find", "Finds it.", schema, found)]);
    let registry = registry.unwrap();
    registry.register(READ_ONE).unwrap();
    registry
}

fn bare() -> PolicyBuilder {
    Policy::builder().mode(Mode::AutoSafe).without(Protection::ALL)
}

fn refusal(policy: PolicyBuilder) -> String {
    policy.build(&registry().catalog()).err().map_or_else(String::new, |error| error.to_string())
}

fn of(pointer: &str, test: ArgumentTest) -> String {
    let rule = Rule::deny("no").named("r").tool("gates_find").argument(pointer, test);
    refusal(bare().rule(rule))
}

#[test]
fn a_rule_over_a_place_that_no_argument_has_is_refused() {
    let equals = || ArgumentTest::equals("\"x\"");
    for (pointer, at) in [
        ("/path/x", "`/path` of `gates_find` is a text"),
        ("/paths/side", "`/paths` of `gates_find` is a list"),
        ("/paths/0/x", "`/paths/0` of `gates_find` is a text"),
        ("/where/sied", "`/where` of `gates_find` is an object"),
        ("/where/side/x", "`/where/side` of `gates_find` is a text"),
        ("/later/sied", "`/later` of `gates_find`"),
        ("/map/a/b", "`/map/a` of `gates_find` is a number"),
        ("/kind/x", "`/kind` of `gates_find`"),
    ] {
        let refusal = of(pointer, equals());
        assert!(refusal.contains(&format!("nothing is at `{pointer}`")), "{pointer}: {refusal}");
        assert!(refusal.contains(at), "{pointer}: {refusal}");
    }
    for pointer in ["/path", "/paths/7", "/where/side", "/later/side", "/any/x/0"] {
        assert_eq!(of(pointer, equals()), "", "{pointer}");
    }
    assert_eq!(of("/map/a", ArgumentTest::equals("1")), "");
}

#[test]
fn a_test_of_another_kind_than_the_argument_is_refused() {
    for (pointer, test) in [
        ("/path", ArgumentTest::at_least("3")),
        ("/kind", ArgumentTest::less_than("3")),
        ("/size", ArgumentTest::under(["src"])),
        ("/size", ArgumentTest::glob(["*.md"])),
        ("/path", ArgumentTest::contains(["\"a\""])),
        ("/path", ArgumentTest::flags(["--force"])),
        ("/where", ArgumentTest::under(["src"])),
    ] {
        let refusal = of(pointer, test.clone());
        assert!(refusal.contains(&format!("`{pointer}` of `gates_find` is never")), "{refusal}");
    }
    for (pointer, test) in [
        ("/paths", ArgumentTest::under(["src"])),
        ("/paths/0", ArgumentTest::glob(["*.md"])),
        ("/size", ArgumentTest::at_least("3")),
        ("/map/a", ArgumentTest::at_most("3")),
        ("/any", ArgumentTest::at_most("3")),
        ("/any", ArgumentTest::flags(["--force"])),
    ] {
        assert_eq!(of(pointer, test), "", "{pointer}");
    }
}

/// A schema of a server may offer eight choices at each of six steps; the policy looks at a bounded number of them.
#[test]
fn a_schema_of_many_choices_holds_no_policy_up() {
    let mut definitions = serde_json::Map::new();
    for step in 0..6 {
        let next = vec![json!({"$ref": format!("#/$defs/{}", step + 1)}); 8];
        definitions.insert(step.to_string(), json!({ "anyOf": next }));
    }
    definitions.insert("6".to_owned(), json!({"type": "integer"}));
    let schema = json!({
        "type": "object",
        "properties": {"any": {"$ref": "#/$defs/0"}},
        "additionalProperties": false,
        "$defs": definitions,
    });
    let found = |_: Value, _| async { Ok::<_, ToolError>("") };
    let registry = Registry::of([DynamicTool::new("gates_steps", "Steps.", schema, found)]);
    let catalog = registry.unwrap().catalog();
    for pointer in ["/any", "/any/x"] {
        let rule = Rule::deny("no").tool("gates_steps");
        let rule = rule.argument(pointer, ArgumentTest::equals("\"x\""));
        // Whether the place is there is not found out within the bound, so the rule is taken.
        assert_eq!(bare().rule(rule).build(&catalog).map(drop), Ok(()), "{pointer}");
    }
}

/// Collects what is warned of.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut |field: &Field, value: &dyn fmt::Debug| {
            self.0.lock().unwrap().push(format!("{field}={value:?}"));
        });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_root_that_is_no_folder_is_warned_of_by_name() {
    let here = tempfile::tempdir().unwrap();
    let (folder, file) = (here.path().join("folder"), here.path().join("file"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&file, "").unwrap();
    let gone = here.path().join("gone");
    let policy = || bare().root(&folder).root(&file).root(&gone);
    let made = policy().build(&registry().catalog()).unwrap();
    assert_eq!(made.missing_roots().collect::<Vec<_>>(), [&file, &gone]);

    let warnings = Warnings::default();
    let guard = subscribed(warnings.clone());
    Executor::builder(registry()).policy(policy()).build().unwrap();
    drop(guard);
    let expected = [&file, &gone].map(|root| {
        let words = "a root of the policy is no folder on this machine";
        [format!("message={words}"), format!("root={}", root.display())]
    });
    assert_eq!(*warnings.0.lock().unwrap(), expected.concat());
}

#[test]
fn a_rule_for_what_a_read_writes_is_refused() {
    let rule = |tool: &str| Rule::deny("no").named("r").tool(tool).writes("src/**");
    let refusal_of = |tool| refusal(bare().rule(rule(tool)));
    let words = "rule `r`: no tool that it is for writes anything";
    assert!(refusal_of("gates_read").contains(words), "{}", refusal_of("gates_read"));
    assert_eq!(refusal_of("*"), "");
}

#[test]
fn a_user_whose_name_no_run_has_is_refused() {
    for (name, because) in [
        ("eve ", "begins or ends with a blank: expected `eve`"),
        ("\teve", "begins or ends with a blank: expected `eve`"),
        (" ", "is blank"),
        ("", "is blank"),
    ] {
        let text =
            format!("version = 1\n[[deny]]\nname = \"r\"\nreason = \"no\"\nprincipal = {name:?}\n");
        let refusal = refusal(bare().text("policy.toml", &text));
        assert!(refusal.contains(because), "{name:?}: {refusal}");
        assert!(refusal.contains("policy.toml:5:13"), "{name:?}: {refusal}");
    }
}

/// An objection against a user holds however the run spells their name; an allow is for the one spelling.
#[tokio::test]
async fn an_objection_against_a_user_counts_for_every_spelling_of_the_name() {
    let deny = Rule::deny("no").named("no").principal("eve");
    let policy = bare().rule(deny);
    let executor = Executor::builder(registry()).policy(policy).build().unwrap();
    let call = Call::new("gates_read", r#"{"path":"a"}"#);
    for user in ["eve", "Eve", "eve ", "EVE\n"] {
        let run = executor.run("r").user(user).start().unwrap();
        assert_eq!(kind(&run.call(&call).await), "denied", "{user:?}");
    }
    for user in ["eva", "eve2"] {
        let run = executor.run("r").user(user).start().unwrap();
        assert_eq!(kind(&run.call(&call).await), "ok", "{user:?}");
    }
    let allow = Rule::allow("trusted").named("yes").principal("eve").tool("gates_find");
    let executor = Executor::builder(registry())
        .policy(Policy::builder().without(Protection::ALL).rule(allow))
        .build();
    let executor = executor.unwrap();
    for (user, expected) in [("eve", "ok"), ("Eve", "approval_required")] {
        let run = executor.run("r").user(user).start().unwrap();
        assert_eq!(kind(&run.call(&Call::new("gates_find", "{}")).await), expected, "{user:?}");
    }
}
