//! The tools of an agent on its ticket.

use board::board::{AGENT, Move};
use board::git::{GitChange, GitReading};
use board::ticket::{Author, CommentKind, Criterion, Evidence, NewComment, State};
use board::{Board, BoardError};
use serde_json::json;

use crate::support::{Around, around, call, json, now, run_git};

fn says<'a>(ticket: i64, content: &'a str) -> NewComment<'a> {
    NewComment {
        ticket,
        parent: None,
        author: Author::Human,
        author_id: "ada",
        author_name: "Ada",
        kind: CommentKind::Feedback,
        content,
        key: None,
    }
}

fn meet(around: &Around, ticket: i64, tree: Option<String>) {
    for criterion in around.board.criteria(ticket).unwrap() {
        let met = Criterion { met: true, tree: tree.clone(), ..criterion };
        around.board.record_finding(ticket, &met, now()).unwrap();
    }
}

/// `S4.15`, `S4.50`, `S4.51`, `S4.52`: without parameters it reads the run's own ticket: what it is, its criteria, the newest 20
/// comments with the newest first, its documents, as JSON with two spaces.
#[test]
fn a_ticket_is_read_without_naming_it_with_its_criteria_and_newest_comments() {
    let around = around();
    around.ticket(State::Research, &[]);
    let ticket = around.ticket(State::InProgress, &[(Evidence::Tests, "It is hot")]);
    for number in 1..=25 {
        around.board.add_comment(&says(ticket, &format!("comment {number}")), now()).unwrap();
    }
    let executor = around.executor(ticket, "developer");
    let schema = executor.catalog().get("ticket_read").unwrap().input_schema.to_string();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["properties"], json!({}));
    assert!(schema.get("required").is_none_or(|it| *it == json!([])), "{schema}");
    let answer = call(&executor, "ticket_read", "{}");
    assert!(answer.text().starts_with("{\n  \"title\": \"Tea is cold\",\n"), "{}", answer.text());
    let read: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(read["description"], "It should be hot.");
    assert_eq!((&read["state"], &read["subState"]), (&json!("IN_PROGRESS"), &json!(null)));
    assert_eq!(
        read["acceptanceCriteria"],
        json!([{"id": 1, "text": "It is hot", "evidence": "tests", "met": false}])
    );
    let comments = read["comments"].as_array().unwrap();
    assert_eq!(comments.len(), 20);
    assert_eq!(comments[0]["content"], "comment 25");
    assert_eq!(
        comments[19],
        json!({"id": 6, "author": "Ada", "authorType": "human", "type": "feedback", "content": "comment 6", "resolved": false, "createdAt": "2027-01-15T08:00:00Z"})
    );
    assert_eq!(read["documents"], json!([]));
}

/// `S4.17`, `S4.53`, `S4.54`, `S4.55`, `S4.75`: the comment is stored with its type, and the host alone learns the type.
#[test]
fn a_comment_is_stored_with_its_type_and_answered_with_its_id() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let executor = around.executor(ticket, "researcher");
    let answer = call(&executor, "comment_post", r#"{"content":"How hot?","type":"question"}"#);
    assert_eq!(answer.text(), "Comment posted: 1");
    assert_eq!(answer.metadata().unwrap()["commentType"], "question");
    let [posted] = &around.board.newest_comments(ticket, 9).unwrap()[..] else { panic!("one") };
    assert_eq!((posted.kind, posted.content.as_str()), (CommentKind::Question, "How hot?"));
    let author = (posted.author, posted.author_id.as_str(), posted.author_name.as_str());
    assert_eq!(author, (Author::Agent, around.project.to_string().as_str(), "Agent"));
    assert!(!posted.resolved);
    let definition = executor.catalog();
    let description = &definition.get("comment_post").unwrap().description;
    for kind in ["`question`", "`status`", "`completion`"] {
        assert!(description.contains(kind), "{description}");
    }
    for input in
        [r#"{"content":"a"}"#, r#"{"content":"a","type":"rumour"}"#, r#"{"type":"status"}"#]
    {
        assert_eq!(call(&executor, "comment_post", input).error().unwrap().kind(), "invalid_input");
    }
}

#[test]
fn a_comment_that_is_empty_or_too_long_is_refused_with_what_was_expected() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let executor = around.executor(ticket, "developer");
    for (content, found) in [(" ".to_owned(), 1), ("x".repeat(1_000_000), 1_000_000)] {
        let input = json!({"content": content, "type": "status"}).to_string();
        let answer = call(&executor, "comment_post", &input);
        let message = format!("a comment has {found} characters, expected 1 to 20000");
        assert_eq!(answer.error().unwrap().message(), message);
    }
    assert!(around.board.newest_comments(ticket, 9).unwrap().is_empty());
}

