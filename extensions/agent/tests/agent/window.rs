//! A history that outgrows the window of its model: what is sent, what is reported, and what the run keeps.

mod of_the_model;
mod summaries;

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::tool;
use toolwright_agent::{
    Agent, BeforeDecision, Guard, Message, Model, ModelAnswer, ModelError, ModelRequest,
    NoticeKind, RunEnd, ScriptedModel,
};

use crate::support::outline;

/// Reads a page.
#[tool(effect = read)]
async fn read_page(
    /// Which.
    page: u32,
) -> String {
    format!("page {page} {}", "word ".repeat(600))
}

#[tokio::test]
async fn a_run_of_many_turns_ends_under_a_small_window_as_it_does_under_a_whole_one() {
    let mut sizes = Vec::new();
    for window in [None, Some(16_000)] {
        let mut model = ScriptedModel::new();
        for turn in 0..60 {
            let input = format!(r#"{{"page":{}}}"#, turn % 20);
            model = model.calls([("read_page", input.as_str())]);
        }
        let model = Arc::new(model.says("Done."));
        let reported = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&reported);
        let agent = Agent::builder(Arc::clone(&model)).tools([READ_PAGE]).max_turns(100);
        let agent = agent.listen(move |notice| {
            if let NoticeKind::Compacted { before, after, is_too_long } = notice.kind {
                assert!(after < before && !is_too_long);
                heard.lock().unwrap().push(after);
            }
        });
        let agent = window.into_iter().fold(agent, |agent, window| agent.window(window));
        let mut run = agent.build().unwrap().new_run("r").start().unwrap();
        let ended = run.send("Read the book.").await.unwrap();
        assert!(matches!(ended, RunEnd::Text { text, .. } if text == "Done."));
        assert_eq!(run.history().len(), 122, "the run keeps its whole history");

        let requests = model.requests();
        let bytes = |it: &[Message]| serde_json::to_string(it).unwrap().len();
        let all: Vec<usize> = requests.iter().map(|it| bytes(&it.history)).collect();
        let most = all.iter().copied().max().unwrap();
        sizes.push(most);
        if window.is_some() {
            // Three bytes are counted as a token; what JSON adds is not.
            assert!(most < 16_000 * 4, "{all:?}");
            let reported = reported.lock().unwrap().len();
            assert!((2..20).contains(&reported), "{reported}");
        } else {
            assert!(reported.lock().unwrap().is_empty());
        }
    }
    assert!(sizes[0] > 3 * sizes[1], "{sizes:?}");
}

#[tokio::test]
async fn words_of_the_user_that_are_larger_than_the_window_are_reported_and_sent() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&reported);
    let model = Arc::new(ScriptedModel::new().says("Done."));
    let agent = Agent::builder(Arc::clone(&model)).window(2_000).listen(move |notice| {
        if let NoticeKind::Compacted { is_too_long, .. } = notice.kind {
            heard.lock().unwrap().push(is_too_long);
        }
    });
    let words = "word ".repeat(5_000);
    agent.build().unwrap().new_run("r").start().unwrap().send(words.clone()).await.unwrap();
    assert_eq!(*reported.lock().unwrap(), [true]);
    let Message::User { text, .. } = &model.requests()[0].history[0] else { panic!("the words") };
    assert_eq!(*text, words);
}

/// A model whose server has compacted what comes before an answer that says so.
struct Compacting(ScriptedModel);

impl Model for Compacting {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dialect(&self) -> Dialect {
        Model::dialect(&self.0)
    }

    fn first_read(&self, history: &[Message]) -> usize {
        let is_compacted = |it: &Message| matches!(it, Message::Assistant { text, .. } if text.contains("[compacted]"));
        history.iter().rposition(is_compacted).unwrap_or(0)
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.0.answer(request)
    }
}

#[tokio::test]
async fn a_guard_that_removes_the_compaction_of_a_server_brings_back_the_messages_before_it() {
    let without_name = ["model: [compacted] Hello …. +0", "user: Who am I?"].as_slice();
    let whole = ["user: I am Lyra.", "model: … Hello Lyra. +0", "user: Who am I?"].as_slice();
    for (removed, expected) in [("Lyra", without_name), ("[compacted]", whole)] {
        let script = ScriptedModel::new().says("[compacted] Hello Lyra.").says("Lyra.");
        let model = Arc::new(Compacting(script));
        let hide = Guard::before_model("hides", move |request| async move {
            let is_there = |text: &str| text.starts_with("[compacted]") && text.contains(removed);
            let hidden =
                request.map_texts(|text| is_there(text).then(|| text.replace(removed, "…")));
            match hidden {
                Some(change) => BeforeDecision::change(change, "it is not sent"),
                None => BeforeDecision::Continue,
            }
        });
        let agent = Agent::builder(Arc::clone(&model)).guard(hide).build().unwrap();
        let mut chat = agent.chat();
        chat.send("I am Lyra.").await.unwrap();
        chat.send("Who am I?").await.unwrap();
        let requests = model.0.requests();
        assert_eq!(outline(&requests[1].history), expected, "without `{removed}`");
    }
}

/// Charges an account, and does not say whether that happened.
#[tool(effect = once)]
async fn charge() -> String {
    panic!("on purpose")
}

#[tokio::test]
async fn an_answer_that_does_not_say_whether_something_was_changed_is_never_left_out() {
    let mut model = ScriptedModel::new().calls([("charge", "{}")]);
    for page in 0..20 {
        model = model.calls([("read_page", format!(r#"{{"page":{page}}}"#).as_str())]);
    }
    let model = Arc::new(model.says("Done."));
    let agent = Agent::builder(Arc::clone(&model)).tools([READ_PAGE, CHARGE]).unrestricted();
    let agent = agent.window(6_000).max_turns(100).build().unwrap();
    agent.run("Charge it, and read the book.").await.unwrap();
    let requests = model.requests();
    let last = &requests.last().unwrap().history;
    assert!(last.len() < 30, "turns were left out");
    let Message::ToolResults(answered) = &last[2] else { panic!("{:?}", outline(last)) };
    assert_eq!(answered[0].1.error().map(|it| it.kind()), Some("panic"));
}
