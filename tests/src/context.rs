//! The context is the call itself: who it is, for whom, and whether it is still wanted.

use std::path::PathBuf;

use serde_json::json;
use toolwright::{Call, ToolContext, ToolEventKind, data, tool};

use crate::support::{Log, builder, executor};

/// What a context says.
#[data]
struct Said {
    call: String,
    key: String,
    provider: Option<String>,
    run: Option<String>,
    tool: String,
}

/// Says what the context says.
#[tool(effect = read)]
async fn say_context(context: &ToolContext) -> Said {
    Said {
        call: context.call_id().to_string(),
        key: context.idempotency_key(),
        provider: context.provider_id().map(str::to_owned),
        run: context.run_id().map(str::to_owned),
        tool: context.tool().to_owned(),
    }
}

#[tokio::test]
async fn a_context_names_its_call_its_run_and_its_tool() {
    let executor = executor([SAY_CONTEXT]).run("run-7").start().unwrap();
    let first = executor.call(&Call::new("say_context", "{}").id("toolu_1")).await;
    let first = first.structured().unwrap();
    assert_eq!(first["provider"], "toolu_1");
    assert_eq!(first["run"], "run-7");
    assert_eq!(first["tool"], "say_context");
    let second = executor.call(&Call::new("say_context", "{}")).await.structured().unwrap();
    assert_eq!(second["provider"], json!(null));
    assert_ne!(first["call"], second["call"]);
    assert_ne!(first["key"], second["key"]);
}

#[tokio::test]
async fn events_and_context_give_a_call_the_same_id() {
    let log = Log::default();
    let heard = log.clone();
    let executor = builder([SAY_CONTEXT])
        .listen(move |event| heard.add(event.call.to_string()))
        .build()
        .unwrap();
    let said = executor.call(&Call::new("say_context", "{}")).await.structured().unwrap();
    assert!(log.lines().iter().all(|id| said["call"] == id.as_str()));
}

/// Tells how far it is.
#[tool(effect = read)]
async fn tell_progress(context: &ToolContext) {
    context.progress("half way", Some(0.5));
    context.progress("nearly there", None);
}

#[tokio::test]
async fn progress_reaches_listeners_in_words_and_as_a_part() {
    let log = Log::default();
    let heard = log.clone();
    let executor = builder([TELL_PROGRESS])
        .listen(move |event| {
            if let ToolEventKind::Progress { message, part } = event.kind {
                heard.add(format!("{message} {part:?}"));
            }
        })
        .build()
        .unwrap();
    executor.call(&Call::new("tell_progress", "{}")).await;
    assert_eq!(log.lines(), ["half way Some(0.5)", "nearly there None"]);
}

#[tokio::test]
async fn a_context_for_unit_tests_belongs_to_no_run_and_is_not_cancelled() {
    let context = ToolContext::test();
    tell_progress(&context).await;
    assert_eq!(context.run_id(), None);
    assert!(!context.is_cancelled());
}

/// The project that a run works on.
struct Project {
    id: &'static str,
    folder: PathBuf,
}

/// The ticket that a run works on.
struct Ticket(u32);

/// Tickets by number.
struct Database(Vec<&'static str>);

/// Says what the run works on.
#[tool(effect = read)]
async fn say_ticket(project: &Project, ticket: &Ticket, database: &Database) -> String {
    format!("{} {} {}", project.id, database.0[ticket.0 as usize], project.folder.display())
}

/// S4.40: project, ticket, workspace and database come with the run, so two runs of one executor
/// see each their own.
#[tokio::test]
async fn each_run_brings_its_own_project_and_ticket() {
    let executor = builder([SAY_TICKET])
        .service(Database(vec!["write", "test"]))
        .per_run::<Project>()
        .per_run::<Ticket>()
        .build()
        .unwrap();
    let run = |id: &'static str, ticket| {
        let project = Project { id, folder: PathBuf::from("/projects").join(id) };
        executor.run(id).with(project).with(Ticket(ticket)).start().unwrap()
    };
    let (red, blue) = (run("red", 0), run("blue", 1));
    let call = || Call::new("say_ticket", "{}");
    assert_eq!(red.call(&call()).await.text(), "red write /projects/red");
    assert_eq!(blue.call(&call()).await.text(), "blue test /projects/blue");
}

/// Says for which ticket it was called.
#[tool(effect = read)]
async fn say_ticket_of_call(ticket: &TicketOfCall) -> u32 {
    ticket.0
}

/// A ticket that a call brings.
struct TicketOfCall(u32);

#[tokio::test]
async fn of_two_services_of_one_type_that_a_call_brings_the_last_counts() {
    let executor = builder([SAY_TICKET_OF_CALL]).per_call::<TicketOfCall>().build().unwrap();
    let call = Call::new("say_ticket_of_call", "{}").with(TicketOfCall(1)).with(TicketOfCall(2));
    assert_eq!(executor.call(&call).await.text(), "2");
}