/// `S4.18`, `S4.19`: people's answers are in the list; a thread is resolved as a whole, and one of another ticket is not there.
#[test]
fn comments_are_listed_and_a_thread_is_resolved_as_a_whole() {
    let around = around();
    let (other, ticket) =
        (around.ticket(State::Research, &[]), around.ticket(State::Research, &[]));
    let foreign = around.board.add_comment(&says(other, "elsewhere"), now()).unwrap();
    let first = around.board.add_comment(&says(ticket, "first"), now()).unwrap();
    let reply = NewComment { parent: Some(first), ..says(ticket, "reply") };
    let reply = around.board.add_comment(&reply, now()).unwrap();
    around.board.add_comment(&says(ticket, "second"), now()).unwrap();
    let executor = around.executor(ticket, "reviewer");
    let resolved = call(&executor, "comment_resolve", &json!({"comment": reply}).to_string());
    assert_eq!(resolved.text(), format!("Thread of comment {reply} resolved"));
    let listed = json(&executor, "comment_list", "{}");
    let shown: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["content"].as_str().unwrap(), it["resolved"].as_bool().unwrap()))
        .collect();
    assert_eq!(shown, [("second", false), ("reply", true), ("first", true)]);
    let refused = call(&executor, "comment_resolve", &json!({"comment": foreign}).to_string());
    assert_eq!(refused.error().unwrap().kind(), "not_found");
    let answers_elsewhere = NewComment { parent: Some(foreign), ..says(ticket, "lost") };
    assert!(matches!(
        around.board.add_comment(&answers_elsewhere, now()),
        Err(BoardError::Missing { .. })
    ));
}

#[test]
fn an_answer_to_an_answer_is_in_the_thread_of_its_first_comment() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let first = around.board.add_comment(&says(ticket, "first"), now()).unwrap();
    let reply = NewComment { parent: Some(first), ..says(ticket, "reply") };
    let reply = around.board.add_comment(&reply, now()).unwrap();
    let last = NewComment { parent: Some(reply), ..says(ticket, "last") };
    let last = around.board.add_comment(&last, now()).unwrap();
    let parents = |it: &board::ticket::Comment| (it.parent, it.resolved);
    let found: Vec<_> =
        around.board.newest_comments(ticket, 9).unwrap().iter().map(parents).collect();
    assert_eq!(found, [(Some(first), false), (Some(first), false), (None, false)]);
    around.board.resolve_comment(ticket, last).unwrap();
    assert!(around.board.newest_comments(ticket, 9).unwrap().iter().all(|it| it.resolved));
}

/// `S4.16`, `S4.56`, `S4.57`, `S4.58`, `S4.59`: the two transitions are made and recorded, every other is refused and writes nothing.
#[test]
fn an_agent_moves_from_research_to_progress_and_nowhere_else() {
    let around = around();
    for from in State::ALL.iter().copied() {
        for to in ["RESEARCH", "IN_PROGRESS", "VERIFICATION"] {
            let ticket = around.ticket(from, &[(Evidence::Person, "It is hot")]);
            meet(&around, ticket, None);
            let executor = around.executor(ticket, "developer");
            let input = json!({"state": to, "reason": "it is known"}).to_string();
            let answer = call(&executor, "ticket_update_state", &input);
            let is_valid = matches!(
                (from.name(), to),
                ("RESEARCH", "IN_PROGRESS") | ("IN_PROGRESS", "VERIFICATION")
            );
            let (state, moves) =
                (around.board.ticket(ticket).unwrap().state, around.board.moves(ticket).unwrap());
            if is_valid {
                assert_eq!(answer.text(), format!("Ticket moved from {from} to {to}: it is known"));
                assert_eq!((state.name(), moves.len()), (to, 1));
                let made = Move {
                    from,
                    to: state,
                    reason: "it is known".to_owned(),
                    by: AGENT.to_owned(),
                };
                assert_eq!(moves[0], made);
            } else {
                let error = answer.error().unwrap();
                assert_eq!(error.kind(), "invalid_transition");
                assert_eq!(error.message(), format!("Invalid transition: {from} → {to}"));
                assert_eq!((state, moves.len()), (from, 0));
            }
        }
    }
    for input in [
        r#"{"state":"DONE","reason":"a"}"#,
        r#"{"state":"BACKLOG","reason":"a"}"#,
        r#"{"state":"IN_PROGRESS"}"#,
    ] {
        let executor = around.executor(around.ticket(State::Verification, &[]), "developer");
        assert_eq!(
            call(&executor, "ticket_update_state", input).error().unwrap().kind(),
            "invalid_input"
        );
    }
}

