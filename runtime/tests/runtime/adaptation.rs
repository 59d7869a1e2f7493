//! Tools that an application did not write and has adapted: what models, policy, journal, approvers and the tool itself see.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::journal::{Filter, Journal, MemoryStore, Page, State, Store, StoredText};
use toolwright::policy::{ArgumentTest, Policy, Rule};
use toolwright::unstable::arguments::fingerprint;
use toolwright::{
    Adaptation, Answer, Call, Danger, DynamicTool, Executor, Exposure, OnNoApprover, Registry, tool,
};

fn issue_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "owner": {"type": "string", "minLength": 2, "description": "Whose."},
            "t": {"type": "string"},
            "labels": {"type": "array", "items": {"$ref": "#/$defs/Label"}},
            "parent": {"$ref": "#"},
            "other": {"$ref": "#/properties/owner"},
        },
        "required": ["owner", "t"],
        "additionalProperties": false,
        "examples": [{"owner": "ada", "t": "Typo"}],
        "$defs": {"Label": {"type": "string", "enum": ["bug", "idea"]}},
    })
}

/// Answers with its input, as the tool of another crate would get it.
fn create_issue() -> DynamicTool {
    DynamicTool::new("create_issue", "Creates an issue.", issue_schema(), |input, _| async move {
        Ok(input.to_string())
    })
}

fn for_ada() -> Adaptation {
    Adaptation::new()
        .preset("owner", "ada")
        .argument_renamed("t", "title")
        .argument_described("title", "One line.")
}

fn open(tool: DynamicTool, adaptation: Adaptation) -> Executor {
    let registry = Registry::of([tool.adapted(adaptation)]).expect("it can be adapted so");
    Executor::builder(registry).unrestricted().build().expect("an executor")
}

async fn call(executor: &Executor, input: &Value) -> Answer {
    executor.call(&Call::new("create_issue", input.to_string())).await
}

fn refusal(tool: DynamicTool, adaptation: Adaptation) -> String {
    Registry::of([tool.adapted(adaptation)]).expect_err("it cannot be adapted so").to_string()
}

#[tokio::test]
async fn a_model_sees_the_adapted_arguments_and_the_tool_gets_its_own() {
    let executor = open(create_issue(), for_ada());
    let definition = executor.registry().get("create_issue").expect("registered");
    let schema = &definition.input_schema;
    assert_eq!(
        schema["properties"]["title"],
        json!({"type": "string", "description": "One line."})
    );
    assert_eq!(schema["properties"].get("owner"), None);
    assert_eq!(schema["required"], json!(["title"]));
    assert_eq!(schema["examples"], json!([{"title": "Typo"}]));
    let names: Vec<&str> = definition.parameters.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["title", "labels", "other", "parent"]);

    let answer = call(&executor, &json!({"title": "Typo", "labels": ["bug"]})).await;
    let got: Value = serde_json::from_str(&answer.text()).expect("the tool's own input");
    assert_eq!(got, json!({"owner": "ada", "t": "Typo", "labels": ["bug"]}));
}

#[tokio::test]
async fn a_reference_to_the_whole_input_keeps_the_own_names_and_rules() {
    let executor = open(create_issue(), for_ada());
    let inner = json!({"title": "Typo", "parent": {"owner": "eve", "t": "Inner"}, "other": "bob"});
    assert!(!call(&executor, &inner).await.is_error());
    for (input, place) in [
        (json!({"title": "Typo", "parent": {"title": "Inner"}}), "/parent"),
        (json!({"title": "Typo", "parent": {"owner": "e", "t": "Inner"}}), "/parent/owner"),
        (json!({"title": "Typo", "other": "b"}), "/other"),
    ] {
        let answer = call(&executor, &input).await;
        assert!(answer.is_error() && answer.text().contains(place), "{input}: {}", answer.text());
    }
}

#[tokio::test]
async fn what_has_a_value_is_an_unknown_key_even_with_that_value_and_in_an_open_schema() {
    let mut schema = issue_schema();
    schema["additionalProperties"] = json!(true);
    let open_tool =
        DynamicTool::new("create_issue", "Creates.", schema, |input: Value, _| async move {
            Ok(input.to_string())
        });
    for executor in [open(create_issue(), for_ada()), open(open_tool, for_ada())] {
        for owner in ["ada", "eve"] {
            let answer = call(&executor, &json!({"title": "Typo", "owner": owner})).await;
            let text = answer.text().into_owned();
            assert!(text.contains("/owner: unknown key"), "{text}");
            assert!(!text.contains("expected one of \"labels\", \"other\", \"owner\""), "{text}");
        }
        let former = call(&executor, &json!({"title": "Typo", "t": "Other"})).await;
        assert!(former.text().contains("/t: unknown key"), "{}", former.text());
    }
}

