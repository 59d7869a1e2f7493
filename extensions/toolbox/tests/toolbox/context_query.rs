//! Queries over stored documents.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolwright::{Call, Executor, Registry, ToolEventKind};
use toolwright_toolbox::{CONTEXT, OnConflict};

use super::context::Stored;
use super::support::runtime;

const MAILS: &str = r#"[
    {"id": 1, "ts": "2026-05-31T09:00:00Z", "email": "ada@x", "amount": 250, "subject": "tea"},
    {"id": 2, "ts": "2026-05-31T10:00:00Z", "email": "bob@x", "amount": 50, "subject": "honey"},
    {"id": 3, "ts": "2026-06-01T09:00:00Z", "email": "ada@x", "amount": 120, "subject": "milk"}
]"#;

fn mails() -> Stored {
    let stored = Stored::new();
    stored.store.write("mails.json", MAILS, OnConflict::Error, None).unwrap();
    stored
}

/// S0.60, S0.61, S0.62
#[test]
fn a_query_groups_filters_plucks_sorts_and_sums() {
    let stored = mails();
    let cases = [
        (
            "${ $substring(ts,0,10): $count($) }",
            json!({"2026-05-31": 2, "2026-06-01": 1}),
            "object",
            Some(2),
        ),
        ("$[amount > 100].id", json!([1, 3]), "array", Some(2)),
        (
            "$[0].{ 'id': id, 'subject': subject }",
            json!({"id": 1, "subject": "tea"}),
            "object",
            Some(2),
        ),
        ("$distinct(email)", json!(["ada@x", "bob@x"]), "array", Some(2)),
        ("$^(>amount)[[0..1]].id", json!([1, 3]), "array", Some(2)),
        ("$sum(amount)", json!(420), "number", None),
        ("nothing", Value::Null, "null", None),
        ("$exists(id)", json!(true), "boolean", None),
    ];
    for (expression, result, kind, count) in cases {
        let answer =
            stored.ok("context_query", json!({"path": "mails.json", "expression": expression}));
        assert_eq!(answer["result"], result, "{expression}");
        assert_eq!(answer["result_type"], kind, "{expression}");
        assert_eq!(answer.get("result_count").and_then(Value::as_u64), count, "{expression}");
    }
}

/// S0.63
#[test]
fn a_result_is_written_as_an_entry_and_queried_in_turn() {
    let stored = mails();
    let input =
        json!({"path": "mails.json", "expression": "$[amount > 100]", "output_path": "dear.json"});
    let written = stored.ok("context_query", input.clone());
    assert_eq!((&written["path"], &written["result_count"]), (&json!("dear.json"), &json!(2)));
    assert!(
        written.get("result").is_none()
            && written["preview"].as_str().unwrap().starts_with("[{\"id\":1")
    );
    assert_eq!(
        written["preview"].as_str().unwrap().chars().count(),
        200.min(written["bytes_written"].as_u64().unwrap()) as usize
    );
    let sum =
        stored.ok("context_query", json!({"path": "dear.json", "expression": "$sum(amount)"}));
    assert_eq!(sum["result"], 370);
    assert_eq!(stored.refused("context_query", input).0, "path_conflict");
}

#[test]
fn a_repeated_query_answers_what_it_has_written() {
    let stored = mails();
    let (store, first) = (stored.store.clone(), Arc::new(Mutex::new(true)));
    let executor = Executor::builder(Registry::of(CONTEXT).unwrap()).unrestricted();
    let executor = executor.service(store.clone()).listen(move |event| {
        if matches!(event.kind, ToolEventKind::Started)
            && std::mem::take(&mut *first.lock().unwrap())
        {
            // The query was interrupted after its write.
            let note = format!("the result of a query, by call {}", event.call);
            store.write("out", "[1,3]", OnConflict::Error, Some(&note)).unwrap();
        }
    });
    let executor = executor.build().unwrap();
    let input =
        json!({"path": "mails.json", "expression": "$[amount > 100].id", "output_path": "out"});
    let input = input.to_string();
    let call = || runtime().block_on(executor.call(&Call::new("context_query", input.as_str())));
    let answer: Value = serde_json::from_str(&call().text()).unwrap();
    let expected = json!({"result_type": "array", "result_count": 2, "path": "out", "version": 1,
        "bytes_written": 5, "preview": "[1,3]"});
    assert_eq!(answer, expected);
    assert_eq!(call().error().unwrap().kind(), "path_conflict");
}

#[test]
fn a_query_that_writes_nothing_declares_no_write() {
    let stored = mails();
    for (output, writes) in [(Value::Null, 0), (json!("out"), 1)] {
        let input = json!({"path": "mails.json", "expression": "$", "output_path": output});
        let input = input.to_string();
        let facts = stored.executor.examine(&Call::new("context_query", input.as_str())).unwrap();
        assert_eq!(facts.touches().unwrap().resources_written().unwrap().len(), writes);
    }
}

/// S0.65, S0.66, S0.67
#[test]
fn the_reference_is_answered_for_a_question_and_with_a_mistake_and_is_not_in_the_description() {
    let stored = mails();
    for expression in ["?", "", "  "] {
        let answer =
            stored.ok("context_query", json!({"path": "missing", "expression": expression}));
        assert!(answer["message"].as_str().unwrap().contains("$substringBefore"), "{answer}");
    }
    let (kind, message, hint) =
        stored.refused("context_query", json!({"path": "mails.json", "expression": "$sum(amount"}));
    assert_eq!(kind, "invalid_expression");
    assert!(message.contains(" at character 11 "), "{message}");
    assert!(hint.contains("$substringBefore"));
    let (kind, _, hint) =
        stored.refused("context_query", json!({"path": "mails.json", "expression": "$sum('a')"}));
    assert_eq!(kind, "evaluation_error");
    assert!(hint.contains("$substringBefore"));
    let registry = toolwright::Registry::of(toolwright_toolbox::CONTEXT).unwrap();
    assert!(registry.get("context_query").unwrap().description.len() < 300);
}

/// S0.68
#[test]
fn a_source_is_a_whole_document_and_no_handle_of_a_page() {
    let stored = mails();
    let refused =
        |path: &str| stored.refused("context_query", json!({"path": path, "expression": "$"}));
    let (kind, message, _) = refused("lr_3");
    assert_eq!(kind, "source_not_found");
    assert_eq!(message, "`lr_3` is the handle of a paged result, expected a logical path");
    assert_eq!(refused("missing.json").0, "source_not_found");
    stored.store.write("page.json", &MAILS[..100], OnConflict::Error, None).unwrap();
    assert_eq!(refused("page.json").0, "invalid_json");
    let large = format!("[{}1]", "1,".repeat(10_000_000));
    stored.store.write("large.json", &large, OnConflict::Error, None).unwrap();
    assert_eq!(refused("large.json").0, "source_too_large");
}

/// S0.64, S0.70
#[test]
fn an_expression_reaches_no_file_network_or_host() {
    let stored = mails();
    for expression in [
        "$readFile('/etc/passwd')",
        "$fetch('http://localhost')",
        "$eval('$system(1)')",
        "$require('fs')",
    ] {
        let (kind, message, _) = stored
            .refused("context_query", json!({"path": "mails.json", "expression": expression}));
        assert_eq!(kind, "evaluation_error", "{expression}: {message}");
    }
}
