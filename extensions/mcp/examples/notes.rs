//! A server of notes: `cargo run -p toolwright-mcp --features cli --example notes -- mcp serve`.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use toolwright::{Profile, Profiles, ToolError, tool};

/// The notes of one process.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn with<R>(&self, work: impl FnOnce(&mut Vec<String>) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How many notes there are.
#[toolwright::data]
struct Count {
    /// The number of notes.
    notes: usize,
}

/// Add a note.
#[tool(effect = once, danger = safe, writes())]
async fn add_note(
    notes: &Notes,
    /// What it says.
    #[arg(length = 1..=1000)]
    text: String,
) -> Count {
    println!("a note of {} bytes was added", text.len());
    Count {
        notes: notes.with(|notes| {
            notes.push(text);
            notes.len()
        }),
    }
}

/// Read a note.
#[tool(effect = read, reads())]
async fn read_note(
    notes: &Notes,
    /// Its number, counted from 1.
    #[arg(minimum = 1)]
    number: usize,
) -> Result<String, ToolError> {
    let note = notes.with(|notes| notes.get(number - 1).cloned());
    note.ok_or_else(|| ToolError::new("not_found", format!("there is no note {number}")))
}

/// Delete every note.
#[tool(effect = idempotent, danger = dangerous, writes())]
async fn delete_notes(notes: &Notes) {
    notes.with(Vec::clear);
}

fn main() -> ExitCode {
    toolwright_mcp::cli::main_with(
        |builder| builder.service(Notes::default()),
        |server| {
            let server = server.name("notes").version("1.0.0");
            let reader = Profile::new(["read_note"]).expect("a pattern");
            let server = server.profiles(Profiles::of([("reader", reader)]));
            server.instructions("Notes last as long as the server.")
        },
    )
}