/// `S4.60`: the description says it, and the statement that writes holds to it: no criterion, one that is not met, and one
/// that was met by other files are all refused.
#[test]
fn a_ticket_is_verified_only_when_every_criterion_is_met_by_the_files_as_they_are() {
    let around = around();
    let ticket = around.ticket(State::InProgress, &[]);
    let assembly = around.assembly(ticket);
    let executor = around.executor(ticket, "developer");
    let description = executor.catalog().get("ticket_update_state").unwrap().description.clone();
    assert!(
        description.contains("Only move it to VERIFICATION when ALL acceptance criteria are met")
    );
    let moved =
        || call(&executor, "ticket_update_state", r#"{"state":"VERIFICATION","reason":"done"}"#);
    let refused = |words: &str| {
        let answer = moved();
        let error = answer.error().unwrap();
        assert_eq!(error.kind(), "criteria_not_met");
        assert!(error.message().contains(words), "{error}");
        assert_eq!(around.board.ticket(ticket).unwrap().state, State::InProgress);
        assert!(around.board.moves(ticket).unwrap().is_empty());
    };
    refused("the ticket has none, so nothing says when it is done");
    around.board.add_criterion(ticket, &Evidence::Tests, "It is hot").unwrap();
    around.board.add_criterion(ticket, &Evidence::Person, "It tastes").unwrap();
    refused("1 “It is hot” (not checked); 2 “It tastes” (not checked)");
    meet(&around, ticket, Some(board::git::tree(assembly.workspace.root()).unwrap()));
    std::fs::write(around.worktree(ticket).join("README.md"), "coffee\n").unwrap();
    refused("1 “It is hot” (the files were changed since it was checked)");
    std::fs::write(around.worktree(ticket).join("README.md"), "tea\n").unwrap();
    assert_eq!(moved().text(), "Ticket moved from IN_PROGRESS to VERIFICATION: done");
}

/// A call that was cut short is made again with the same key.
#[test]
fn what_is_made_again_with_the_key_of_a_call_is_made_once() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let moved =
        || around.board.move_by_agent(ticket, State::InProgress, "known", "", "call-1", now());
    assert_eq!(moved().unwrap(), State::Research);
    assert_eq!(moved().unwrap(), State::Research);
    assert_eq!(around.board.moves(ticket).unwrap().len(), 1);
    let posted = || {
        around.board.add_comment(&NewComment { key: Some("call-2"), ..says(ticket, "once") }, now())
    };
    assert_eq!(posted().unwrap(), posted().unwrap());
    assert_eq!(around.board.newest_comments(ticket, 9).unwrap().len(), 1);
}

/// `S4.20`: which criteria are met, by the files as they are.
#[test]
fn the_criteria_are_shown_with_what_was_found_about_them() {
    let around = around();
    let ticket = around.ticket(
        State::InProgress,
        &[(Evidence::Lint, "It is clean"), (Evidence::Person, "It tastes")],
    );
    let executor = around.executor(ticket, "reviewer");
    let shown = json(&executor, "acceptance_check", "{}");
    assert_eq!((&shown["all_met"], &shown["criteria"][0]["met"]), (&json!(false), &json!(false)));
    meet(&around, ticket, Some(board::git::tree(&around.worktree(ticket)).unwrap()));
    let shown = json(&executor, "acceptance_check", "{}");
    assert_eq!((&shown["all_met"], &shown["criteria"][0]["met"]), (&json!(true), &json!(true)));
    let [first, _] = &around.board.criteria(ticket).unwrap()[..] else { panic!("two") };
    // A person changes it while it is checked.
    around.board.remove_criterion(ticket, first.id).unwrap();
    assert!(matches!(
        around.board.record_finding(ticket, first, now()),
        Err(BoardError::Missing { .. })
    ));
}

