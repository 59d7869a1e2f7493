//! A library in a folder of its own, with an executor over it.

use std::fs;
use std::path::PathBuf;

use knowledge::{Library, executor};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::{Call, Executor};

pub struct Shelf {
    pub folder: TempDir,
    pub executor: Executor,
}

impl Shelf {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let executor = executor(Library::open(folder.path()).unwrap()).unwrap();
        Self { folder, executor }
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub fn put(&self, file: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(file), content).unwrap();
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
