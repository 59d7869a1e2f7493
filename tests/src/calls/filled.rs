//! `#[arg(fill = …)]`: what an absent parameter becomes at the moment of the call is a final argument like any other.

use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use toolwright::journal::StoredText;
use toolwright::{
    BeforeCall, Call, Executor, ExecutorBuilder, Middleware, MiddlewareCall, Registry, ToolError,
    tool,
};

use super::support::{Office, Ran, answered, office, suspended};

/// Where the desk is now.
struct Desk(Mutex<Option<&'static str>>);

impl Desk {
    fn at(place: &'static str) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(place))))
    }

    fn place(&self) -> Option<String> {
        self.0.lock().unwrap().map(ToOwned::to_owned)
    }

    fn move_to(&self, place: Option<&'static str>) {
        *self.0.lock().unwrap() = place;
    }
}

/// Puts something down.
#[tool(name = "filled_put", approval = asked(&thing, place.as_deref()), writes(file = place.clone()))]
async fn put(
    ran: &Ran,
    desk: &Desk,
    /// What.
    thing: String,
    /// Where; on the desk unless given.
    #[arg(fill = desk.place())]
    place: Option<String>,
) -> String {
    // The attribute alone needs it.
    let _ = desk;
    let words = format!("{thing} at {}", place.as_deref().unwrap_or("no place"));
    ran.add(words.clone());
    words
}

fn asked(thing: &str, place: Option<&str>) -> Option<String> {
    (thing == "glass").then(|| format!("it may break at {}", place.unwrap_or("no place")))
}

fn builder(office: &Office, desk: &Arc<Desk>) -> ExecutorBuilder {
    Executor::builder(Registry::of([PUT]).unwrap())
        .unrestricted()
        .service_arc(Arc::clone(&office.ran))
        .service_arc(Arc::clone(desk))
}

fn journalled(office: &Office, desk: &Arc<Desk>) -> Executor {
    builder(office, desk).journal(office.parking()).build().unwrap()
}

fn call(arguments: &str) -> Call<'_> {
    Call::new("filled_put", arguments)
}

#[tokio::test]
async fn an_absent_parameter_becomes_what_the_services_say_and_a_given_one_stays() {
    let (office, desk) = (office(), Desk::at("north"));
    let executor = builder(&office, &desk).build().unwrap();
    assert_eq!(executor.call(&call(r#"{"thing":"pen"}"#)).await.text(), "pen at north");
    assert_eq!(
        executor.call(&call(r#"{"thing":"pen","place":"east"}"#)).await.text(),
        "pen at east"
    );
    let facts = executor.examine(&call(r#"{"thing":"glass"}"#)).unwrap();
    assert_eq!(facts.approval.as_deref(), Some("it may break at north"));
    let written = facts.touches().unwrap().resources_written().unwrap();
    assert_eq!(written[0].to_string(), "file `north`");
    desk.move_to(None);
    assert_eq!(executor.call(&call(r#"{"thing":"pen"}"#)).await.text(), "pen at no place");
}

#[tokio::test]
async fn what_was_filled_in_is_shown_recorded_and_run_whatever_the_services_say_later() {
    let (office, desk) = (office(), Desk::at("north"));
    let executor = journalled(&office, &desk);
    let id = suspended(executor.submit(&call(r#"{"thing":"glass"}"#)).await).call;
    let record = office.record(id).await;
    assert_eq!(record.raw, StoredText::Plain(r#"{"thing":"glass"}"#.to_owned()));
    assert_eq!(record.shown, r#"{"thing":"glass","place":"north"}"#);
    assert_eq!(record.arguments, StoredText::Plain(record.shown.clone()));
    assert_eq!(record.ask.unwrap().reason, "it may break at north");
    // Another process, in which the desk is elsewhere.
    let moved = journalled(&office, &Desk::at("south"));
    office.approve(id).await.unwrap();
    assert_eq!(answered(moved.worker().unwrap().resume(id).await).text(), "glass at north");
    // The decision was about that place: elsewhere it is another call.
    let other = suspended(moved.submit(&call(r#"{"thing":"glass"}"#)).await).call;
    assert_ne!(office.record(other).await.digest, record.digest);
}

#[tokio::test]
async fn the_same_call_of_a_turn_is_known_by_what_was_sent() {
    let (office, desk) = (office(), Desk::at("north"));
    let run = journalled(&office, &desk).run("r").start().unwrap();
    let turn = || async { run.submit_turn(1, &[call(r#"{"thing":"pen"}"#)]).await.remove(0) };
    assert_eq!(answered(turn().await).text(), "pen at north");
    desk.move_to(Some("south"));
    assert_eq!(answered(turn().await).text(), "pen at north");
    assert_eq!(office.ran.times(), 1);
}

/// Draws a ticket, each time another.
#[tool(name = "filled_draw", validate = |ran, ticket| note_rule(ran, ticket))]
async fn draw(
    ran: &Ran,
    /// Which; the next one unless given.
    #[arg(fill = u32::try_from(ran.times()).ok())]
    ticket: Option<u32>,
) -> u32 {
    ran.add(format!("drew {ticket:?}"));
    ticket.unwrap_or_default()
}

fn note_rule(ran: &Ran, ticket: Option<u32>) -> Result<(), ToolError> {
    ran.add(format!("rule {ticket:?}"));
    Ok(())
}

/// Lets every call through.
struct Through;

impl Middleware for Through {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        Box::pin(ready(BeforeCall::Continue))
    }
}

#[tokio::test]
async fn the_rule_of_a_tool_sees_the_filled_values_that_run() {
    let tool = || Executor::builder(Registry::of([DRAW]).unwrap()).unrestricted();
    let staged = tool().middleware(Through);
    let (seen, run_by) = ("rule Some(0)", "drew Some(0)");
    for (builder, expected) in [(tool(), vec![seen, run_by]), (staged, vec![seen, seen, run_by])] {
        let office = office();
        let executor = builder.service_arc(Arc::clone(&office.ran)).build().unwrap();
        assert_eq!(executor.call(&Call::new("filled_draw", "{}")).await.text(), "0");
        assert_eq!(office.ran.all(), expected);
    }
}

/// What a rule looks at is what a policy looks at, and the answer says what was repaired.
#[tokio::test]
async fn the_answer_of_a_call_with_a_rule_says_what_was_repaired_of_it() {
    let office = office();
    let builder = Executor::builder(Registry::of([DRAW]).unwrap()).unrestricted();
    let executor = builder.service_arc(Arc::clone(&office.ran)).build().unwrap();
    let answer = executor.call(&Call::new("filled_draw", r#"{"ticket":"7"}"#)).await;
    assert_eq!(answer.text(), "7");
    assert_eq!(answer.repairs().map(|it| it.changes().len()), Some(1));
}
