//! Answers for which nobody waits any more: what their requests took is counted all the same.

use toolwright::CancellationToken;

use super::server::End;
use super::streamed::{BEGIN, MIDDLE, stream, whole};
use super::*;
use crate::agent::{Agent, AgentBuilder};
use crate::events::{RunEnd, RunEvent};
use crate::limits::{Accounts, TotalUsage, Usage};
use crate::model::Fallback;

/// What the begin of an answer says, which may have taken more.
fn begun() -> TotalUsage {
    TotalUsage::of(Some(Usage::new(5, 1)), None).plus(TotalUsage::lost())
}

fn agent(model: impl Model + 'static) -> AgentBuilder {
    Agent::builder(model)
}

fn hangs() -> Answers {
    stream(&[BEGIN, MIDDLE], End::Never)
}

#[tokio::test]
async fn a_run_that_is_cancelled_in_the_middle_of_an_answer_has_spent_what_its_begin_says() {
    let cut = || stream(&[BEGIN], End::Cut);
    let server = Server::start(vec![cut(), Answers::with(529, BUSY), hangs()]).await;
    let other = Server::start(vec![cut()]).await;
    let first = at(&other.url()).retry(RetryPolicy::NONE).build().unwrap();
    let second = at(&server.url()).build().unwrap();
    let model = Fallback::builder(first).then(second).build();
    let (token, accounts) = (CancellationToken::new(), Accounts::new());
    let agent = agent(model).accounts(accounts.clone()).build().unwrap();
    let mut run = agent.new_run("r").user("ada").cancelled_by(token.clone()).start().unwrap();
    let mut events = run.events();
    let cancel = async {
        while let Some(event) = events.next().await {
            if matches!(event.kind, RunEvent::Text(_)) {
                return token.cancel();
            }
        }
    };
    let (ended, ()) = tokio::join!(run.send("Go."), cancel);
    assert_eq!(ended.unwrap(), RunEnd::Cancelled);
    let all = begun().plus(begun()).plus(begun());
    assert_eq!(run.state().spent(), all, "of one model, and of two requests to the other");
    assert_eq!(accounts.of(Some("ada")), run.state().spent());
}

#[tokio::test]
async fn a_run_that_is_dropped_in_the_middle_of_an_answer_counts_it_when_it_goes_on() {
    let server = Server::start(vec![hangs(), whole()]).await;
    let accounts = Accounts::new();
    let model = at(&server.url()).build().unwrap();
    let agent = agent(model).accounts(accounts.clone()).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let mut events = run.events();
    let heard = async {
        while let Some(event) = events.next().await {
            if matches!(event.kind, RunEvent::Text(_)) {
                return;
            }
        }
    };
    tokio::select! {
        ended = run.send("Go.") => panic!("{ended:?}"),
        () = heard => {}
    }
    assert!(matches!(run.resume().await.unwrap(), RunEnd::Text { .. }));
    let whole = TotalUsage::of(Some(Usage::new(5, 9)), None);
    assert_eq!(run.state().spent(), begun().plus(whole));
    assert_eq!(accounts.total(), run.state().spent());
}

#[tokio::test]
async fn a_model_that_hangs_in_the_middle_of_an_answer_has_spent_what_its_begin_says() {
    let (slow, server) = (Server::start(vec![hangs()]).await, Server::start(vec![whole()]).await);
    let (slow, second) = (at(&slow.url()).build().unwrap(), at(&server.url()).build().unwrap());
    let model = Fallback::builder(slow).then(second).budget(Duration::from_secs(4)).build();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let (history, listening) = ([Message::user("Go.")], super::streamed::Listening::default());
    let request = ModelRequest::new(&history, &listing).listener(&listening);
    assert_eq!(model.answer(request).await.unwrap().failed, begun());
}
