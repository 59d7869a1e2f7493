//! Prints the events of a run to standard error: as text for a person, or as JSON lines.

use std::io::{self, Write as _};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright_agent::{Message, NoticeKind, RunEvents, RunNotice};

use crate::said::Said;
use crate::shown;

#[derive(Clone, Copy)]
pub enum Transcript {
    Text,
    Json,
}

impl Transcript {
    pub fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    pub fn notice(self, notice: &RunNotice<'_>, said: &Said) {
        let turn = notice.turn;
        if let Some((_, agent)) = notice.run.split_once('/') {
            self.of_agent(agent, notice);
            return;
        }
        match notice.kind {
            NoticeKind::Appended { message: Message::User { text, .. } } => {
                self.write("user", turn, text);
            }
            NoticeKind::Omitted { omitted } => {
                omitted.iter().for_each(|it| self.note("left out", &it.to_string()));
            }
            NoticeKind::Answered { answer } if !answer.text.trim().is_empty() => match self {
                Self::Text => said.whole(turn, &answer.text, model_line),
                Self::Json => self.write("model", turn, &answer.text),
            },
            NoticeKind::Calling { calls } => {
                for call in calls {
                    match self {
                        Self::Text => {
                            let arguments = shown::line(&call.arguments);
                            put(&format!("[{turn}] call    {} {arguments}", shown::line(&call.name)));
                        }
                        Self::Json => put(&json!({
                            "turn": turn, "call": call.name, "id": call.id, "arguments": call.arguments,
                        }).to_string()),
                    }
                }
            }
            NoticeKind::Appended { message: Message::ToolResults(answered) } => {
                for (call, answer) in answered.iter() {
                    let (name, text) = (&call.name, answer.text());
                    match self {
                        Self::Text => {
                            let failed = if answer.is_error() { " failed" } else { "" };
                            put(&format!("[{turn}] answer  {}{failed}", shown::line(name)));
                            shown::answer(&text).iter().for_each(|line| put(&format!("    {line}")));
                        }
                        Self::Json => put(&json!({
                            "turn": turn, "answer": name, "id": call.id, "is_error": answer.is_error(), "text": text,
                        }).to_string()),
                    }
                }
            }
            _ => {}
        }
    }

    /// Prints the texts and calls of a sub-agent under its name. For the answer of a call, prints only the tool's name.
    fn of_agent(self, agent: &str, notice: &RunNotice<'_>) {
        let turn = notice.turn;
        let write = |what: &str, words: &str| match self {
            Self::Text => put(&format!("[{agent} {turn}] {what:<7} {}", shown::line(words))),
            Self::Json => put(&json!({"agent": agent, "turn": turn, what: words}).to_string()),
        };
        match notice.kind {
            NoticeKind::Appended { message: Message::User { text, .. } } => write("task", text),
            NoticeKind::Answered { answer } if !answer.text.trim().is_empty() => {
                write("model", &answer.text);
            }
            NoticeKind::Calling { calls } => {
                calls.iter().for_each(|it| write("call", &format!("{} {}", it.name, it.arguments)));
            }
            NoticeKind::Appended { message: Message::ToolResults(answered) } => {
                for (call, answer) in answered.iter() {
                    let failed = if answer.is_error() { " failed" } else { "" };
                    write("answer", &format!("{}{failed}", call.name));
                }
            }
            _ => {}
        }
    }

    /// Prints the lines of the model's text as they arrive, if the output is for a person.
    pub fn follow(self, said: &Said, events: impl FnOnce() -> RunEvents) {
        if let Self::Text = self {
            said.follow(events(), model_line);
        }
    }

    /// Prints that a request failed and when it is sent again.
    pub fn retry(self, message: &str, wait: Duration) {
        let words = format!("{message}; asked again in {} ms", wait.as_millis());
        self.note("retry", &words);
    }

    /// Prints a note that is not part of the conversation.
    pub fn note(self, what: &str, words: &str) {
        match self {
            Self::Text => put(&format!("{what}: {}", shown::line(words))),
            Self::Json => put(&Value::from_iter([(what, words)]).to_string()),
        }
    }

    fn write(self, who: &str, turn: u64, text: &str) {
        match self {
            Self::Text => {
                for line in shown::lines(text) {
                    put(&format!("[{turn}] {who:<7} {line}"));
                }
            }
            Self::Json => put(&json!({"turn": turn, who: text}).to_string()),
        }
    }
}

fn model_line(turn: u64, line: &str) {
    put(&format!("[{turn}] {:<7} {line}", "model"));
}

/// Prints a line to standard error. If the stream is closed, the line is lost.
fn put(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
