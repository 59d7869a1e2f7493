//! Whatever a tool does and whoever gives up on it: every call gets exactly one answer, or is
//! abandoned once; what was opened is closed or dropped once; and every place is given back.

use std::time::Duration;

use futures::future::join_all;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;
use toolwright::{Call, Executor, ToolError, tool};

use crate::support::{Held, Log, PING, answer, builder, call, kind, word};

/// How a tool behaves.
#[toolwright::data]
#[derive(Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Script {
    /// Gives a result.
    Return,
    /// Gives an error.
    Fail,
    /// Panics before it waits for anything.
    PanicAtOnce,
    /// Panics after it waited.
    PanicLater,
    /// Takes its time.
    Sleep(u64),
    /// Never ends.
    Hang,
}

/// Behaves as the script says.
#[tool(limit = 2)]
async fn play(
    held: &mut Held<1>,
    /// How to behave.
    script: Script,
) -> Result<&'static str, ToolError> {
    let _ = held;
    // Raised without the panic hook, which would print a backtrace for each.
    let panic = || std::panic::resume_unwind(Box::new("a defect"));
    match script {
        Script::Return => {}
        Script::Fail => return Err(ToolError::new("failed", "as told")),
        Script::PanicAtOnce => panic(),
        Script::PanicLater => {
            tokio::time::sleep(Duration::from_millis(1)).await;
            panic();
        }
        Script::Sleep(milliseconds) => {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await
        }
        Script::Hang => crate::support::forever().await,
    }
    Ok("played")
}

/// What happens to a call from outside.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Wanted,
    CancelledAfter(u64),
    DroppedAfter(u64),
}

fn script() -> impl Strategy<Value = Script> {
    prop_oneof![
        Just(Script::Return),
        Just(Script::Fail),
        Just(Script::PanicAtOnce),
        Just(Script::PanicLater),
        (0_u64..60).prop_map(Script::Sleep),
        Just(Script::Hang),
    ]
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        3 => Just(Fate::Wanted),
        1 => (0_u64..60).prop_map(Fate::CancelledAfter),
        1 => (0_u64..60).prop_map(Fate::DroppedAfter),
    ]
}

/// One call to its end: the kind of its answer, or nothing where it was dropped.
async fn live(executor: &Executor, number: usize, script: Script, fate: Fate) -> Option<String> {
    let arguments = serde_json::json!({"script": script}).to_string();
    let call = Call::new("play", arguments).id(number.to_string());
    match fate {
        Fate::Wanted => Some(kind(&executor.call(&call).await)),
        Fate::CancelledAfter(milliseconds) => {
            let token = CancellationToken::new();
            let running = answer(executor, call.cancelled_by(token.clone()));
            let cancelling = async {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                token.cancel();
            };
            Some(kind(&tokio::join!(running, cancelling).0))
        }
        Fate::DroppedAfter(milliseconds) => {
            let time = Duration::from_millis(milliseconds);
            tokio::time::timeout(time, executor.call(&call)).await.ok().map(|answer| kind(&answer))
        }
    }
}

/// Time is paused and jumps when nothing else can happen, so that what waits for ever fails at once.
async fn patiently<T>(future: impl Future<Output = T>) -> T {
    let an_hour = Duration::from_secs(3600);
    tokio::time::timeout(an_hour, future).await.expect("every call and every drain ends")
}

fn fits(script: Script, fate: Fate, kind: &str, drained: bool) -> bool {
    let own = match script {
        Script::Return => kind == "ok",
        Script::Fail => kind == "failed",
        Script::PanicAtOnce | Script::PanicLater => kind == "panic",
        Script::Sleep(_) => matches!(kind, "ok" | "timeout"),
        Script::Hang => kind == "timeout",
    };
    own || (kind == "cancelled" && (drained || matches!(fate, Fate::CancelledAfter(_))))
        || (kind == "shutting_down" && drained)
}

proptest! {
    #[test]
    fn every_call_is_answered_or_abandoned_exactly_once(
        calls in prop::collection::vec((script(), fate()), 1..7),
        limit in 1_u32..4,
        drain in prop::option::of((0_u64..60, 0_u64..60)),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (ends, resources) = (Log::default(), Log::default());
        let heard = ends.clone();
        let executor = builder([PLAY, PING])
            .resource(Held::<1>::opener(&resources))
            .timeout(Some(Duration::from_millis(40)))
            .limit(limit)
            .listen(move |event| {
                let kind = word(&event.kind);
                if matches!(kind, "completed" | "failed" | "abandoned") {
                    heard.add(format!("{} {kind}", event.provider_id.unwrap_or("last")));
                }
            })
            .build()
            .unwrap();
        let answers = runtime.block_on(async {
            let living = join_all(calls.iter().enumerate().map(|(number, (script, fate))| {
                live(&executor, number, *script, *fate)
            }));
            let draining = async {
                let Some((after, grace)) = drain else { return };
                tokio::time::sleep(Duration::from_millis(after)).await;
                let _ = executor.drain(Duration::from_millis(grace)).await;
            };
            patiently(async { tokio::join!(living, draining).0 }).await
        });

        for (number, (answer, (script, fate))) in answers.iter().zip(&calls).enumerate() {
            let ends: Vec<String> = ends
                .lines()
                .into_iter()
                .filter_map(|end| end.strip_prefix(&format!("{number} ")).map(str::to_owned))
                .collect();
            let expected = match answer.as_deref() {
                None => vec!["abandoned"],
                Some("ok") => vec!["completed"],
                Some(_) => vec!["failed"],
            };
            prop_assert_eq!(ends, expected, "call {} was answered {:?}", number, answer);
            if let Some(kind) = answer {
                prop_assert!(fits(*script, *fate, kind, drain.is_some()), "{:?} gave {}", script, kind);
            }
        }

        let ended = ["close 1 Succeeded", "close 1 Failed", "drop 1"];
        let ended: usize = ended.iter().map(|line| resources.count(line)).sum();
        prop_assert_eq!(resources.count("open 1"), ended);

        // With every place given back, as many calls as there are places run at once.
        let last = join_all((0..limit).map(|_| answer(&executor, call("ping"))));
        let last = runtime.block_on(patiently(last));
        let expected = if drain.is_some() { "shutting_down" } else { "ok" };
        prop_assert!(last.iter().all(|answer| kind(answer) == expected));
        let again = Call::new("play", r#"{"script":"return"}"#);
        let again = runtime.block_on(patiently(executor.call(&again)));
        prop_assert_eq!(kind(&again), expected);
    }
}
