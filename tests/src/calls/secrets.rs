//! Secrets are kept only sealed, and shown to nobody.

use toolwright::approval::{ApprovalError, Statement};
use toolwright::journal::SealingKey;
use toolwright::journal::{State, StoredText};
use toolwright::{Call, CallFailure, DynamicTool, Outcome, Registry, tool};

use super::hostile::tools::builder_of;
use super::support::{answered, office, suspended};
use crate::support::kind;

const SECRET: &str = "correct horse";

fn a_sign_in() -> Call<'static> {
    Call::new("kept_sign_in", r#"{"site":"example.org","password":"correct horse"}"#)
}

#[tokio::test]
async fn a_call_with_a_secret_that_would_have_to_wait_is_refused_without_a_key() {
    let office = office();
    let answer = answered(office.executor().submit(&a_sign_in()).await);
    assert_eq!(kind(&answer), "approval_required");
    assert!(answer.text().contains("secret"), "{}", answer.text());
    assert!(office.records().await.is_empty());
}

#[tokio::test]
async fn with_a_key_it_waits_sealed_and_runs_with_its_secret() {
    let office = office();
    let sealing = || SealingKey::from_bytes([7; 32]);
    let executor =
        office.builder().journal(office.parking().sealing_key(sealing())).build().unwrap();
    let waits = suspended(executor.submit(&a_sign_in()).await);
    let record = office.record(waits.call).await;
    assert!(matches!(
        (&record.raw, &record.arguments),
        (StoredText::Encrypted(_), StoredText::Encrypted(_))
    ));
    let everything = format!(
        "{} {} {:?}",
        serde_json::to_string(&record).unwrap(),
        waits.request.unwrap(),
        office.history(waits.call).await
    );
    assert!(!everything.contains(SECRET), "{everything}");
    office.approve_unseen(waits.call).await.unwrap();
    let later = office.builder().journal(office.parking().sealing_key(sealing())).build().unwrap();
    assert_eq!(
        answered(later.worker().unwrap().resume(waits.call).await).text(),
        "signed in with correct horse"
    );
    let kept = serde_json::to_string(&office.record(waits.call).await).unwrap();
    assert!(!kept.contains(SECRET), "the answer repeats it: {kept}");
    assert_eq!(
        answered(later.worker().unwrap().resume(waits.call).await).text(),
        "signed in with correct horse"
    );
    assert_eq!(office.ran.all(), ["sign in example.org 13"]);
}

/// What a person agrees to is this call alone, its secret and whoever it is for included.
#[tokio::test]
async fn every_argument_of_a_call_with_a_secret_counts_in_its_digest() {
    let office = office();
    let sealing = SealingKey::from_bytes([7; 32]);
    let executor = office.builder().journal(office.parking().sealing_key(sealing)).build().unwrap();
    let digest = async |user: &str, arguments: &'static str| {
        let run = executor.run("r").user(user).start().unwrap();
        let waits = suspended(run.submit(&Call::new("kept_sign_in", arguments)).await);
        office.record(waits.call).await.digest
    };
    let first = digest("bob", r#"{"site":"example.org","password":"correct horse"}"#).await;
    for (user, arguments) in [
        ("bob", r#"{"site":"example.com","password":"correct horse"}"#),
        ("bob", r#"{"site":"example.org","password":"correct house"}"#),
        ("eve", r#"{"site":"example.org","password":"correct horse"}"#),
    ] {
        assert_ne!(digest(user, arguments).await, first, "{user} {arguments}");
    }
    let again = r#"{ "password":"correct horse", "site":"ex\u0061mple.org" }"#;
    assert_eq!(digest("bob", again).await, first);
}

/// Signs in, with a password or without.
#[tool(name = "secret_log_in", approval = "it signs in")]
async fn log_in(
    /// Who.
    user: String,
    /// With what.
    #[arg(secret)]
    password: Option<String>,
) -> String {
    format!("{user} {}", password.is_some())
}

#[tokio::test]
async fn what_the_schema_of_a_run_time_tool_calls_secret_is_kept_only_sealed() {
    let office = office();
    let sign_in = || {
        let schema = serde_json::json!({
            "type": "object", "required": ["password"], "additionalProperties": false,
            "properties": {"password": {"type": "string", "format": "password"}},
        });
        let tool = DynamicTool::new("secret_dynamic", "Signs in.", schema, |_, _| async { Ok(()) });
        builder_of(&office, Registry::of([tool.approval("it signs in")]).unwrap())
    };
    let call = Call::new("secret_dynamic", r#"{"password":"correct horse"}"#);
    let refused = answered(sign_in().build().unwrap().submit(&call).await);
    assert_eq!(kind(&refused), "approval_required");
    assert!(refused.text().contains("secret"), "{}", refused.text());
    assert!(office.records().await.is_empty());

    let sealing = SealingKey::from_bytes([7; 32]);
    let waits = suspended(
        sign_in()
            .journal(office.parking().sealing_key(sealing))
            .build()
            .unwrap()
            .submit(&call)
            .await,
    );
    let record = office.record(waits.call).await;
    assert!(matches!(
        (&record.raw, &record.arguments),
        (StoredText::Encrypted(_), StoredText::Encrypted(_))
    ));
    let everything = serde_json::to_string(&record).unwrap();
    assert!(!everything.contains(SECRET), "{everything}");
}

/// What a person signs stands in the history for everybody to read.
#[tokio::test]
async fn an_edit_cannot_bring_a_secret_into_the_journal() {
    let office = office();
    let executor = builder_of(&office, Registry::of([LOG_IN]).unwrap()).build().unwrap();
    let call = Call::new("secret_log_in", r#"{"user":"ada"}"#);
    let id = suspended(executor.submit(&call).await).call;
    let edit = r#"{"password":"correct horse","user":"ada"}"#;
    let record = office.record(id).await;
    let edited = Statement::edit(&record, edit, record.digest.clone(), "ada", office.clock.now());
    let error = office.say(edited).await.unwrap_err();
    assert!(matches!(error, ApprovalError::Secret { .. }), "{error}");
    let kept = format!("{:?}", office.history(id).await);
    assert!(!kept.contains(SECRET) && office.record(id).await.proposal.is_none());
}

/// Somebody else may have the right key.
#[tokio::test]
async fn with_another_key_it_is_left_as_it_is() {
    let office = office();
    let executor = office
        .builder()
        .journal(office.parking().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&a_sign_in()).await);
    office.approve_unseen(waits.call).await.unwrap();
    let other = office
        .builder()
        .journal(office.parking().sealing_key(SealingKey::from_bytes([8; 32])))
        .build()
        .unwrap();
    let outcome = other.worker().unwrap().resume(waits.call).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotHere { .. })), "{outcome:?}");
    assert_eq!((office.ran.times(), office.state(waits.call).await), (0, State::Ready));
}
