//! The model. Its answers depend only on the run and the turn, but no two answers give a call the same name. So the
//! check finds a process that asks again after an answer was recorded, or runs a call of an answer that was not.

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
use crate::line;

const TOOLS: [&str; 7] = ["look", "note", "send", "pay", "ship", "pay_asked", "send_asked"];
const MANNERS: [&str; 8] = ["plain", "plain", "plain", "plain", "slow", "wrong", "busy", "flaky"];

/// A request to the model.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asked {
    /// The process that asked.
    pub life: u32,
    pub run: u64,
    pub turn: u64,
}

/// Returns the requests of a folder.
///
/// # Errors
/// When they cannot be read.
pub fn asked(folder: &Path) -> io::Result<Vec<Asked>> {
    crate::marks::lines(&path(folder))
}

fn path(folder: &Path) -> PathBuf {
    folder.join("asked")
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

    fn said(&self, history: &[Message]) -> io::Result<ModelAnswer> {
        let run = history.iter().find_map(|message| match message {
            Message::User { text, .. } => text.parse::<u64>().ok(),
            _ => None,
        });
        let run = run.ok_or_else(|| io::Error::other("no run is named in the history"))?;
        let before = history.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
        let turn = u64::try_from(before).unwrap_or(u64::MAX) + 1;
        let line = line::of(&Asked { life: self.life, run, turn })?;
        (&self.asked).write_all(line.as_bytes())?;
        self.asked.sync_data()?;
        let course = Course::of(self.seed, run);
        if course.is_text(turn) {
            return Ok(ModelAnswer::text("done"));
        }
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
            let arguments =
                json!({"token": token, "manner": manner, "said": said, "amount": amount});
            let (id, name) = (Some(token), tool.to_owned());
            ToolCall { id, name, arguments: arguments.to_string() }
        };
        let mut calls: Vec<_> = (0..count).map(|index| call(index, false)).collect();
        if course.waits_for_ever(turn) {
            calls.push(call(count, true));
        }
        Ok(ModelAnswer::new("", calls))
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
            let said = self.said(request.history);
            let said = said.map_err(|error| ModelError::new("harness", error.to_string()))?;
            self.fatal.reached(AgentPoint::InModel);
            Ok(said)
        })
    }
}
