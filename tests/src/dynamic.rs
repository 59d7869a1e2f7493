//! Tools made at run time are tools like others: read strictly, judged, limited, listed and answered.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::dialect::Dialect;
use toolwright::{
    Call, Danger, DeclaredDanger, DynamicTool, Effect, Executor, Exposure, File, Footprint, Output,
    Registry, ToolContext, ToolError, data,
};

use crate::support::{Turnstile, answer, builder, call, kind};

fn made(tool: DynamicTool) -> Executor {
    Executor::builder(Registry::of([tool]).unwrap()).unrestricted().build().unwrap()
}

fn copy_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "from": {"type": "string", "description": "Which file.", "minLength": 1},
            "to": {"type": "string", "description": "Where to."},
            "times": {"type": "integer", "minimum": 1, "maximum": 3},
        },
        "required": ["from", "to"],
        "additionalProperties": false,
    })
}

fn copy() -> DynamicTool {
    DynamicTool::new("copy", "Copies a file.", copy_schema(), |input: Value, _| async move {
        let part = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
        Ok(format!("{} to {}", part("from"), part("to")))
    })
}

/// S2.18: a factory makes a tool of a description and a function.
#[tokio::test]
async fn a_tool_of_values_is_called_listed_and_described_like_any_other() {
    let executor = made(copy().group("file").tag("write").title("Copy").effect(Effect::Idempotent));
    let answer = executor.call(&Call::new("copy", r#"{"from":"a","to":"b","times":2}"#)).await;
    assert_eq!(answer.text(), "a to b");
    let definition = executor.registry().get("copy").unwrap();
    assert_eq!(definition.title.as_deref(), Some("Copy"));
    assert_eq!(
        (definition.group.as_deref(), &*definition.tags),
        (Some("file"), &["write".to_owned()][..])
    );
    assert_eq!((definition.effect, definition.exposure), (Effect::Idempotent, Exposure::Direct));
    assert_eq!(definition.danger, DeclaredDanger::Level(Danger::Moderate));
    assert!(definition.requires.is_empty());
    assert!(definition.location.file.ends_with("dynamic.rs"), "{}", definition.location);
    let required: Vec<_> =
        definition.parameters.iter().map(|it| (it.name.as_str(), it.required)).collect();
    assert!(required.contains(&("from", true)) && required.contains(&("times", false)));
    for dialect in Dialect::ALL {
        let listing = executor.registry().listing(dialect);
        let strict = dialect.name().ends_with("strict");
        assert!(strict || listing.unwrap().tools().get().contains("Copies a file."), "{dialect}");
    }
}

#[tokio::test]
async fn its_input_is_held_to_its_schema_and_duplicate_keys_are_refused() {
    let executor = made(copy());
    for (input, place) in [
        (r#"{"from":"a"}"#, "to"),
        (r#"{"from":"a","to":"b","times":4}"#, "/times"),
        (r#"{"from":"","to":"b"}"#, "/from"),
        (r#"{"from":"a","to":"b","tmes":1}"#, "tmes"),
        (r#"{"from":"a","from":"c","to":"b"}"#, "/from: duplicate key"),
        (r#"[]"#, "input"),
        ("", "input"),
    ] {
        let answer = executor.call(&Call::new("copy", input)).await;
        assert_eq!(kind(&answer), "invalid_input", "{input}");
        assert!(answer.error().unwrap().message().contains(place), "{input}: {}", answer.text());
    }
    let deep =
        DynamicTool::new("deep", "Takes all.", json!({"type": "object"}), |_, _| async { Ok(1) });
    let answer = made(deep).call(&Call::new("deep", r#"{"a":{"b":1,"b":2}}"#)).await;
    assert!(answer.error().unwrap().message().contains("/a/b: duplicate key"), "{}", answer.text());
}

#[tokio::test]
async fn what_its_schema_calls_secret_is_told_to_nobody() {
    let schema = json!({
        "type": "object",
        "properties": {
            "user": {"type": "string"},
            "password": {"type": "string", "writeOnly": true, "minLength": 8},
            "pin": {"type": "integer", "format": "password"},
            "api/key~": {"type": "string", "writeOnly": true, "pattern": "^sk-"},
        },
        "required": ["user", "password"],
        "additionalProperties": false,
    });
    let log_in = DynamicTool::new("log_in_at_run_time", "Signs in.", schema, |_, _| async {
        Ok("signed in")
    });
    let executor = made(log_in);
    let definition = executor.registry().get("log_in_at_run_time").unwrap();
    let secrets = definition.parameters.iter().filter(|it| it.secret);
    assert_eq!(
        secrets.map(|it| it.name.as_str()).collect::<Vec<_>>(),
        ["password", "api/key~", "pin"]
    );
    let call = |input: &'static str| Call::new("log_in_at_run_time", input);
    for wrong in [
        r#"{"user":"ada","password":["hunter2hunter2"]}"#,
        r#"{"user":"ada","password":"hunter2"}"#,
        r#"{"user":"ada","password":"hunter2hunter2","pin":"hunter2"}"#,
        r#"{"user":"ada","password":"hunter2hunter2","api/key~":"hunter2"}"#,
        r#"{"user":"ada","password":"hunter2hunter2"#,
        r#""hunter2hunter2""#,
    ] {
        let answer = executor.call(&call(wrong)).await;
        assert_eq!(kind(&answer), "invalid_input", "{wrong}");
        assert!(!answer.text().contains("hunter2"), "{}", answer.text());
    }
    let mended = executor.call(&call(r#"{"user":7,"password":1234512345,"pin":"42"}"#)).await;
    assert_eq!(mended.text(), "signed in");
    let told: Vec<_> =
        mended.repairs().unwrap().changes().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [r#"/user: 7 became "7" (text)"#, "/password: changed (text)", "/pin: changed (integer)",]
    );
}

#[test]
fn its_parameters_are_listed_as_it_requires_them() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "m": {"type": "string"}, "z": {"type": "string"}},
        "required": ["z", "m"],
    });
    let tool = DynamicTool::new("order_of_keys", "Sorts.", schema, |_, _| async { Ok(()) });
    let definition = made(tool).registry().get("order_of_keys").unwrap();
    let names: Vec<_> = definition.parameters.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["z", "m", "a"]);
}

/// What is added.
#[data]
struct Numbers {
    /// The numbers.
    numbers: Vec<i64>,
    /// What to begin with.
    #[serde(default)]
    start: i64,
}

/// What came of it.
#[data]
struct Sum {
    /// The sum.
    sum: i64,
}

async fn add(input: Numbers, _: ToolContext) -> Result<Sum, ToolError> {
    if input.numbers.is_empty() {
        return Err(ToolError::new("nothing", "there is nothing to add"));
    }
    Ok(Sum { sum: input.start + input.numbers.iter().sum::<i64>() })
}

/// S2.2: registry, function tool and the making of one from a typed function are all there is to it.
/// S2.17: what the factory makes joins the registry like all else.
/// S2.51: a tool is made of a plain function, its schema of the function's type.
#[tokio::test]
async fn a_plain_function_is_a_tool_with_the_schema_of_its_type() {
    let executor = made(DynamicTool::typed("add", "Adds.", add).returns::<Sum>());
    let definition = executor.registry().get("add").unwrap();
    assert_eq!(definition.input_schema["required"], json!(["numbers"]));
    assert_eq!(definition.input_schema["additionalProperties"], false);
    assert_eq!(definition.parameters.len(), 2);
    let output = definition.output_schema.as_ref().unwrap();
    assert_eq!(output["properties"]["sum"]["type"], "integer");
    let add = async |input: &'static str| executor.call(&Call::new("add", input)).await;
    assert_eq!(add(r#"{"numbers":[1,2],"start":3}"#).await.text(), r#"{"sum":6}"#);
    assert_eq!(kind(&add(r#"{"numbers":[]}"#).await), "nothing");
    for wrong in
        [r#"{"numbers":[1.5]}"#, r#"{"numbers":[1],"end":2}"#, r#"{"numbers":[1],"start":"many"}"#]
    {
        assert_eq!(kind(&add(wrong).await), "invalid_input", "{wrong}");
    }
}

#[tokio::test]
async fn a_closure_is_one_too_and_knows_its_call_and_what_it_captured() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let note =
        DynamicTool::typed("note", "Notes.", move |numbers: Numbers, context: ToolContext| {
            let kept = kept.clone();
            async move {
                let id = context.provider_id().map(str::to_owned);
                kept.lock().unwrap().push((context.tool().to_owned(), id, numbers.numbers));
                Ok(Output::text("noted").metadata("notes", 1))
            }
        });
    let executor = made(note);
    let answer = executor.call(&Call::new("note", r#"{"numbers":[7]}"#).id("call_1")).await;
    assert_eq!(answer.text(), "noted");
    assert_eq!(answer.metadata().unwrap()["notes"], 1);
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, [("note".to_owned(), Some("call_1".to_owned()), vec![7])]);
}

#[tokio::test]
async fn danger_approval_and_footprint_are_judged_by_the_input_before_anything_runs() {
    let ran = Arc::new(Mutex::new(0));
    let counts = ran.clone();
    let tool = DynamicTool::new("copy", "Copies a file.", copy_schema(), move |_, _| {
        *counts.lock().unwrap() += 1;
        async { Ok(()) }
    })
    .danger_by(|input| if input["to"] == "/etc" { Danger::Critical } else { Danger::Safe })
    .approval_by(|input| (input["to"] == "/etc").then(|| format!("it writes {}", input["to"])))
    .footprint_by(|input| {
        let path = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
        Footprint::nothing().reading::<File>(&*path("from")).writing::<File>(&*path("to"))
    });
    let executor = made(tool);
    assert_eq!(executor.registry().get("copy").unwrap().danger, DeclaredDanger::Computed);
    let examine = |input: &'static str| executor.examine(&Call::new("copy", input)).unwrap();
    let harmless = examine(r#"{"from":"a","to":"b"}"#);
    let harmful = examine(r#"{"from":"./b","to":"/etc"}"#);
    assert_eq!((harmless.danger, harmful.danger), (Danger::Safe, Danger::Critical));
    assert_eq!(harmful.approval.as_deref(), Some(r#"it writes "/etc""#));
    assert!(harmless.touches().unwrap().conflicts_with(harmful.touches().unwrap()));
    let elsewhere = Footprint::nothing().reading::<File>("a").writing::<File>("c");
    assert!(!harmless.touches().unwrap().conflicts_with(&elsewhere));
    let refused = executor.call(&Call::new("copy", r#"{"from":"b","to":"/etc"}"#)).await;
    assert_eq!((kind(&refused).as_str(), *ran.lock().unwrap()), ("approval_required", 0));
    executor.call(&Call::new("copy", r#"{"from":"a","to":"b"}"#)).await;
    assert_eq!(*ran.lock().unwrap(), 1);
}

#[test]
fn what_is_not_declared_follows_the_rules_of_the_attribute() {
    let danger = |tool: DynamicTool| {
        let registry = Registry::of([tool]).unwrap();
        registry.get("copy").unwrap().danger
    };
    assert_eq!(danger(copy()), DeclaredDanger::Level(Danger::Moderate));
    assert_eq!(danger(copy().effect(Effect::Read)), DeclaredDanger::Level(Danger::Safe));
    assert_eq!(
        danger(copy().effect(Effect::Read).danger(Danger::Dangerous)),
        DeclaredDanger::Level(Danger::Dangerous)
    );
}

#[tokio::test(start_paused = true)]
async fn its_time_out_its_limit_and_its_panics_are_the_runtimes_affair() {
    let object = || json!({"type": "object"});
    let slow = DynamicTool::new("slow", "Waits.", object(), |_, _| {
        crate::support::forever::<Result<(), _>>()
    });
    let panics = DynamicTool::new("panics", "Panics.", object(), |input: Value, _| {
        assert!(input.is_null(), "a defect in a handler");
        async { Ok(()) }
    });
    let turnstile = Turnstile::new();
    let waits = turnstile.clone();
    let one = DynamicTool::new("one", "Waits, alone.", object(), move |_, _| {
        let waits = waits.clone();
        async move {
            crate::support::wait_for_go(&waits).await;
            Ok(())
        }
    });
    let tools = [slow.timeout(Some(Duration::from_secs(1))), panics, one.limit(1)];
    let executor = Executor::builder(Registry::of(tools).unwrap()).unrestricted().build().unwrap();
    // The paused clock jumps to whatever ends the call: it has to be the tool's own second.
    let start = tokio::time::Instant::now();
    let late = executor.call(&call("slow")).await;
    assert_eq!((kind(&late).as_str(), start.elapsed()), ("timeout", Duration::from_secs(1)));
    assert!(late.error().unwrap().message().contains("than 1s"), "{late:?}");
    assert_eq!(kind(&executor.call(&call("panics")).await), "panic");
    let steps = async {
        turnstile.entered(1).await;
        tokio::task::yield_now().await;
        assert_eq!(turnstile.entered.available_permits(), 0, "the second waits");
        turnstile.let_go(2);
    };
    tokio::join!(answer(&executor, call("one")), answer(&executor, call("one")), steps);
}

#[tokio::test(start_paused = true)]
async fn one_that_takes_as_long_as_it_takes_is_not_stopped_and_one_that_does_not_say_is() {
    let takes_a_day = |name: &str| {
        DynamicTool::new(name, "Takes a day.", json!({"type": "object"}), |_, _| async {
            tokio::time::sleep(Duration::from_secs(86_400)).await;
            Ok("the next day")
        })
    };
    let tools = [takes_a_day("patient").timeout(None), takes_a_day("silent")];
    let executor = Executor::builder(Registry::of(tools).unwrap())
        .unrestricted()
        .timeout(Some(Duration::from_secs(7)))
        .build()
        .unwrap();
    assert_eq!(executor.call(&call("patient")).await.text(), "the next day");
    let stopped = executor.call(&call("silent")).await;
    assert!(stopped.error().unwrap().message().contains("than 7s"), "{stopped:?}");
}

/// S3.25: tools are made at run time from data: one that updates the trigger that an agent works on.
#[tokio::test]
async fn tools_are_generated_from_data_and_go_with_it() {
    let triggers = Arc::new(Mutex::new(vec![("nightly".to_owned(), "0 3 * * *".to_owned())]));
    let current_trigger = |trigger: &str| {
        let (triggers, trigger) = (triggers.clone(), trigger.to_owned());
        let description = format!("Updates the trigger `{trigger}`, which is the current one.");
        let schema = json!({
            "type": "object",
            "properties": {"schedule": {"type": "string", "description": "When it runs."}},
            "required": ["schedule"],
            "additionalProperties": false,
        });
        DynamicTool::new("trigger.current.update", description, schema, move |input: Value, _| {
            let (triggers, trigger) = (triggers.clone(), trigger.clone());
            async move {
                let mut triggers =
                    triggers.lock().map_err(|_| ToolError::new("broken", "broken"))?;
                let found = triggers.iter_mut().find(|(name, _)| *name == trigger);
                let (name, schedule) =
                    found.ok_or_else(|| ToolError::new("not_found", "the trigger is gone"))?;
                *schedule = input["schedule"].as_str().unwrap_or_default().to_owned();
                Ok(format!("{name}: {schedule}"))
            }
        })
        .group("trigger")
        .effect(Effect::Idempotent)
    };
    let executor = builder([]).build().unwrap();
    executor.registry().register(current_trigger("nightly")).unwrap();
    let update = || Call::new("trigger.current.update", r#"{"schedule":"0 4 * * *"}"#);
    assert_eq!(executor.call(&update()).await.text(), "nightly: 0 4 * * *");
    let description = &executor.registry().get("trigger.current.update").unwrap().description;
    assert!(description.contains("`nightly`"));
    executor.registry().unregister("trigger.current.update").unwrap();
    executor.registry().register(current_trigger("weekly")).unwrap();
    assert_eq!(kind(&executor.call(&update()).await), "not_found");
}

#[test]
fn a_tool_that_cannot_be_used_is_refused_when_it_is_registered_with_its_place() {
    let tool = |schema| DynamicTool::new("copy", "Copies.", schema, |_, _| async { Ok(()) });
    for (tool, words) in [
        (tool(json!([])), "/type: the input of a tool is an object, its schema is []"),
        (tool(json!({})), "/type: the input of a tool is an object, its schema names no type"),
        (tool(json!({"type": "array"})), "the type of its schema is \"array\""),
        (
            tool(json!({"type": "object", "properties": {"a": {"type": "strnig"}}})),
            "/properties/a/type: type \"strnig\" is no type of JSON Schema",
        ),
        (
            tool(json!({"type": "object", "properties": {"a": {}}, "required": ["b"]})),
            "/required: `b` is required, but is not among the properties",
        ),
        (
            copy().output_schema(json!({"type": 7})),
            "/output_schema/type: the schema itself is wrong",
        ),
        (copy().limit(0), "a limit of 0 calls at once"),
        (
            DynamicTool::new("copy", " ", copy_schema(), |_, _| async { Ok(()) }),
            "has no description",
        ),
    ] {
        let error = Registry::of([tool]).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
        assert!(error.contains("dynamic.rs:"), "{error}");
    }
    let list = DynamicTool::typed("list", "Takes a list.", |_: Vec<String>, _| async { Ok(()) });
    let error = Registry::of([list]).unwrap_err().to_string();
    assert!(error.contains("the input of a tool is an object"), "{error}");
}

#[tokio::test]
async fn an_output_that_breaks_its_own_schema_is_refused_as_for_any_tool() {
    let schema = json!({"type": "object", "properties": {"sum": {"type": "integer"}}});
    let lies = |schema: Value| {
        DynamicTool::new("lies", "Lies.", json!({"type": "object"}), |_, _| async {
            Ok(json!({"sum": "many"}))
        })
        .output_schema(schema)
    };
    assert_eq!(kind(&made(lies(schema)).call(&call("lies")).await), "invalid_output");
    assert_eq!(kind(&made(lies(json!({}))).call(&call("lies")).await), "ok");
}

#[tokio::test]
async fn a_structured_value_that_was_put_together_is_held_to_the_schema_that_was_given() {
    let schema = json!({"type": "object", "properties": {"sum": {"type": "integer"}}});
    let sum = DynamicTool::new("sum", "Adds.", json!({"type": "object"}), |input: Value, _| {
        let sum = input["sum"].clone();
        async move { Ok(Output::text("added").structured(json!({ "sum": sum }))) }
    });
    let executor = made(sum.output_schema(schema));
    let right = executor.call(&Call::new("sum", r#"{"sum":3}"#)).await;
    assert_eq!(right.structured(), Some(json!({"sum": 3})));
    let wrong = executor.call(&Call::new("sum", r#"{"sum":"three"}"#)).await;
    assert_eq!(kind(&wrong), "invalid_output");
}
