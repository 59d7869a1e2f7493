//! The model. Its answers follow from the run and the turn, but each answer has new ids for its calls. So the check
//! finds a process that asks again after an answer was recorded, or that runs a call of an answer that was not
//! recorded.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright::dialect::Dialect;
use toolwright::provider::ToolCall;
use toolwright_agent::{Message, Model, ModelAnswer, ModelError, ModelRequest};

use super::course::Course;
use super::point::AgentPoint;
use super::store::Fatal;
use super::turns::TurnNote;
use crate::line;

const TOOLS: [&str; 7] = ["look", "note", "send", "pay", "ship", "pay_asked", "send_asked"];
const MANNERS: [&str; 8] = ["plain", "plain", "plain", "plain", "slow", "wrong", "busy", "flaky"];

/// A request to the model.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asked {
    /// The number of the process that asked.
    pub life: u32,
    /// The id of the run, or the task of the sub-agent.
    pub run: String,
    pub turn: u64,
    /// How many turns the plugin has counted; `None` for a sub-agent, which has no plugin.
    pub counted: Option<u64>,
}

/// The beginning of a sub-agent's task. A number that no other task has follows.
pub const TASK: &str = "task-";

/// Reads the requests to the model in a folder.
///
/// # Errors
/// When they cannot be read.
pub fn asked(folder: &Path) -> io::Result<Vec<Asked>> {
    crate::marks::lines(&path(folder))
}

fn path(folder: &Path) -> PathBuf {
    folder.join("asked")
}

/// How often the model repeats a sentence beside its calls: so often that three turns outgrow the window.
const THOUGHTS: usize = 850;

/// The name of the sub-agent.
pub const HELPER: &str = "helper";

/// The model that writes the summaries. All summaries are equal.
pub struct Summarizer;

impl Model for Summarizer {
    fn name(&self) -> &'static str {
        "summarizer"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async { Ok(ModelAnswer::text("Things were done.")) })
    }
}

pub struct ScriptedModel {
    seed: u64,
    life: u32,
    answers: AtomicU32,
    asked: File,
    fatal: Fatal,
}

impl ScriptedModel {
    pub fn new(folder: &Path, seed: u64, life: u32, fatal: Fatal) -> io::Result<Self> {
        let asked = OpenOptions::new().append(true).create(true).open(path(folder))?;
        Ok(Self { seed, life, answers: AtomicU32::new(0), asked, fatal })
    }

    fn log(&self, asked: &Asked) -> io::Result<()> {
        (&self.asked).write_all(line::of(asked)?.as_bytes())?;
        self.asked.sync_data()
    }

    fn said(&self, request: &ModelRequest<'_>) -> io::Result<ModelAnswer> {
        let mut said = request.history.iter().filter_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        if let Some(task) = said.clone().find(|text| text.starts_with(TASK)) {
            return self.answer_as_sub_agent(task, request.history);
        }
        let number = said.find_map(|text| text.parse::<u64>().ok());
        let number = number.ok_or_else(|| io::Error::other("no run is named in the history"))?;
        let note = TurnNote::read(request.instructions);
        let note = note.ok_or_else(|| io::Error::other("no turn is named in the instructions"))?;
        let (turn, run) = (note.turn, note.run.to_owned());
        self.log(&Asked { life: self.life, run, turn, counted: Some(note.counted) })?;
        let course = Course::of(self.seed, number);
        if course.is_text(turn) {
            return Ok(ModelAnswer::text("done"));
        }
        let waits_for_ever = course.waits_for_ever(turn);
        let calls = self.calls(number, turn, waits_for_ever, true);
        Ok(ModelAnswer::new("I look at it. ".repeat(THOUGHTS), calls))
    }

    /// Answers a task with at most two turns of calls.
    fn answer_as_sub_agent(&self, task: &str, history: &[Message]) -> io::Result<ModelAnswer> {
        let before = history.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
        let turn = u64::try_from(before).unwrap_or(u64::MAX) + 1;
        self.log(&Asked { life: self.life, run: task.to_owned(), turn, counted: None })?;
        let number: u64 = task.trim_start_matches(TASK).parse().map_err(io::Error::other)?;
        if turn > number % 3 {
            return Ok(ModelAnswer::text("done"));
        }
        Ok(ModelAnswer::new("", self.calls(number, turn, false, false)))
    }

    /// Returns the calls of a turn. Some of them give a task to a sub-agent if `delegates` allows it.
    fn calls(&self, run: u64, turn: u64, waits_for_ever: bool, delegates: bool) -> Vec<ToolCall> {
        let number = self.answers.fetch_add(1, Ordering::SeqCst);
        let mut random =
            fastrand::Rng::with_seed(self.seed ^ (run << 20) ^ (turn << 10) ^ u64::from(self.life));
        let count = random.u32(1..=3);
        let mut call = |index: u32, waits_for_ever: bool| {
            let tool = TOOLS[random.usize(..TOOLS.len())];
            let manner = MANNERS[random.usize(..MANNERS.len())];
            let (tool, manner, said) =
                match (waits_for_ever, tool.ends_with("_asked"), random.u32(0..4)) {
                    (true, ..) => ("pay_asked", "plain", "ignore"),
                    (_, false, _) => (tool, manner, "nothing"),
                    (_, true, 0) => (tool, manner, "reject"),
                    (_, true, _) => (tool, manner, "approve"),
                };
            let token = format!("r{run}-t{turn}-c{index}-l{}-n{number}", self.life);
            let amount = random.u32(1..100);
            if delegates && !waits_for_ever && random.u32(0..5) == 0 {
                let number = u64::from(self.life) * 100_000 + u64::from(number * 10 + index);
                let arguments = json!({"agent": HELPER, "task": format!("{TASK}{number}")});
                let (id, name) = (Some(token), "spawn_agent".to_owned());
                return ToolCall { id, name, arguments: arguments.to_string() };
            }
            let arguments =
                json!({"token": token, "manner": manner, "said": said, "amount": amount});
            let (id, name) = (Some(token), tool.to_owned());
            ToolCall { id, name, arguments: arguments.to_string() }
        };
        let mut calls: Vec<_> = (0..count).map(|index| call(index, false)).collect();
        if waits_for_ever {
            calls.push(call(count, true));
        }
        calls
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let said = self.said(&request);
            let said = said.map_err(|error| ModelError::new("harness", error.to_string()))?;
            self.fatal.reached(AgentPoint::InModel);
            Ok(said)
        })
    }
}
