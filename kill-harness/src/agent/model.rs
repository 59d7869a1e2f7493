//! The model: what it says follows from the run and the turn, but no two answers of it name a call alike. So whoever asks again
//! after an answer was recorded, or runs a call of an answer that was not, is found.

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

use super::point::AgentPoint;
use super::store::Fatal;
use crate::line;

const TOOLS: [&str; 7] = ["look", "note", "send", "pay", "ship", "pay_asked", "send_asked"];
const MANNERS: [&str; 8] = ["plain", "plain", "plain", "plain", "slow", "wrong", "busy", "flaky"];

/// A request that the model was asked.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asked {
    /// Which process asked.
    pub life: u32,
    pub run: u64,
    pub turn: u64,
}

/// How many answers of the model a run has: the last is a text.
pub fn turns(seed: u64, run: u64) -> u64 {
    fastrand::Rng::with_seed(seed ^ run.wrapping_mul(0x9e37_79b9)).u64(3..=5)
}

/// The requests of a folder.
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
        let before = history.iter().filter(|it| matches!(it, Message::Model { .. })).count();
        let turn = u64::try_from(before).unwrap_or(u64::MAX) + 1;
        let line = line::of(&Asked { life: self.life, run, turn })?;
        (&self.asked).write_all(line.as_bytes())?;
        self.asked.sync_data()?;
        if turn >= turns(self.seed, run) {
            return Ok(ModelAnswer::text("done"));
        }
        let number = self.answers.fetch_add(1, Ordering::SeqCst);
        let mut random =
            fastrand::Rng::with_seed(self.seed ^ (run << 20) ^ (turn << 10) ^ u64::from(self.life));
        let calls = (0..random.u32(1..=3)).map(|index| {
            let tool = TOOLS[random.usize(..TOOLS.len())];
            let asks = tool.ends_with("_asked");
            let said = match (asks, random.u32(0..4)) {
                (false, _) => "nothing",
                (true, 0) => "reject",
                (true, _) => "approve",
            };
            let token = format!("r{run}-t{turn}-c{index}-l{}-n{number}", self.life);
            let arguments = json!({
                "token": token,
                "manner": MANNERS[random.usize(..MANNERS.len())],
                "said": said,
                "amount": random.u32(1..100),
            });
            let (id, name) = (Some(token), tool.to_owned());
            ToolCall { id, name, arguments: arguments.to_string() }
        });
        Ok(ModelAnswer::new("", calls.collect()))
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
