//! `#[arg(fill = …)]`: what an absent parameter becomes at the moment of the call is a final argument like any other.

use std::sync::{Arc, Mutex};

use toolwright::journal::StoredText;
use toolwright::{Call, Executor, ExecutorBuilder, Registry, tool};

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
