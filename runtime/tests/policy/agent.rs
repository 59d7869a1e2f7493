//! The policy of a coding agent, as it stands among the docs.
#![expect(unused_variables, reason = "the tools are never run")]

use toolwright::policy::{Mode, Policy};
use toolwright::{Catalog, Danger, Effect, Registry, tool};

use super::scene::Case;

/// Reads a file.
#[tool(group = "file", effect = read, reads(file = path))]
async fn read_file(
    /// Which.
    path: String,
) {
}

/// Finds text.
#[tool(group = "file", effect = read, reads(file = path))]
async fn grep(
    /// What.
    pattern: String,
    /// Where.
    path: String,
) {
}

/// Writes a file.
#[tool(group = "file", tags("edit"), effect = idempotent, writes(file = path))]
async fn write_file(
    /// Which.
    path: String,
    /// What.
    text: String,
) {
}

/// Changes a file.
#[tool(group = "file", tags("edit"), effect = once, writes(file = path))]
async fn edit_file(
    /// Which.
    path: String,
    /// What stands there.
    old: String,
    /// What shall stand there.
    new: String,
) {
}

/// Deletes a file.
#[tool(group = "file", effect = idempotent, danger = dangerous, writes(file = path))]
async fn delete_file(
    /// Which.
    path: String,
) {
}

/// Runs tests.
#[tool(effect = idempotent, reads(), writes(file = "target"))]
async fn run_tests(
    /// How many at once.
    jobs: u8,
) {
}

/// Runs a command.
#[tool(effect = once, danger = dangerous)]
async fn bash(
    /// The command.
    command: String,
) {
}

/// Pushes commits.
#[tool(group = "git", effect = once, danger = dangerous)]
async fn git_push(
    /// Where to.
    remote: String,
    /// Which branch.
    branch: String,
    /// Even if commits are lost there.
    #[arg(default)]
    force: bool,
) {
}

/// Fetches a page.
#[tool(tags("network"), effect = read, reads())]
async fn web_fetch(
    /// From which host.
    host: String,
) {
}

fn catalog() -> Catalog {
    let tools =
        [READ_FILE, GREP, WRITE_FILE, EDIT_FILE, DELETE_FILE, RUN_TESTS, BASH, GIT_PUSH, WEB_FETCH];
    Registry::of(tools).expect("tools of different names").catalog()
}

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/policy.toml");

fn agent() -> Policy {
    Policy::load(PATH, &catalog()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_policy_among_the_docs_can_be_used() {
    assert_eq!(agent().mode(), Mode::Interactive);
}

#[test]
fn every_rule_among_the_docs_has_examples_of_both_sorts() {
    let text = std::fs::read_to_string(PATH).expect("the file is there");
    let count = |what: &str| text.lines().filter(|line| line.starts_with(what)).count();
    let rules = count("[[");
    assert!(rules >= 6, "{rules} rules");
    assert_eq!((count("matches = "), count("does_not_match = ")), (rules, rules));
}

#[test]
fn an_agent_works_on_its_sources_and_asks_about_the_rest() {
    let policy = agent();
    let edit = |path: &str| Case {
        tags: vec!["edit".to_owned()],
        group: Some("file"),
        ..Case::of("edit_file").writing(path)
    };
    assert_eq!(edit("src/lib.rs").word(&policy), "allow");
    assert_eq!(edit("deploy.sh").word(&policy), "ask");
    assert_eq!(edit(".git/config").word(&policy), "deny");
    assert_eq!(edit("../elsewhere").word(&policy), "deny");
    let bash =
        Case::of("bash").danger(Danger::Dangerous).undeclared().arguments(r#"{"command":"ls"}"#);
    assert_eq!(bash.word(&policy), "always ask");
    let read = Case::of("read_file").danger(Danger::Safe).effect(Effect::Read);
    assert_eq!(read.clone().reading("src/lib.rs").word(&policy), "allow");
    assert_eq!(read.reading("id_rsa").word(&policy), "ask");
}
