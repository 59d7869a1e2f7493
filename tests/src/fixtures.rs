//! Crates that write their tools in every way that Rust allows; that each compiles is half of the
//! proof, that its tools run is the other.

use fixture_aliases as aliases;
use fixture_conditional as conditional;
use fixture_explicit as explicit;
use fixture_lean as lean;
use fixture_letters as letters;
use fixture_nested as nested;
use fixture_produced as produced;
use fixture_renamed as renamed;
use fixture_shadows as shadows;
use fixture_strict as strict;

use serde_json::json;
use toolwright::{Call, Danger, Handle, Registry};

use crate::support::{builder, call, executor, kind};

fn names(tools: &[Handle]) -> Vec<&'static str> {
    tools.iter().map(Handle::name).collect()
}

#[tokio::test]
async fn a_crate_may_know_toolwright_by_another_name() {
    let executor = builder([renamed::WEIGH, renamed::Scales::OFFSET])
        .service(renamed::Scales(3))
        .build()
        .unwrap();
    let answer = executor.call(&Call::new("weigh", r#"{"thing":{"grams":4}}"#)).await;
    assert_eq!(answer.text(), "7 top weigh");
    assert_eq!(executor.call(&call("offset")).await.text(), "3");
}

#[tokio::test]
async fn a_condition_on_a_tool_or_a_method_holds_for_all_that_is_generated() {
    let tools = [
        conditional::ALWAYS,
        conditional::EITHER,
        conditional::BY_CONDITION,
        conditional::Service::METHOD_ALWAYS,
    ];
    let executor = builder(tools).service(conditional::Service).build().unwrap();
    for (name, text) in [("always", "always"), ("either", "one"), ("method_always", "null")] {
        assert_eq!(executor.call(&call(name)).await.text(), text);
    }
    conditional::no_tool().await;
}

#[tokio::test]
async fn one_letter_and_keywords_are_names_like_others() {
    let tools = [letters::A, letters::T, letters::MATCH, letters::S::LOOP_TOOL];
    assert_eq!(names(&tools), ["a1", "t", "match", "loop"]);
    let executor = builder(tools)
        .service(letters::S(10))
        .resource(|_| async { Ok(letters::M(20)) })
        .build()
        .unwrap();
    for (name, arguments, text) in [
        ("a1", r#"{"b":true,"p":"x","n":2,"t":[3,4]}"#, "40"),
        ("a1", r#"{"b":false,"p":"x"}"#, "31"),
        ("t", r#"{"t":5}"#, "5"),
        ("match", r#"{"type":"y","async":true}"#, "y Some(true)"),
        ("loop", r#"{"in":1}"#, "11"),
    ] {
        assert_eq!(executor.call(&Call::new(name, arguments)).await.text(), text, "{name}");
    }
    let examine = |arguments: &'static str| executor.examine(&Call::new("a1", arguments)).unwrap();
    assert_eq!(examine(r#"{"b":true,"p":"x"}"#).danger, Danger::Safe);
    assert_eq!(examine(r#"{"b":false,"p":"x"}"#).danger, Danger::Critical);
}

#[tokio::test]
async fn an_alias_is_what_it_stands_for() {
    let executor = executor([aliases::BY_ALIAS, aliases::DONE, aliases::PERHAPS]);
    let required = &executor.registry().get("by_alias").unwrap().input_schema["required"];
    assert_eq!(*required, json!(["text"]));
    for (name, arguments, text) in [
        ("by_alias", r#"{"text":"a","numbers":[1,2]}"#, r#"{"items":[1,2]}"#),
        ("by_alias", r#"{"text":"a"}"#, r#"{"items":[]}"#),
        ("perhaps", r#"{"number":1}"#, "0"),
        ("perhaps", r#"{"number":0}"#, "null"),
    ] {
        assert_eq!(executor.call(&Call::new(name, arguments)).await.text(), text);
    }
    for failing in [Call::new("by_alias", r#"{"text":""}"#), call("done")] {
        let answer = executor.call(&failing).await;
        assert_eq!(kind(&answer), "own");
        assert_eq!(answer.error().unwrap().message(), "chosen words");
    }
    let long = executor.call(&Call::new("by_alias", r#"{"text":"a","numbers":[1,2,3,4]}"#)).await;
    assert_eq!(kind(&long), "invalid_input");
}

#[tokio::test]
async fn a_tool_may_stand_wherever_an_item_may() {
    let tools: Vec<Handle> = [nested::outer::inner::DEEP]
        .into_iter()
        .chain(nested::outer::TOOLS)
        .chain([nested::local()[2]])
        .collect();
    let executor = builder(tools).service(nested::outer::Service(1)).build().unwrap();
    let calls = ["deep", "restricted", "method", "in_module_in_function"];
    for (name, text) in calls.into_iter().zip(["1", "2", "2", "3"]) {
        assert_eq!(executor.call(&call(name)).await.text(), text, "{name}");
    }
    assert_eq!(names(&nested::local())[..2], ["in_function", "method_in_function"]);
}

#[tokio::test]
async fn every_part_of_a_tool_may_come_from_a_macro() {
    let executor =
        builder(produced::TOOLS).service(produced::Factor(6)).service(produced::Produced).build();
    let executor = executor.unwrap();
    for (name, arguments, text) in [
        ("produced_number", "{}", "7"),
        ("produced_list", "{}", r#"["a","b"]"#),
        ("produced.product", "{}", "30"),
        ("produced.product", r#"{"number":7}"#, "42"),
        ("produced_item", r#"{"said":"hi"}"#, "hi"),
        ("produced_one", "{}", "produced_one"),
        ("produced_two", "{}", "produced_two"),
        ("produced_many", r#"{"first":"a","second":2}"#, "a 2"),
    ] {
        assert_eq!(executor.call(&Call::new(name, arguments)).await.text(), text, "{name}");
    }
    let below = executor.call(&Call::new("produced.product", r#"{"number":1}"#)).await;
    assert!(
        below.text().contains("found 1, expected an integer from 2 to 4294967295"),
        "{}",
        below.text()
    );
    let definition = |name: &str| executor.registry().get(name).unwrap();
    assert_eq!(definition("produced_one").description, "Is called produced_one.");
    assert_eq!(definition("produced_many").parameters[1].description, "The parameter second.");
    assert_eq!(definition("produced.product").description, "Multiplies.");
}

#[tokio::test]
async fn generated_code_means_what_it_says_whatever_a_crate_shadows() {
    let tools = [
        shadows::TOKIO,
        shadows::STR,
        shadows::STD,
        shadows::TOOLWRIGHT,
        shadows::SHAPE,
        shadows::Handle::DROP,
    ];
    let executor = builder(tools).service(shadows::Handle).build().unwrap();
    for (name, arguments, text) in [
        ("tokio", r#"{"std":4}"#, "4"),
        ("str", r#"{"core":"a","toolwright":"b"}"#, "ab"),
        ("std", "{}", "std"),
        ("toolwright", "{}", "toolwright"),
        ("shape", r#"{"shape":{"side":2}}"#, r#"{"side":2,"label":null}"#),
        ("drop", r#"{"u8":8}"#, "8"),
    ] {
        assert_eq!(executor.call(&Call::new(name, arguments)).await.text(), text, "{name}");
    }
}

struct Names;

impl strict::Directory for Names {
    fn full(&self, name: &str) -> String {
        format!("{name} lovelace")
    }
}

#[tokio::test]
async fn generated_code_raises_no_warning_in_the_strictest_crate() {
    let tools = [
        strict::STRICT_GREET,
        strict::STRICT_COUNT,
        strict::STRICT_END,
        strict::STRICT_WHOLE,
        strict::EVERYTHING,
        strict::Guests::STRICT_TELL,
    ];
    let directory: std::sync::Arc<dyn strict::Directory> = std::sync::Arc::new(Names);
    let executor = builder(tools)
        .service_arc(directory)
        .service(strict::Guests(3))
        .resource(|_| async { Ok(strict::Guest(Vec::new())) })
        .build()
        .unwrap();
    let greet = r#"{"name":"ada","manner":"formal"}"#;
    let answer = executor.call(&Call::new("strict_greet", greet)).await;
    assert_eq!(answer.text(), r#"{"words":"ada lovelace bows"}"#);
    let root =
        executor.call(&Call::new("strict_greet", r#"{"name":"root","manner":"casual"}"#)).await;
    assert_eq!(kind(&root), "approval_required");
    assert_eq!(executor.call(&call("strict_count")).await.text(), "3");
    assert_eq!(executor.call(&Call::new("strict_tell", r#"{"without":1}"#)).await.text(), "2");
}

#[tokio::test]
async fn a_tool_that_is_not_registered_cannot_be_called_though_it_is_linked() {
    let registry = Registry::of(explicit::OFFERED.iter().copied()).unwrap();
    let catalog = registry.catalog();
    let listed: Vec<&str> = catalog.names().collect();
    assert_eq!(listed, ["chosen", "other"]);
    let executor = executor(explicit::OFFERED.iter().copied());
    assert_eq!(executor.call(&call("chosen")).await.text(), "chosen");
    assert_eq!(kind(&executor.call(&call("passed_over")).await), "unknown_tool");
    assert_eq!(explicit::passed_over().await, "passed over");
}

#[tokio::test]
async fn a_library_without_default_features_in_the_edition_of_2021_has_tools_like_others() {
    let tools = [lean::DIM, lean::COUNT, lean::Lamp::IS_LIT];
    let executor = builder(tools).service(lean::Lamp(true)).build().unwrap();
    for (name, arguments, text) in [
        ("dim", r#"{"light":{"percent":40}}"#, "40 white 1 dim"),
        ("dim", r#"{"light":{"percent":"40","colour":"red"},"steps":3}"#, "40 red 3 dim"),
        ("lean_count", r#"{"to":3}"#, "[1,2,3]"),
        ("is_lit", "{}", "true"),
    ] {
        assert_eq!(executor.call(&Call::new(name, arguments)).await.text(), text, "{name}");
    }
    let refused = executor.call(&Call::new("dim", r#"{"light":{"percent":40},"steps":0}"#)).await;
    assert_eq!(kind(&refused), "invalid_input");
}

/// Cargo selects features for this package alone here, where the test binary has those of all.
#[test]
fn a_library_without_default_features_needs_no_more_than_the_core_and_the_macros() {
    let cargo = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "fixture-lean", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let tree = String::from_utf8(cargo.stdout).unwrap();
    let crates: std::collections::BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(crates.contains("toolwright-core") && crates.contains("toolwright-macros"), "{tree}");
    assert!(!crates.contains("toolwright-executor"), "{tree}");
    assert!(crates.len() <= 60, "{} crates: {crates:?}", crates.len());
}
