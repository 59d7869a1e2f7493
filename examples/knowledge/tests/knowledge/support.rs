//! A library in a folder of its own, with an executor over it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use knowledge::{Library, executor};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::{Call, Executor};
use toolwright_agent::{Message, Model, ScriptedModel};

pub struct Shelf {
    pub folder: TempDir,
    pub executor: Executor,
}

impl Shelf {
    pub fn new() -> Self {
        Self::with_model(None)
    }

    pub fn with_model(model: Option<Arc<dyn Model>>) -> Self {
        let folder = TempDir::new().unwrap();
        let executor = executor(Library::open(folder.path()).unwrap(), model).unwrap();
        Self { folder, executor }
    }

    pub fn library(&self) -> Library {
        Library::open(self.folder.path()).unwrap()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub fn put(&self, file: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(file), content).unwrap();
    }

    pub fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    pub fn bytes(&self, file: &str) -> Vec<u8> {
        fs::read(self.path(file)).unwrap()
    }

    /// What a tool answers: its result, or its error as a model reads it.
    pub async fn call(&self, tool: &str, input: Value) -> Value {
        let input = input.to_string();
        let answer = self.executor.call(&Call::new(tool, input.as_str())).await;
        match answer.error() {
            None => serde_json::from_str(&answer.text()).unwrap(),
            Some(error) => serde_json::from_str(&error.to_json()).unwrap(),
        }
    }
}

pub fn patch(start: i64, end: i64, content: &str) -> Value {
    json!({"start_line": start, "end_line": end, "content": content})
}

/// What the model was sent in its request of this number, from 0 on.
pub fn asked(model: &ScriptedModel, number: usize) -> String {
    let request = &model.requests()[number];
    let texts = request.history.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
