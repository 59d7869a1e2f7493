//! The tools of the demonstration, and their calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use opentelemetry::metrics::Meter;
use toolwright::approval::{ApprovalService, ApproverKey, Statement};
use toolwright::journal::{Journal, MemoryStore, Store};
use toolwright::{Call, ErrorClass, Executor, OnNoApprover, Outcome, Registry, ToolError, tool};
use tracing::Instrument as _;

use crate::export::trace_id;

/// Whether the weather service has rejected a call yet; it rejects only the first.
#[derive(Default)]
struct TurnedAway(AtomicBool);

/// Looks up the weather.
#[tool(effect = idempotent)]
async fn look_up_weather(
    turned_away: &TurnedAway,
    /// Where.
    city: String,
) -> Result<String, ToolError> {
    if !turned_away.0.swap(true, Ordering::SeqCst) {
        let class = ErrorClass::NotStarted { retry_after: None };
        return Err(ToolError::new("rate_limited", "too many requests").class(class));
    }
    Ok(format!("sunny in {city}"))
}

/// Sends a parcel.
#[tool(effect = idempotent, retry(attempts = 2, delay = "50ms"))]
async fn send_parcel(
    /// To whom.
    to: String,
) -> Result<(), ToolError> {
    let message = format!("the line broke before the parcel to {to} was confirmed");
    Err(ToolError::new("connection_lost", message).class(ErrorClass::Transient))
}

/// Pays a customer back.
#[tool(approval = "it sends money")]
async fn refund(
    /// Which order.
    order: String,
) -> String {
    format!("refunded {order}")
}

pub async fn make(meter: &Meter) -> anyhow::Result<()> {
    let store = Arc::new(MemoryStore::new());
    let ada = ApproverKey::generate("ada")?;
    let executor = Executor::builder(Registry::of([LOOK_UP_WEATHER, SEND_PARCEL, REFUND])?)
        .unrestricted()
        .service(TurnedAway::default())
        .journal(
            Journal::shared(store.clone())
                .trust("ada", ada.public())
                .on_no_approver(OnNoApprover::Park)
                .trace_id(trace_id),
        )
        .metrics(meter)
        .build()?;
    let worker = executor.worker().context("the executor has no journal")?;
    let turn = async {
        for call in [
            Call::new("look_up_weather", r#"{"city":"Oslo"}"#),
            Call::new("send_parcel", r#"{"to":"eve"}"#),
        ] {
            println!("{}: {}", call.name(), executor.call(&call).await.text());
        }
        let call = Call::new("refund", r#"{"order":"A-1"}"#);
        let Outcome::Suspended(waits) = executor.submit(&call).await else {
            bail!("a refund has to be approved");
        };
        println!("refund: call {} is {}", waits.call, waits.state);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let Some(record) = store.get(waits.call).await? else { bail!("the call is gone") };
        println!("refund: made in trace {}", record.trace.as_deref().unwrap_or("none"));
        let now = Timestamp::now();
        let approve = ada.sign(&Statement::approve(&record, "ada", now))?;
        ApprovalService::new(store.clone()).submit(approve, now).await?;
        if let Outcome::Answered(answer) = worker.resume(waits.call).await {
            println!("refund: {}", answer.text());
        }
        Ok(())
    };
    turn.instrument(tracing::info_span!("agent turn")).await
}