/// `S4.21`, `S4.22`: where the repository comes from, and which tickets there are; no folder of this machine.
#[test]
fn the_project_and_its_board_are_shown_without_folders_of_the_machine() {
    let around = around();
    around.ticket(State::Backlog, &[]);
    let ticket = around.ticket(State::Research, &[]);
    let executor = around.executor(ticket, "researcher");
    assert_eq!(
        json(&executor, "project_info", "{}"),
        json!({"name": "tea", "repoUrl": "https://example.org/tea.git", "language": "rust", "branch": "main", "persona": "You know tea."})
    );
    let read = json(&executor, "board_read", "{}");
    assert_eq!(
        read,
        json!([
            {"id": 1, "title": "Tea is cold", "type": "BUG", "state": "BACKLOG", "subState": null, "yours": false},
            {"id": 2, "title": "Tea is cold", "type": "BUG", "state": "RESEARCH", "subState": null, "yours": true},
        ])
    );
}

/// `S4.1`, `S4.2`: tools of the toolbox, of the board and of executables, each called by name through one executor.
#[test]
fn every_action_is_a_call_whichever_of_the_three_sources_its_tool_comes_from() {
    let around = around();
    let executor = around.executor(around.ticket(State::Research, &[]), "developer");
    assert!(call(&executor, "file_read", r#"{"path":"README.md"}"#).text().contains("tea"));
    assert_eq!(json(&executor, "board_read", "{}")[0]["id"], 1);
    let analyzed = json(&executor, "analyze_project", "{}");
    assert_eq!(analyzed["success"], true, "{analyzed}");
    assert!(analyzed["output"].as_str().unwrap().contains("\"sourceFiles\": 0"), "{analyzed}");
}

/// The words "read-only" are true: a commit needs the other tool, a path is no flag, and what git refuses is no success.
#[test]
fn git_reads_by_one_tool_and_writes_by_another_and_a_failed_commit_is_no_success() {
    let around = around();
    let ticket = around.ticket(State::InProgress, &[]);
    let executor = around.executor(ticket, "developer");
    std::fs::write(around.worktree(ticket).join("-a.md"), "new\n").unwrap();
    let commit = r#"{"change":{"operation":"commit","message":"--amend","files":["-a.md"]}}"#;
    let made = json(&executor, "git_write", commit);
    assert_eq!((&made["success"], &made["exit_code"]), (&json!(true), &json!(0)), "{made}");
    let log = json(&executor, "git_read", r#"{"operation":"log"}"#);
    let log: Vec<_> = log["output"]
        .as_str()
        .unwrap()
        .lines()
        .map(|it| it.split_once(' ').unwrap().1.to_owned())
        .collect();
    assert_eq!(log, ["--amend", "begin"]);
    let again = json(&executor, "git_write", commit);
    assert_eq!((&again["success"], &again["exit_code"]), (&json!(false), &json!(1)), "{again}");
    // After a kill, a call is repeated whose commit is there, so the description says no more than that nothing is new.
    let described = executor.catalog().get("git_write").unwrap().description.to_string();
    assert!(described.contains("nothing new was committed"), "{described}");
    let unknown = json(&executor, "git_read", r#"{"operation":"show","revision":"nowhere"}"#);
    assert_eq!(
        (&unknown["success"], &unknown["exit_code"]),
        (&json!(false), &json!(128)),
        "{unknown}"
    );
    for input in [
        r#"{"operation":"diff","revision":"--output=README.md"}"#,
        r#"{"operation":"log","revision":"-R"}"#,
        r#"{"operation":"status","revision":"HEAD"}"#,
        r#"{"operation":"commit"}"#,
    ] {
        assert_eq!(call(&executor, "git_read", input).error().unwrap().kind(), "invalid_input");
    }
    // A person is asked about what leaves the branch of the ticket.
    for change in [
        r#"{"change":{"operation":"push","remote":"origin","branch":"main"}}"#,
        r#"{"change":{"operation":"branch","name":"elsewhere"}}"#,
    ] {
        let answer = call(&executor, "git_write", change);
        assert_eq!(answer.error().unwrap().kind(), "approval_required", "{change}");
    }
}

#[test]
fn git_shows_no_secrets_of_a_commit_or_of_a_folder() {
    let around = around();
    let ticket = around.ticket(State::InProgress, &[]);
    let executor = around.executor(ticket, "developer");
    let worktree = around.worktree(ticket);
    for (name, text) in
        [("deploy/.Env.production", "hush"), ("secrets/key", "hush"), ("deploy/a.md", "open")]
    {
        let file = worktree.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("{text}\n")).unwrap();
    }
    run_git(&worktree, &["add", "--all"]);
    let staged = r#"{"operation":"staged_diff"}"#;
    let staged = json(&executor, "git_read", staged)["output"].as_str().unwrap().to_owned();
    run_git(&worktree, &["commit", "--quiet", "--message=more"]);
    let mut shown = vec![staged];
    for input in [
        r#"{"operation":"show","revision":"HEAD"}"#,
        r#"{"operation":"diff","revision":"HEAD~1"}"#,
        r#"{"operation":"diff","revision":"HEAD~1","paths":["deploy"]}"#,
    ] {
        let output = json(&executor, "git_read", input)["output"].as_str().unwrap().to_owned();
        shown.push(output);
    }
    for shown in shown {
        assert!(shown.contains("open") && !shown.contains("hush"), "{shown}");
    }
    // The id of a file shows the file, whatever is left out.
    let id = run_git(&worktree, &["rev-parse", "HEAD:secrets/key"]);
    let input = json!({"operation": "show", "revision": id.trim()}).to_string();
    assert_eq!(json(&executor, "git_read", &input)["success"], false);
}

#[test]
fn the_lock_of_a_killed_git_stays_and_the_result_says_how_a_person_removes_it() {
    let around = around();
    let ticket = around.ticket(State::InProgress, &[]);
    let executor = around.executor(ticket, "developer");
    let worktree = around.worktree(ticket);
    std::fs::write(worktree.join("new.md"), "new\n").unwrap();
    let path = ["rev-parse", "--path-format=absolute", "--git-path", "index.lock"];
    let lock = board::git::ask(&worktree, &path).unwrap();
    std::fs::write(&lock, "").unwrap();
    let commit = r#"{"change":{"operation":"commit","message":"new","files":["new.md"]}}"#;
    let refused = json(&executor, "git_write", commit);
    assert_eq!(refused["success"], false);
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains(&format!("`rm '{lock}'`")), "{error}");
    std::fs::remove_file(&lock).expect("it is still there");
    assert_eq!(json(&executor, "git_write", commit)["success"], true);
}

/// `git diff` compares any two files where a path is outside of the worktree, so that it would show each.
#[test]
fn git_is_given_no_path_outside_of_the_workspace() {
    for path in ["/etc/hostname", "../a.md", "docs/../../a.md", ":/", ":(top)a.md"] {
        let paths = ["README.md".to_owned(), path.to_owned()];
        let error = GitReading::Diff.arguments(None, &paths).expect_err(path);
        assert!(error.contains(&format!("`{path}`")), "{error}");
        let change = GitChange::Commit { message: "take it".to_owned(), files: paths.to_vec() };
        assert_eq!(change.steps().expect_err(path), error);
    }
    let paths = ["./docs/-a.md".to_owned(), "..a".to_owned()];
    let arguments = GitReading::Diff.arguments(None, &paths).unwrap();
    let after = arguments.split(|it| it == "--").nth(1).unwrap();
    assert_eq!(after[..2], [":(literal)./docs/-a.md", ":(literal)..a"]);
    assert!(after[2..].iter().all(|it| it.starts_with(":(exclude,")));
}

#[test]
fn a_board_of_a_newer_release_is_refused_and_left_as_it_is() {
    let around = around();
    let path = around.folder.path().join("newer.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    let error = Board::open(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("has schema 7, expected at most 2; open it with a newer release"),
        "{error}"
    );
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 0);
}