#[tokio::test]
async fn two_arguments_may_change_their_names_with_each_other() {
    let schema = json!({
        "type": "object",
        "properties": {"from": {"type": "string"}, "to": {"type": "integer"}},
        "required": ["from", "to"],
        "additionalProperties": false,
    });
    let made = || {
        DynamicTool::new("create_issue", "Moves.", schema.clone(), |input: Value, _| async move {
            Ok(input.to_string())
        })
    };
    let swapped = Adaptation::new()
        .argument_renamed("from", "x")
        .argument_renamed("to", "from")
        .argument_renamed("x", "to");
    let executor = open(made(), swapped.clone());
    let answer = call(&executor, &json!({"to": "a", "from": 7})).await;
    assert_eq!(answer.text(), r#"{"from":"a","to":7}"#);
    let refused = call(&executor, &json!({"to": {}, "from": 7})).await;
    assert!(refused.text().contains("/to: found {}"), "{}", refused.text());
}

#[test]
fn what_cannot_be_is_an_error_that_names_the_argument_and_the_choices() {
    let new = Adaptation::new;
    for (adaptation, words) in [
        (
            new().preset("ower", "ada"),
            "/properties/ower: `preset` names it, and it is no argument; expected one of `labels`, `other`, `owner`, `parent`, `t`",
        ),
        (
            new().preset("owner", 7),
            "/properties/owner: the value that it is given does not fit: /owner: expected a string",
        ),
        (new().preset("owner", "a"), "the value that it is given does not fit"),
        (new().preset("labels", json!(["wish"])), "the value that it is given does not fit"),
        (
            new().argument_renamed("t", "owner"),
            "/properties/t: it is to be renamed to `owner`, which is an argument already",
        ),
        (
            new().preset("owner", "ada").argument_renamed("t", "owner"),
            "which is an argument already",
        ),
        (new().preset("owner", "ada").preset("owner", "eve"), "has a value already"),
        (
            new().argument_renamed("t", "title").argument_described("t", "x"),
            "`argument_described` names it",
        ),
        (new().argument_renamed("t", ""), "which is no name"),
        (new().asking(" "), "to ask a person for no reason"),
    ] {
        let error = refusal(create_issue(), adaptation);
        assert!(error.contains("the tool `create_issue` at ") && error.contains(words), "{error}");
    }
}

#[test]
fn a_preset_value_is_left_out_of_errors_and_of_debug_output() {
    let error = refusal(create_issue(), Adaptation::new().preset("labels", json!(["sk-live-1"])));
    assert!(error.contains("/labels/0: expected") && !error.contains("sk-live-1"), "{error}");
    let adaptation = Adaptation::new().preset("owner", "sk-live-1");
    assert!(!format!("{adaptation:?}").contains("sk-live-1"));
    let registry = Registry::of([create_issue().adapted(adaptation)]).expect("it fits");
    let definition = registry.get("create_issue").expect("it is registered");
    assert!(!format!("{definition:?}").contains("sk-live-1"));
}

#[tokio::test]
async fn what_a_schema_says_of_keys_together_stays_right() {
    let schema = json!({
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["file", "text"]},
            "path": {"type": "string"},
            "text": {"type": "string"},
        },
        "required": ["mode"],
        "additionalProperties": false,
        "dependentRequired": {"mode": ["path"]},
        "if": {"properties": {"mode": {"const": "text"}}},
        "then": {"required": ["text"]},
        "anyOf": [{"required": ["path"]}, {"required": ["text"]}],
    });
    let made = || {
        DynamicTool::new("create_issue", "Writes.", schema.clone(), |input: Value, _| async move {
            Ok(input.to_string())
        })
    };
    let file =
        open(made(), Adaptation::new().preset("mode", "file").argument_renamed("path", "where"));
    let shown = file.registry().get("create_issue").expect("registered").input_schema.clone();
    assert_eq!(shown["required"], json!(["where"]));
    assert_eq!(shown["anyOf"], json!([{"required": ["where"]}, {"required": ["text"]}]));
    assert_eq!((shown.get("if"), shown.get("then")), (None, None));
    let answer = call(&file, &json!({"where": "a"})).await;
    assert_eq!(answer.text(), r#"{"mode":"file","path":"a"}"#);

    // What the shown schema cannot say, the tool's own still asks for, in the names that the model knows.
    let text =
        open(made(), Adaptation::new().preset("mode", "text").argument_renamed("text", "words"));
    let refused = call(&text, &json!({"path": "a"})).await;
    assert!(refused.text().contains("/words: missing"), "{}", refused.text());
}

