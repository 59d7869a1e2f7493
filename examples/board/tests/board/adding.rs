//! The three ways to add a tool, as the README shows them: its code is that of this file.

use std::fs;
use std::path::PathBuf;

use board::assembly::Assembly;
use board::ticket::State;
use board::tools::CurrentTicket;
use toolwright::runtime::{File, Footprint, Registration};
use toolwright::toolbox::{CliTool, GREP};
use toolwright::{Danger, Effect, ToolError, tool};

use crate::support::{Around, around, call, json, script};

const README: &str = include_str!("../../README.md");

// README: a tool of the board
/// Count the comments of people on the ticket that you work on.
#[tool(unlinked, group = "ticket", effect = read, reads(), blocking)]
pub fn ticket_voices(ticket: &CurrentTicket) -> Result<usize, ToolError> {
    Ok(ticket.board().words_of_people(ticket.id(), 0)?.len())
}

fn voices(_: &Assembly) -> Vec<Registration> {
    vec![TICKET_VOICES.into()]
}
// README: end

// README: an executable
fn todos(assembly: &Assembly) -> Vec<Registration> {
    let none =
        serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false});
    let about = "Count the lines that say TODO.";
    let program = assembly.executables.join("count-todos");
    let tool = CliTool::new("count_todos", about, program, none, Effect::Read, Danger::Safe);
    let tool = tool.fixed(["."]).tool(assembly.workspace.clone(), assembly.shell.clone());
    vec![tool.footprint_by(|_| Footprint::nothing().reading::<File>(".")).into()]
}
// README: end

// README: a tool of the toolbox
fn search(_: &Assembly) -> Vec<Registration> {
    vec![GREP.renamed("file_search")]
}
// README: end

/// The part of this file under a title.
fn part(title: &str) -> &'static str {
    let (_, rest) = include_str!("adding.rs").split_once(&format!("// README: {title}\n")).unwrap();
    rest.split_once("// README: end").unwrap().0
}

/// The block of the README with this first line.
fn block(first: &str) -> String {
    let mut blocks =
        README.split("```").skip(1).step_by(2).map(|it| it.split_once('\n').unwrap().1);
    blocks.find(|it| it.starts_with(first)).unwrap_or_else(|| panic!("{first}")).to_owned()
}

fn assembly(executables: Option<PathBuf>) -> (Around, Assembly, PathBuf) {
    let around = around();
    let mut assembly = around.assembly(around.ticket(State::Research, &[]));
    if let Some(executables) = executables {
        assembly.executables = executables;
    }
    let changes = around.folder.path().join("changes.db");
    (around, assembly, changes)
}

/// `S4.76`: a function, a factory, a profile.
#[test]
fn a_tool_of_the_board_is_added_as_the_readme_says() {
    assert!(README.contains(part("a tool of the board").trim()));
    let (_around, mut assembly, changes) = assembly(None);
    assembly.added = vec![voices];
    let developer = assembly.executor("developer", &changes, None).unwrap();
    assert_eq!(call(&developer, "ticket_voices", "{}").text(), "0");
    let researcher = assembly.executor("researcher", &changes, None).unwrap();
    assert!(researcher.catalog().get("ticket_voices").is_none());
}

/// `S4.77`: an executable, a look at it from the terminal, its wrapping, a profile.
#[test]
fn an_executable_is_added_as_the_readme_says() {
    assert!(README.contains(part("an executable").trim()));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("count-todos");
    script(&program, &block("#!/bin/sh\n"));
    let (around, mut assembly, changes) = assembly(Some(folder.path().to_owned()));
    fs::write(around.worktree(1).join("a.md"), "TODO: heat\nTODO: pour\n").unwrap();
    assembly.added = vec![todos];
    let developer = assembly.executor("developer", &changes, None).unwrap();
    let counted = json(&developer, "count_todos", "{}");
    assert_eq!(counted["output"], serde_json::json!("{\"todos\": 2}\n"), "{counted}");
}

/// `S4.78`: a handle of the toolbox, its name here, a factory, a profile.
#[test]
fn a_tool_of_the_toolbox_is_added_as_the_readme_says() {
    assert!(README.contains(part("a tool of the toolbox").trim()));
    let (_around, mut assembly, changes) = assembly(None);
    assembly.added = vec![search];
    let developer = assembly.executor("developer", &changes, None).unwrap();
    let found = call(&developer, "file_search", r#"{"pattern":"te."}"#);
    assert!(found.text().contains("README.md"), "{}", found.text());
}
