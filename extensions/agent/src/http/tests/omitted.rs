//! What requests go without because a model of another provider wrote it is reported.

use toolwright::Executor;

use super::*;
use crate::agent::Agent;
use crate::events::{NoticeKind, RunEvent};
use crate::history::{Verbatim, import};

const THOUGHT: &str =
    r#"[{"text":"Hm.","thought":true},{"text":"Hello.","thoughtSignature":"secret-signature"}]"#;

fn imported() -> crate::history::Imported {
    let verbatim = Verbatim::new("gemini", THOUGHT);
    import([Message::user("Hello!"), Message::assistant("Hello.", []).verbatim(verbatim)]).unwrap()
}

#[tokio::test]
async fn a_run_reports_each_message_once_whose_signature_is_left_out() {
    let server = Server::start(vec![Answers::with(200, DONE), Answers::with(200, DONE)]).await;
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let listening = Arc::clone(&reported);
    let agent = Agent::on(executor, at(&server.url()).build().unwrap());
    let agent = agent.listen(move |notice| {
        if let NoticeKind::Omitted { omitted } = notice.kind {
            let words = omitted.iter().map(|it| format!("{}: {it}", notice.turn));
            listening.lock().unwrap().extend(words);
        }
    });
    let mut run = agent.build().unwrap().new_run("r").imported(imported()).start().unwrap();
    run.send("Go.").await.unwrap();
    run.send("Go on.").await.unwrap();
    assert_eq!(
        *reported.lock().unwrap(),
        ["1: message 1 without thought, thoughtSignature of gemini"]
    );
    for request in server.requests() {
        assert!(request.contains("Hello.") && !request.contains("secret-signature"), "{request}");
    }
}

#[tokio::test]
async fn readers_of_a_runs_events_get_it_before_the_answer() {
    let server = Server::start(vec![Answers::with(200, DONE)]).await;
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let model = at(&server.url()).build().unwrap();
    let agent = Agent::on(executor, model).build().unwrap();
    let mut run = agent.new_run("r").imported(imported()).start().unwrap();
    let mut events = run.events();
    run.send("Go.").await.unwrap();
    let mut kinds = Vec::new();
    while let Some(event) = events.next().await {
        match event.kind {
            RunEvent::Omitted { omitted } => kinds.push(omitted[0].to_string()),
            RunEvent::Answered { .. } => kinds.push("answered".to_owned()),
            RunEvent::Ended(_) => break,
            _ => {}
        }
    }
    assert_eq!(kinds, ["message 1 without thought, thoughtSignature of gemini", "answered"]);
}

/// A server of the same API takes signatures of its own alone, unless it passes requests on to the one that wrote them.
#[tokio::test]
async fn a_signature_goes_to_the_server_that_wrote_it_and_to_gateways_before_it() {
    let server = Server::start(vec![Answers::with(200, DONE); 2]).await;
    let thought = r#"[{"type":"thinking","thinking":"Hm.","signature":"own"},{"type":"text","text":"Hello."}]"#;
    let verbatim = Verbatim::new("anthropic", thought);
    let history = [
        Message::user("Hello!"),
        Message::assistant("Hello.", []).verbatim(verbatim),
        Message::user("Go."),
    ];
    for (index, model) in
        [at(&server.url()).origin("anthropic"), at(&server.url())].into_iter().enumerate()
    {
        let model = model.build().unwrap();
        let listing = Registry::empty().listing(model.dialect()).unwrap();
        let answer = model.answer(ModelRequest::new(&history, &listing)).await.unwrap();
        let is_own = index == 0;
        assert_eq!(answer.omitted.is_empty(), is_own, "{:?}", answer.omitted);
        assert_eq!(server.requests()[index].contains(r#""signature":"own""#), is_own);
        let origin = if is_own { "anthropic" } else { "anthropic@127.0.0.1" };
        assert_eq!(answer.verbatim.unwrap().provider(), origin);
    }
}