#[test]
fn every_change_is_part_of_the_fingerprint() {
    let print = |adaptation: Adaptation| {
        let registry = Registry::of([create_issue().adapted(adaptation)]).expect("adapted");
        fingerprint(&registry.get("create_issue").expect("registered"))
    };
    let new = Adaptation::new;
    let all = [
        new(),
        new().exposed(Exposure::Direct),
        new().exposed(Exposure::Hidden),
        new().danger_at_least(Danger::Safe),
        new().danger_at_least(Danger::Critical),
        new().asking("it is public"),
        new().asking("it is private"),
        new().preset("owner", "ada"),
        new().preset("owner", "eve"),
        new().argument_renamed("owner", "other_owner"),
        new()
            .argument_renamed("owner", "t_")
            .argument_renamed("t", "owner")
            .argument_renamed("t_", "t"),
        new().argument_described("owner", "Who."),
    ];
    let prints: std::collections::BTreeSet<String> = all.iter().cloned().map(print).collect();
    assert_eq!(prints.len(), all.len());
    assert_eq!(print(new()), {
        let registry = Registry::of([create_issue()]).expect("registered");
        fingerprint(&registry.get("create_issue").expect("registered"))
    });
}

/// Moves money.
#[tool(danger = if cents > 100 { Danger::Dangerous } else { Danger::Safe }, approval = (cents > 1000).then_some("it is much"))]
async fn pay(
    /// To whom.
    to: String,
    /// How much.
    #[arg(default = 1)]
    cents: u64,
) -> String {
    format!("{to} {cents}")
}

