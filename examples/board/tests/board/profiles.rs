//! Who gets which tools, and what these may write.

use board::assembly::{assemble_tools, profiles};
use board::ticket::State;
use serde_json::json;
use toolwright::Call;
use toolwright::policy::PolicyDecision;
use toolwright::tool;

use crate::support::{around, call};

/// What each tool is asked about, so that it would write as much as it can.
fn inputs(ticket: i64) -> Vec<(&'static str, String)> {
    let input = |tool, value: serde_json::Value| (tool, value.to_string());
    vec![
        input("file_read", json!({"path": "README.md"})),
        input("file_write", json!({"path": "src/a.rs", "content": ""})),
        input("file_edit", json!({"path": "src/a.rs", "old_string": "a", "new_string": "b"})),
        input("file_list", json!({})),
        input("bash", json!({"command": "touch a"})),
        input("git_read", json!({"operation": "show", "revision": "HEAD"})),
        input(
            "git_write",
            json!({"change": {"operation": "commit", "message": "a", "files": ["a"]}}),
        ),
        input("ticket_read", json!({})),
        input("ticket_update_state", json!({"state": "IN_PROGRESS", "reason": "a"})),
        input("acceptance_check", json!({})),
        input("comment_post", json!({"content": "a", "type": "status"})),
        input("comment_list", json!({})),
        input("comment_resolve", json!({"comment": 1})),
        input("project_info", json!({})),
        input("board_read", json!({})),
        input("analyze_project", json!({})),
        input("run_tests", json!({})),
        input("run_linter", json!({})),
        input("check_criteria", json!({"ticketId": ticket.to_string()})),
    ]
}

/// What a profile may write, as the policy sees it: for each of its tools the resources that it says it writes, `anything`
/// where it does not say, and what the policy decides.
fn writes(profile: &str) -> String {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let executor = around.executor(ticket, profile);
    let mut lines = Vec::new();
    let catalog = executor.catalog();
    let inputs = inputs(ticket);
    for name in catalog.names() {
        let (tool, input) = inputs.iter().find(|(it, _)| *it == name).expect(name);
        let call = Call::new(*tool, input.as_str());
        let facts = executor.examine(&call).unwrap();
        let written = facts.touches().unwrap().writes_named().map(|it| {
            // A run outside of a journal has an id that is made up.
            let it = it.filter(|(kind, _)| *kind != "folder of the run");
            it.map(|(kind, name)| format!("{kind} {}", name.unwrap_or("any"))).collect::<Vec<_>>()
        });
        let written = written.map_or_else(
            || "anything".to_owned(),
            |it| if it.is_empty() { "nothing".to_owned() } else { it.join(", ") },
        );
        let decision = match executor.explain(&call).unwrap().verdict {
            PolicyDecision::Allow => "runs",
            PolicyDecision::Ask { .. } => "asks",
            other => panic!("{name}: {other:?}"),
        };
        lines.push(format!("{name}: writes {written}; {decision}"));
    }
    lines.join("\n")
}

/// `S4.43`: a developer has every tool.
#[test]
fn a_developer_has_every_tool_and_is_asked_about_what_is_not_its_own() {
    let expected = "\
file_read: writes nothing; runs
file_write: writes file src/a.rs; runs
file_edit: writes file src/a.rs; runs
file_list: writes nothing; runs
bash: writes file any; asks
git_read: writes nothing; runs
git_write: writes repository own; runs
ticket_read: writes nothing; runs
ticket_update_state: writes ticket 1; runs
acceptance_check: writes nothing; runs
comment_post: writes ticket 1; runs
comment_list: writes nothing; runs
comment_resolve: writes ticket 1; runs
project_info: writes nothing; runs
board_read: writes nothing; runs
analyze_project: writes nothing; runs
run_tests: writes anything; runs
run_linter: writes anything; runs
check_criteria: writes anything; runs";
    assert_eq!(writes("developer"), expected);
}

/// `S4.44`: no file, no program, no repository; the ticket's comments alone.
#[test]
fn a_researcher_writes_nothing_but_comments() {
    let expected = "\
file_read: writes nothing; runs
file_list: writes nothing; runs
ticket_read: writes nothing; runs
comment_post: writes ticket 1; runs
comment_list: writes nothing; runs
comment_resolve: writes ticket 1; runs
project_info: writes nothing; runs
board_read: writes nothing; runs";
    assert_eq!(writes("researcher"), expected);
}

/// `S4.45`: git is there for reading alone.
#[test]
fn a_reviewer_reads_and_comments_and_git_is_read_only() {
    let expected = "\
file_read: writes nothing; runs
file_list: writes nothing; runs
git_read: writes nothing; runs
ticket_read: writes nothing; runs
acceptance_check: writes nothing; runs
comment_post: writes ticket 1; runs
comment_list: writes nothing; runs
comment_resolve: writes ticket 1; runs";
    assert_eq!(writes("reviewer"), expected);
}

/// `S4.44`: what a profile leaves out is not there, whatever a model calls.
#[test]
fn a_tool_outside_of_the_profile_cannot_be_called() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let executor = around.executor(ticket, "researcher");
    let answer = call(&executor, "file_write", r#"{"path":"README.md","content":""}"#);
    assert_eq!(answer.error().unwrap().kind(), "unknown_tool");
    assert_eq!(
        std::fs::read_to_string(around.worktree(ticket).join("README.md")).unwrap(),
        "tea\n"
    );
}

/// Search the web.
#[tool(unlinked, group = "web", effect = read, reads())]
async fn web_search() {}

/// Fetch a page.
#[tool(unlinked, group = "web", effect = read, reads())]
async fn web_fetch() {}

/// `S4.42`: eight factories in one order; `S4.44`: where an application brings tools for the web, a researcher has them.
#[test]
fn tools_come_in_the_order_of_their_factories_and_a_researcher_has_those_of_the_web() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let mut assembly = around.assembly(ticket);
    assembly.web = vec![WEB_SEARCH, WEB_FETCH];
    let tools = assemble_tools(&assembly);
    let names: Vec<&str> = tools.iter().map(|it| it.name()).collect();
    let expected = "file_read file_write file_edit file_list bash git_read git_write web_search web_fetch \
        ticket_read ticket_update_state acceptance_check comment_post comment_list comment_resolve project_info board_read \
        analyze_project run_tests run_linter check_criteria";
    assert_eq!(names.join(" "), expected);
    let executor = assembly.executor("researcher", &around.folder.path().join("changes.db"), None);
    let executor = executor.unwrap();
    assert!(executor.catalog().get("web_search").is_some());
    assert!(executor.catalog().get("web_fetch").is_some());
}

#[test]
fn an_unknown_profile_is_an_error_and_opens_nothing() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let changes = around.folder.path().join("changes.db");
    let error = around.assembly(ticket).executor("developers", &changes, None).unwrap_err();
    assert_eq!(error.to_string(), "no profile is called `developers`; did you mean `developer`?");
    assert_eq!(profiles(false).unwrap().names().count(), 3);
}
