//! A provider that answers as a test says, on loopback.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolwright::provider::Provider;
use toolwright_agent::recording::{Exchange, RecordedRequest, RecordedResponse, Recording};
use toolwright_agent::testing::{Placeholders, Replay};

use crate::{Ran, coder, run};

/// What the provider answers next.
pub struct Said {
    status: u16,
    header: Option<(&'static str, &'static str)>,
    body: String,
}

pub fn status(status: u16, body: impl ToString) -> Said {
    Said { status, header: None, body: body.to_string() }
}

impl Said {
    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }
}

/// A message of Anthropic with these blocks.
pub fn message(content: Value, stop: &str) -> Said {
    let body =
        json!({"type": "message", "role": "assistant", "content": content, "stop_reason": stop});
    status(200, body)
}

pub fn text(words: &str) -> Said {
    message(json!([{"type": "text", "text": words}]), "end_turn")
}

pub fn call(name: &str, input: Value) -> Said {
    message(
        json!([{"type": "tool_use", "id": "toolu_1", "name": name, "input": input}]),
        "tool_use",
    )
}

/// Answers every request with the next of these, for as long as the future is polled.
pub async fn serve(said: Vec<Said>) -> Replay {
    let exchanges = said.into_iter().map(|said| {
        let mut response = RecordedResponse::new(said.status, &said.body);
        let header = said.header.map(|(name, value)| (name.to_owned(), value.to_owned()));
        response.headers.extend(header);
        Exchange { request: RecordedRequest::new("POST", "/", "{}").unwrap(), response }
    });
    let recording = Recording::new(Provider::Anthropic, exchanges.collect());
    Replay::of(recording, Placeholders::standard()).without_comparison().start().await.unwrap()
}

/// `coder run` against such a provider, which has to be asked for all that it has to say.
pub fn asked(folder: &Path, words: &[&str], said: Vec<Said>) -> Ran {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let replay = runtime.block_on(serve(said));
    let ran = run(against(&replay.url(), folder, words));
    replay.finish().unwrap_or_else(|error| panic!("{error}\n{}{}", ran.out, ran.err));
    ran
}

pub fn against(url: &str, folder: &Path, words: &[&str]) -> Command {
    let mut command = coder(&["run", "say hello", "--base-url", url, "--folder"]);
    command.arg(folder).args(words).env("ANTHROPIC_API_KEY", "hunter2");
    command
}