#[test]
fn danger_is_raised_and_never_lowered_and_each_call_asks() {
    let adaptation = Adaptation::new().danger_at_least(Danger::Moderate).asking("it is our money");
    let registry = Registry::of([PAY.adapted(adaptation)]).expect("registered");
    let executor = Executor::builder(registry).unrestricted().build().expect("an executor");
    let facts = |input: &str| executor.examine(&Call::new("pay", input)).expect("facts");
    assert_eq!(facts(r#"{"to":"bob"}"#).danger, Danger::Moderate);
    assert_eq!(facts(r#"{"to":"bob","cents":200}"#).danger, Danger::Dangerous);
    assert_eq!(facts(r#"{"to":"bob"}"#).approval.as_deref(), Some("it is our money"));
    let much = facts(r#"{"to":"bob","cents":2000}"#);
    assert_eq!(much.approval.as_deref(), Some("it is our money; it is much"));
}

#[tokio::test]
async fn an_annotated_function_is_adapted_too() {
    let adaptation = Adaptation::new().preset("cents", 7).argument_renamed("to", "payee");
    let registry = Registry::of([PAY.adapted(adaptation)]).expect("registered");
    let executor = Executor::builder(registry).unrestricted().build().expect("an executor");
    assert_eq!(executor.call(&Call::new("pay", r#"{"payee":"bob"}"#)).await.text(), "bob 7");
    let refused = executor.call(&Call::new("pay", r#"{"to":"bob"}"#)).await;
    let text = refused.text();
    assert!(text.contains("/to: unknown key") && text.contains("/payee: missing"), "{text}");
    // Repair knows the names that the model knows.
    let repaired = executor.call(&Call::new("pay", "```json\n{\"payee\": \"bob\"}\n```")).await;
    assert_eq!(repaired.text(), "bob 7");
}

#[tokio::test]
async fn a_change_by_name_is_for_tools_that_are_there_and_for_those_that_come() {
    let registry = Registry::of([PAY]).expect("registered");
    registry.adapt("pay", Adaptation::new().preset("cents", 7)).expect("adapted");
    registry.adapt("git*", Adaptation::new().preset("owner", "ada")).expect("nothing yet");
    let later =
        DynamicTool::new("git_issue", "Creates.", issue_schema(), |input: Value, _| async move {
            Ok(input.to_string())
        });
    registry.register(later).expect("registered");
    let executor = Executor::builder(registry.clone()).unrestricted().build().expect("an executor");
    assert_eq!(executor.call(&Call::new("pay", r#"{"to":"bob"}"#)).await.text(), "bob 7");
    let answer = executor.call(&Call::new("git_issue", r#"{"t":"x"}"#)).await;
    assert_eq!(answer.text(), r#"{"owner":"ada","t":"x"}"#);

    // Of a tool that was adapted, what was changed first is changed no second time.
    registry.adapt("pay", Adaptation::new().argument_renamed("to", "payee")).expect("adapted");
    registry.adapt("pay", Adaptation::new().argument_renamed("to", "payee")).expect("once");
    let answer = executor.call(&Call::new("pay", r#"{"payee":"bob"}"#)).await;
    assert_eq!(answer.text(), "bob 7");
    let error = registry.adapt("pay", Adaptation::new().preset("cents", 8)).expect_err("it has 7");
    assert!(error.to_string().contains("has a value already"), "{error}");
}

#[test]
fn a_change_for_no_tool_keeps_an_executor_from_being_built() {
    let built = |pattern: &str, policy| {
        let builder = Executor::builder(Registry::of([PAY]).expect("registered")).policy(policy);
        builder.adapt(pattern, Adaptation::new().preset("cents", 7)).build()
    };
    let error = built("pays", Policy::builder()).expect_err("there is none").to_string();
    assert!(
        error.contains("`.adapt(…)`: the pattern `pays` matches no tool; did you mean `pay`?"),
        "{error}"
    );
    let later = || Policy::builder().registered_later("github__*");
    assert!(built("github__list", later()).is_ok());
    assert!(built("gitlab__list", later()).is_err());
}

#[tokio::test]
async fn a_rule_looks_at_presets_and_renamed_arguments() {
    let rule = Rule::deny("not to eve").named("eve").tool("create_issue");
    let rule = rule.argument("/owner", ArgumentTest::equals("\"eve\""));
    let registry = || {
        let adaptation = Adaptation::new().preset("owner", "eve").argument_renamed("t", "title");
        Registry::of([create_issue().effect(toolwright::Effect::Read).adapted(adaptation)])
    };
    let executor = Executor::builder(registry().expect("adapted"))
        .policy(Policy::builder().rule(rule))
        .build()
        .expect("an executor");
    let answer = call(&executor, &json!({"title": "x"})).await;
    assert!(answer.text().contains("not to eve"), "{}", answer.text());
}

struct Journalled {
    store: Arc<MemoryStore>,
    key: ApproverKey,
}

impl Journalled {
    fn executor(&self, adaptation: Adaptation) -> Executor {
        let tool = create_issue()
            .approval("it is public")
            .preview_by(|input, _| async move { Ok(format!("as {}", input["owner"])) });
        let journal = Journal::shared(Arc::clone(&self.store) as Arc<dyn Store>)
            .trust("ada", self.key.public())
            .on_no_approver(OnNoApprover::Park);
        let registry = Registry::of([tool.adapted(adaptation)]).expect("adapted");
        Executor::builder(registry).journal(journal).build().expect("an executor")
    }
}

#[tokio::test]
async fn journal_and_approver_see_the_final_arguments_and_an_approval_ends_with_a_change() {
    let all = Journalled {
        store: Arc::new(MemoryStore::new()),
        key: ApproverKey::from_seed("ada", [7; 32]).expect("a key"),
    };
    let executor = all.executor(for_ada());
    let run = executor.run("r1").start().expect("a run");
    let outcome = run.submit(&Call::new("create_issue", r#"{"title":"Typo"}"#)).await;
    let suspended = outcome.suspended().expect("a person is asked");
    let id = suspended.call;
    let load = async || {
        let page = all.store.list(&Filter::default(), Page::first(9)).await.expect("listed");
        page.calls.into_iter().next().expect("a call")
    };
    let record = load().await;
    let expected = r#"{"title":"Typo","owner":"ada"}"#;
    assert!(matches!(&record.arguments, StoredText::Plain(text) if text == expected), "{record:?}");
    let preview = record.ask.as_ref().and_then(|it| it.preview.as_deref());
    assert_eq!(preview, Some(r#"as "ada""#));

    let service = ApprovalService::new(Arc::clone(&all.store) as Arc<dyn Store>);
    service.approve(id, &all.key).await.expect("approved");

    // Another preset, another tool: the approval does not count.
    let other = all.executor(for_ada().asking("it is someone else's"));
    let worker = other.worker().expect("a journal");
    let outcome = worker.resume(id).await;
    assert!(outcome.answer().is_none(), "it is asked about again");
    assert_eq!(load().await.state, State::Pending);

    service.approve(id, &all.key).await.expect("approved again");
    let answer = other.worker().expect("a journal").resume(id).await.answer().expect("it ran");
    assert_eq!(answer.text(), r#"{"owner":"ada","t":"Typo"}"#);
}
