//! Tools made at run time preview and reconcile their calls as annotated functions do.

use std::time::Duration;

use serde_json::json;
use toolwright::journal::State;
use toolwright::journal::{Journal, SealingKey};
use toolwright::{
    Call, DynamicTool, Executor, OnNoApprover, Output, Reconciled, Registry, ToolError,
};

use super::support::{Office, office, suspended};

fn send() -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "pin": {"type": "string", "writeOnly": true}},
        "required": ["to"],
        "additionalProperties": false,
    });
    DynamicTool::new("made_send", "Sends.", schema, |_, _| async { Ok("sent") })
        .approval("it leaves the house")
}

fn executor(office: &Office, tool: DynamicTool) -> Executor {
    let clock = office.clock.clone();
    Executor::builder(Registry::of([tool]).unwrap())
        .unrestricted()
        .journal(
            Journal::new(office.store.clone())
                .clock(move || clock.now())
                .trust("ada", office.ada.public())
                .sealing_key(SealingKey::from_bytes([7; 32]))
                .on_no_approver(OnNoApprover::Park),
        )
        .build()
        .unwrap()
}

async fn shown(tool: DynamicTool, input: &str) -> Option<String> {
    let outcome = executor(&office(), tool).submit(&Call::new("made_send", input)).await;
    suspended(outcome).request.unwrap().preview
}

#[tokio::test]
async fn an_approver_is_shown_what_a_run_time_tool_previews_of_the_final_input() {
    let previewed = |tool: DynamicTool| {
        tool.preview_by(|input, context| async move {
            Ok(format!("{} to {}", context.tool(), input["to"]))
        })
    };
    let preview = shown(previewed(send()), r#"{"to":7}"#).await;
    assert_eq!(preview.as_deref(), Some(r#"made_send to "7""#));
    let preview = shown(previewed(send()), r#"{"to":"ada","pin":"1234"}"#).await;
    assert_eq!(preview.as_deref(), Some("(not shown, because a secret is among the arguments)"));
    assert_eq!(shown(send(), r#"{"to":"ada"}"#).await, None);
}

#[tokio::test]
async fn a_preview_of_a_run_time_tool_that_fails_or_panics_leaves_the_call_to_the_approver() {
    let failing = send().preview_by(|_, _| async { Err(ToolError::invalid("no such address")) });
    let preview = shown(failing, r#"{"to":"ada"}"#).await.unwrap();
    assert!(preview.contains("no such address"), "{preview}");
    let panicking = send().preview_by(|input, _| {
        assert!(input.is_null(), "broken before it waits");
        async { Ok(String::new()) }
    });
    let preview = shown(panicking, r#"{"to":"ada"}"#).await.unwrap();
    assert!(preview.contains("panicked"), "{preview}");
}

#[tokio::test]
async fn a_typed_tool_previews_its_input_as_a_value() {
    #[toolwright::data]
    struct Letter {
        /// Whom.
        to: String,
    }
    let send =
        DynamicTool::typed("made_send", "Sends.", |letter: Letter, _| async move { Ok(letter.to) });
    let send = send
        .approval("it leaves the house")
        .preview_by(|input, _| async move { Ok(format!("to {}", input["to"])) });
    assert_eq!(shown(send, r#"{"to":"ada"}"#).await.as_deref(), Some(r#"to "ada""#));
}

#[tokio::test(start_paused = true)]
async fn a_run_time_tool_finds_out_what_became_of_its_interrupted_call() {
    for (found, then) in [(true, State::Succeeded), (false, State::Indeterminate)] {
        let office = office();
        let schema = json!({"type": "object", "properties": {"parcel": {"type": "string"}}});
        let ship = DynamicTool::new("made_ship", "Ships.", schema, |_, _| async {
            crate::support::forever::<()>().await;
            Ok(())
        });
        let ship = ship.reconcile_by(move |input, context| async move {
            assert!(!context.idempotency_key().is_empty());
            Ok(match found {
                true => Reconciled::Happened(Output::text(format!("{} arrived", input["parcel"]))),
                false => Reconciled::Unknown,
            })
        });
        let executor = executor(&office, ship);
        let call = Call::new("made_ship", r#"{"parcel":"A"}"#);
        let begun = tokio::time::timeout(Duration::from_secs(1), executor.submit(&call)).await;
        assert!(begun.is_err(), "it hangs");
        let id = office.records().await[0].id;
        office.clock.pass(Duration::from_secs(31));
        executor.worker().unwrap().sweep().await.unwrap();
        executor.worker().unwrap().sweep().await.unwrap();
        let record = office.record(id).await;
        assert_eq!(record.state, then);
        if found {
            assert_eq!(record.answer.unwrap().text, r#""A" arrived"#);
        }
    }
}
