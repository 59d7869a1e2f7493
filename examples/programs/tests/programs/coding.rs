//! File tools, undo, judged command lines and the tools of another program, as bundles.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::provider::{Provider, message};
use crate::{printed, program, words};

const CODING: &str = env!("CARGO_BIN_EXE_coding");

/// The MCP server that the stand-in starts.
const SERVER: &str = env!("CARGO_BIN_EXE_cli_and_mcp");

fn provider(calls: &[(&str, Value)]) -> Provider {
    let called = calls.iter().zip(1..).map(|((name, input), id)| json!({ "type": "tool_use", "id": format!("t{id}"), "name": name, "input": input }));
    Provider::of([
        message("tool_use", &called.collect()),
        message("end_turn", &json!([{ "type": "text", "text": "They pass." }])),
    ])
}

/// A folder with a crate, and a stand-in for `npx` that notes what it is to start and starts our server.
struct Place(TempDir);

impl Place {
    fn new(npx: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["work", "bin"] {
            fs::create_dir(place.path().join(folder)).unwrap();
        }
        fs::write(place.path().join("work/notes.md"), "one test fails\n").unwrap();
        let file = place.path().join("bin/npx");
        fs::write(&file, format!("#!/bin/sh\n{npx}\n")).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o700)).unwrap();
        Self(place)
    }

    fn with_server() -> Self {
        Self::new(&format!("echo \"$@\" > ../npx.txt\nexec {SERVER} mcp serve"))
    }

    /// Sets a program up to work in the folder.
    fn configure(&self, command: &mut Command, url: &str) {
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.0.path().join("bin").display()));
        command.env("XDG_STATE_HOME", self.0.path().join("state"));
        command.env("ANTHROPIC_API_KEY", "secret").env("ANTHROPIC_BASE_URL", url);
        command.current_dir(self.0.path().join("work"));
    }

    fn program(&self, url: &str) -> Command {
        let mut coding = program(CODING);
        self.configure(&mut coding, url);
        coding
    }
}

/// What the model reads of its calls.
fn results(requests: &[Value]) -> String {
    requests[1]["messages"][2]["content"].to_string()
}

#[test]
fn it_has_the_tools_of_both_bundles_and_runs_what_is_safe() {
    let place = Place::with_server();
    let provider = provider(&[
        ("read_file", json!({ "path": "notes.md" })),
        ("bash", json!({ "command": "wc -c notes.md" })),
        ("bash", json!({ "command": "touch other.md" })),
        ("docs__price_of", json!({ "article": "tea" })),
    ]);
    let url = provider.url.clone();
    assert_eq!(printed(&place.program(&url).output().unwrap()), "They pass.\n");

    let requests = provider.requests();
    let tools = requests[0]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
    for name in ["edit_file", "run_command", "bash", "undo_turn", "docs__price_of"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let results = results(&requests);
    assert!(results.contains("one test fails") && results.contains("15 notes.md"), "{results}");
    // Without a terminal, what needs a person's word does not run.
    assert_eq!(results.matches("approval_required").count(), 2, "{results}");
    assert!(!place.0.path().join("work/other.md").exists());
    let started = fs::read_to_string(place.0.path().join("npx.txt")).unwrap();
    assert_eq!(started, "-y @modelcontextprotocol/server-everything\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_at_the_terminal_lets_the_other_program_answer() {
    let place = Place::with_server();
    let provider = provider(&[("docs__price_of", json!({ "article": "tea" }))]);
    let url = provider.url.clone();
    let mut person =
        crate::terminal::Person::start(CODING, |command| place.configure(command, &url));
    let question = person.read_until("\n> ");
    assert!(question.contains("docs__price_of"), "{question}");
    person.answer("y");
    person.read_until("They pass.");
    assert!(person.has_succeeded());
    let results = results(&provider.requests());
    assert!(results.contains("450"), "{results}");
}

#[test]
fn a_server_that_does_not_start_is_an_error_that_names_it() {
    let place = Place::new("exit 1");
    // No request is made.
    let output = place.program("http://127.0.0.1:1").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = words(&output.stderr);
    assert!(error.contains("the tools cannot be listed: the MCP server `docs` cannot"), "{error}");
}
