//! An agent over a large answer: what the tool gave, what the model was sent of it, and a value of it that was passed on by reference.
//!
//! ```sh
//! cargo run -p toolwright-toolbox --example large-results
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value;
use toolwright::approval::{ApprovalRequest, Callback, Response};
use toolwright::{Output, ToolError, tool};
use toolwright_agent::{Agent, Message, ScriptedModel};

/// The package that is looked for.
const WANTED: &str = "toolwright-agent";

/// Lists the packages of this workspace and of all that it builds, as cargo knows them.
#[tool(effect = read, reads())]
async fn list_packages() -> Result<Output, ToolError> {
    let compiler = output_of("rustc", &["-vV"])?;
    let host = compiler.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    // What other systems need may not be on this disk.
    let packages = ["metadata", "--offline", "--format-version", "1", "--filter-platform", host];
    output_of("cargo", &packages).map(Output::text)
}

fn output_of(program: &str, arguments: &[&str]) -> Result<String, ToolError> {
    let ended = std::process::Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map_err(|error| ToolError::internal("it cannot be started").caused_by(error))?;
    match ended.status.success() {
        true => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        false => {
            let why = String::from_utf8_lossy(&ended.stderr).into_owned();
            Err(ToolError::new("program_failed", why))
        }
    }
}

/// Counts the lines of a file.
#[tool(effect = read, approval = "it opens a file")]
async fn count_lines(
    /// The whole path.
    path: String,
) -> Result<usize, ToolError> {
    let text = std::fs::read_to_string(&path)
        .map_err(|error| ToolError::new("unreadable", format!("{path}: {error}")))?;
    Ok(text.lines().count())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    // A person is asked about the value, whatever the model has written.
    let approver = Callback::new(|request: &ApprovalRequest| {
        println!("approved       {} {}", request.tool, named(&request.arguments));
        Response::Approve
    });
    let search = format!(r#"{{"id":"lr_1","pattern":"{WANTED}/Cargo.toml$|/agent/Cargo.toml$"}}"#);
    let first = ScriptedModel::new()
        .calls([("list_packages", "{}")])
        .calls([("search_large_result", &*search)])
        .says("Found.");
    let first = Arc::new(first);
    let agent = Agent::builder(Arc::clone(&first)).tools([LIST_PACKAGES]).build()?;
    let found = answers(agent.run("Where is its manifest?").await?.history());
    let path = place(&found[1]).ok_or("the manifest is not in the answer")?;

    let call = format!(r#"{{"path":{{"$result":"lr_1","path":"{path}"}}}}"#);
    let model = ScriptedModel::new()
        .calls([("list_packages", "{}")])
        .calls([("count_lines", &*call)])
        .says("Counted.");
    let model = Arc::new(model);
    let agent = Agent::builder(Arc::clone(&model));
    let agent = agent.tools([LIST_PACKAGES, COUNT_LINES]).approver(approver).build()?;
    let result = agent.run("How long is its manifest?").await?;

    let whole = answers(result.history());
    let requests = model.requests();
    let sent = answers(&requests.last().ok_or("the model was not asked")?.history);
    println!("stored         {} bytes", whole[0].len());
    println!("sent           {} characters", sent[0].chars().count());
    println!("the model read\n{}\n", beginning(&sent[0]));
    println!("referred to    {path}");
    println!("answered       {} lines", whole[1]);
    let is_short = sent[0].chars().count() <= 30_000 && whole[0].len() > 30_000;
    let is_counted = whole[1].parse::<usize>().is_ok_and(|lines| lines > 0);
    match is_short && is_counted {
        true => Ok(()),
        false => Err("the answer was sent whole, or the reference was not resolved".into()),
    }
}

fn answers(history: &[Message]) -> Vec<String> {
    let answered = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    answered.flat_map(|it| it.iter().map(|(_, answer)| answer.text().into_owned())).collect()
}

/// The path of the first match of a search.
fn place(found: &str) -> Option<&str> {
    found
        .lines()
        .find(|line| line.contains("/manifest_path: "))
        .and_then(|line| line.split(": ").next())
}

/// The first lines of a text, each cut to the width of a terminal.
fn beginning(text: &str) -> String {
    let lines = text.lines().take(12).map(|line| line.chars().take(100).collect::<String>());
    lines.map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

/// The last two parts of the path in the arguments of a call.
fn named(arguments: &str) -> String {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    let path = value["path"].as_str().unwrap_or_default().replace('\\', "/");
    let parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}
