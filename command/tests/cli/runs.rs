//! `toolwright runs`: the runs of a journal, without their application.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::json;
use toolwright::approval::ApproverKey;
use toolwright::journal::{Journal as CallJournal, SqliteStore};
use toolwright::provider::ToolCall;
use toolwright::{Executor, OnNoApprover, Registry, tool};
use toolwright_agent::durable::{NewRun, Runner};
use toolwright_agent::{
    Agent, Ceiling, Cost, ModelAnswer, Period, Price, Rates, ScriptedModel, SubAgent, Usage,
};
use toolwright_toolbox::{ChangeLog, Workspace};

use super::journal::Journal;
use super::shown;

/// Looks a word up.
#[tool(name = "runs_look_up", effect = read, reads())]
async fn look_up(
    /// Which.
    word: String,
) -> String {
    format!("\u{1b}[2J{word}: leaves in hot water")
}

/// Sends a message.
#[tool(name = "runs_send", effect = once, approval = "it goes to a customer")]
async fn send(
    /// What it says.
    text: String,
) -> String {
    format!("sent {text}")
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: Some(id.to_owned()), name: name.to_owned(), arguments: arguments.to_owned() }
}

/// The folder that a tool writes in.
struct Folder(std::path::PathBuf);

/// Writes a file.
#[tool(name = "runs_write", effect = once, writes(file = path))]
async fn write(
    folder: &Folder,
    /// Which.
    path: String,
    /// What.
    text: String,
) -> String {
    std::fs::write(folder.0.join(&path), text).unwrap();
    format!("wrote {path}")
}

/// A journal with a run that has ended and one that waits for a person.
fn journal() -> Journal {
    let journal = Journal::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(journal.path("calls.db")).await.unwrap();
        let executor = Executor::builder(Registry::of([LOOK_UP, SEND]).unwrap())
            .journal(CallJournal::new(store).on_no_approver(OnNoApprover::Park))
            .build()
            .unwrap();
        let model = ScriptedModel::new()
            .answers(
                ModelAnswer::new(
                    "I look it up.",
                    vec![call("c1", "runs_look_up", r#"{"word":"tea"}"#)],
                )
                .usage(Usage::new(1_200, 80).cached(1_000).reasoning(30))
                .cost(Cost::cents(2))
                .prices_of("2026-11")
                .by("small"),
            )
            .answers(ModelAnswer::text("Leaves in hot water.").usage(Usage::new(7, 3)))
            .answers(ModelAnswer::new("", vec![call("c2", "runs_send", r#"{"text":"hello"}"#)]));
        let agent = Agent::on(executor, model).build().unwrap();
        let agents = Runner::builder().agent("clerk", agent).build().unwrap();
        agents.start(NewRun::new("tea", "clerk", "what is tea?").user("ada")).await.unwrap();
        agents.start(NewRun::new("greet", "clerk", "greet them")).await.unwrap();
    });
    journal
}

#[test]
fn runs_are_listed_by_their_user_agent_phase_and_age() {
    let journal = journal();
    let listed = |options: &[&str]| -> Vec<String> {
        let line: Vec<&str> = ["runs", "list", "--json"].iter().chain(options).copied().collect();
        let listed = journal.run(&line);
        assert_eq!(listed.code, 0, "{}", shown(&listed));
        let run = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        listed.out.lines().map(|line| run(line)["run"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(&["--all", "--user", "ada"]), ["tea"]);
    assert_eq!(listed(&["--phase", "ended"]), ["tea"]);
    assert_eq!(listed(&["--phase", "waiting", "--agent", "clerk"]), ["greet"]);
    assert_eq!(listed(&["--all", "--agent", "other"]), [""; 0]);
    assert_eq!(listed(&["--all", "--older-than", "1h"]), [""; 0]);
    let wrong = journal.run(&["runs", "list", "--phase", "sleeping"]);
    assert_eq!(wrong.code, 2, "{}", shown(&wrong));
}

#[test]
fn runs_are_listed_and_shown_without_what_acts_on_a_terminal() {
    let journal = journal();
    let listed = journal.run(&["runs", "list"]);
    let words: Vec<&str> = listed.out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(words[..5], ["greet", "clerk", "-", "waiting", "1"], "{}", shown(&listed));
    assert_eq!(listed.out.lines().count(), 2, "{}", shown(&listed));
    let all = journal.run(&["runs", "list", "--all", "--json"]);
    let ids: Vec<String> = all
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["run"].to_string())
        .collect();
    assert_eq!(ids, [r#""greet""#, r#""tea""#], "{}", shown(&all));

    let one = journal.run(&["runs", "show", "tea"]);
    assert_eq!(one.code, 0, "{}", shown(&one));
    assert!(
        one.out.contains("agent      clerk, for ada\nstate      ended: text since "),
        "{}",
        one.out
    );
    assert!(
        one.out.contains("spent      1207 tokens in (1000 of them cached), 83 out (30 of them reasoning), $0.0200; of 0 answers the tokens and of 1 the cost are not known; prices of 2026-11\n"),
        "{}",
        one.out
    );
    let turns: Vec<&str> = one.out.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(
        turns,
        [
            "[1] user    what is tea?",
            "[1] model   I look it up.",
            r#"[1] call    runs_look_up {"word":"tea"}"#,
            "[1] spent   small: 1200 tokens in (1000 of them cached), 80 out (30 of them reasoning), $0.0200 by the prices of 2026-11",
            r"[1] answer  runs_look_up \u{1b}[2Jtea: leaves in hot water",
            "[2] model   Leaves in hot water.",
            "[2] spent   7 tokens in, 3 out, unpriced",
        ]
    );
    let json = journal.run(&["runs", "show", "tea", "--json"]);
    let lines: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |line: usize, key: &str| lines[line][key].clone();
    assert_eq!(
        [of(0, "cost"), of(0, "prices"), of(0, "unpriced")],
        [json!("$0.0200"), json!("2026-11"), json!(1)]
    );
    assert_eq!([of(1, "cost"), of(1, "model")], [json!("$0.0200"), json!("small")]);
    assert_eq!(
        [of(2, "cost"), of(2, "usage")],
        [json!(null), json!({"input_tokens": 7, "output_tokens": 3})]
    );
    let missing = journal.run(&["runs", "show", "coffee"]);
    assert_eq!(missing.code, 3, "{}", shown(&missing));
    assert!(missing.err.contains("there is no run \"coffee\""), "{}", missing.err);
}

const LAST: &str =
    "[2] model   Leaves in hot water.\n[2] spent   7 tokens in, 3 out, unpriced\nended: text\n";

#[test]
fn a_run_is_watched_until_it_ends() {
    let journal = journal();
    let ended = journal.run(&["runs", "watch", "tea"]);
    assert_eq!(ended.code, 0, "{}", shown(&ended));
    assert!(ended.out.starts_with("[1] user    what is tea?\n"), "{}", ended.out);
    assert!(
        ended.out.contains("\n[1] spent   small: 1200 tokens in") && ended.out.ends_with(LAST),
        "{}",
        ended.out
    );

    let later = journal.run(&["runs", "watch", "tea", "--after", "1"]);
    assert_eq!(later.out, LAST, "{}", shown(&later));

    let mut command = journal.command(&["runs", "watch", "greet", "--interval", "20ms"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(line(), "[1] user    greet them\n");
    assert_eq!(line(), "[1] call    runs_send {\"text\":\"hello\"}\n");
    assert_eq!(line(), "waiting\n");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_end_of_a_run_is_asked_for_once_by_name() {
    let journal = journal();
    let asked =
        journal.run(&["runs", "cancel", "greet", "--by", "bob", "--why", "no greetings", "--json"]);
    assert_eq!(asked.code, 0, "{}", shown(&asked));
    assert!(asked.err.contains("run greet ends as soon as"), "{}", asked.err);
    for run in ["greet", "tea"] {
        let again = journal.run(&["runs", "cancel", run, "--by", "eve"]);
        assert_eq!(again.code, 0, "{}", shown(&again));
        assert!(again.err.contains("has ended, or its end was asked for before"), "{}", again.err);
    }
}

/// The head of a run with this member set, as a worker leaves it.
fn set(journal: &Journal, run: &str, member: &str, value: serde_json::Value) {
    let connection = rusqlite::Connection::open(journal.path("calls.db")).unwrap();
    let key = format!("run/{run}/head");
    let sql = "SELECT text FROM documents WHERE key = ?1";
    let text: String = connection.query_row(sql, [&key], |row| row.get(0)).unwrap();
    let mut head: serde_json::Value = serde_json::from_str(&text).unwrap();
    head[member] = value;
    let sql = "UPDATE documents SET text = ?2, version = version + 1 WHERE key = ?1";
    connection.execute(sql, [&key, &head.to_string()]).unwrap();
}

#[test]
fn a_run_that_is_parked_or_whose_model_is_away_is_let_go_on() {
    let journal = journal();
    let none = journal.run(&["runs", "resume", "--parked"]);
    assert_eq!(none.code, 0, "{}", shown(&none));
    assert!(none.err.contains("no run of this journal is parked"), "{}", none.err);

    let (at, until) = ("2026-11-01T00:00:00Z", "2999-01-01T00:00:00Z");
    set(&journal, "greet", "parked", json!({"why": "3 died", "at": at, "until": until}));
    let page = journal.run(&["runs", "show", "greet"]);
    assert!(page.out.contains("3 died") && page.out.contains(", until 2999-"), "{}", page.out);
    let resumed = journal.run(&["runs", "resume", "--parked", "--json"]);
    assert_eq!(resumed.code, 0, "{}", shown(&resumed));
    assert!(resumed.err.contains("run greet goes on as soon as"), "{}", resumed.err);
    assert!(resumed.out.contains("\"parked\":null"), "{}", resumed.out);

    let outage = json!({"since": at, "times": 7, "until": until, "kind": "unreachable"});
    set(&journal, "greet", "outage", outage);
    let page = journal.run(&["runs", "show", "greet"]);
    assert!(page.out.contains("(unreachable), asked 7 times, again 2999-"), "{}", page.out);
    let resumed = journal.run(&["runs", "resume", "greet"]);
    assert!(resumed.err.contains("run greet goes on as soon as"), "{}", resumed.err);
    let again = journal.run(&["runs", "resume", "greet"]);
    assert!(again.err.contains("is not parked, and its model is not away"), "{}", again.err);
}

#[test]
fn a_run_that_cannot_be_read_is_named_where_parked_runs_are_resumed() {
    let journal = journal();
    let connection = rusqlite::Connection::open(journal.path("calls.db")).unwrap();
    let sql = "UPDATE documents SET text = 'torn' WHERE key = 'run/greet/head'";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
    let ran = journal.run(&["runs", "resume", "--parked"]);
    assert_eq!(ran.code, 1, "{}", shown(&ran));
    assert!(ran.err.starts_with("warning: ") && ran.err.contains("run/greet/head"), "{}", ran.err);
    assert!(!ran.err.contains("no run of this journal is parked"), "{}", ran.err);
}

/// S3.26, S3.34, S3.35: the process that asked is gone, an approver decides with a program of their own, and the process that works on the journal
/// goes on.
#[test]
fn a_run_that_waits_goes_on_by_itself_when_another_process_approves_its_call() {
    let journal = journal();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (agents, call) = runtime.block_on(async {
        let store = SqliteStore::open(journal.path("calls.db")).await.unwrap();
        let ada = ApproverKey::load(journal.path("ada.key")).unwrap();
        let executor = Executor::builder(Registry::of([LOOK_UP, SEND]).unwrap())
            .journal(
                CallJournal::new(store)
                    .trust("ada", ada.public())
                    .on_no_approver(OnNoApprover::Park),
            )
            .build()
            .unwrap();
        let agent = Agent::on(executor, ScriptedModel::new().says("They are greeted."));
        let agents = Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap();
        let call = agents.head("greet").await.unwrap().waiting[0].call;
        (agents, call)
    });
    let working = agents.clone();
    let working = runtime.spawn(async move { working.work().await });
    let approved = journal.run(&["approvals", "approve", &call.to_string()]);
    assert_eq!(approved.code, 0, "{}", shown(&approved));
    // Nothing but the decision wakes it. What the run does in between is seen or not.
    let watched = journal.run(&["runs", "watch", "greet", "--interval", "20ms"]);
    let lines = watched.out.lines().filter(|line| !["waiting", "asking", "calling"].contains(line));
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "[1] user    greet them",
            "[1] call    runs_send {\"text\":\"hello\"}",
            "[1] answer  runs_send sent hello",
            "[2] model   They are greeted.",
            "ended: text",
        ],
        "{}",
        shown(&watched)
    );
    working.abort();
}

#[test]
fn a_run_that_has_ended_is_removed_and_no_other() {
    let journal = journal();
    let waits = journal.run(&["runs", "remove", "greet"]);
    assert_eq!(waits.code, 2, "{}", shown(&waits));
    assert!(waits.err.contains("run `greet` has not ended; cancel it"), "{}", waits.err);
    let removed = journal.run(&["runs", "remove", "tea"]);
    assert_eq!((removed.code, removed.out.as_str()), (0, ""), "{}", shown(&removed));
    assert!(removed.err.contains("run tea is removed; its calls stay"), "{}", removed.err);
    let all = journal.run(&["runs", "list", "--all"]);
    assert!(all.out.contains("greet") && !all.out.contains("tea"), "{}", shown(&all));
    assert_eq!(journal.run(&["runs", "remove", "tea"]).code, 3);
    let again = journal.run(&["runs", "fork", "greet", "--turn", "0", "--as", "tea"]);
    assert!(again.err.contains("has or had a run `tea` already"), "{}", again.err);
}

#[test]
fn a_run_is_forked_under_another_id() {
    let journal = journal();
    let forked = journal.run(&["runs", "fork", "tea", "--turn", "1", "--as", "tea-2"]);
    assert_eq!(forked.code, 0, "{}", shown(&forked));
    assert!(forked.out.contains("fork of    run tea, up to turn 1\n"), "{}", forked.out);
    let open = journal.run(&["runs", "fork", "greet", "--turn", "1", "--as", "other"]);
    assert_eq!(open.code, 2, "{}", shown(&open));
    assert!(open.err.contains("has calls without an answer in turn 1"), "{}", open.err);
    let taken = journal.run(&["runs", "fork", "tea", "--turn", "2", "--as", "tea-2"]);
    assert_eq!(taken.code, 2, "{}", shown(&taken));
}

/// A journal with a run whose agent gives a task to one that gives it on, both under a ceiling.
fn tree() -> Journal {
    let journal = Journal::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(journal.path("calls.db")).await.unwrap();
        let price = Price::new(Rates::new(Cost::cents(1_000), Cost::cents(2_000)));
        let task = |agent: &str| json!({"agent": agent, "task": "Look."}).to_string();
        let answers =
            |calls: Vec<ToolCall>| ModelAnswer::new("", calls).usage(Usage::new(900, 100));
        let spawn = |agent: &str| vec![call("c1", "spawn_agent", &task(agent))];
        let model = || ScriptedModel::new().price(price);
        let lead = model().answers(answers(spawn("lead")));
        let of_lead = model().answers(answers(spawn("clerk")));
        let send = vec![call("c1", "runs_send", r#"{"text":"hello"}"#)];
        let of_clerk = model().answers(answers(send));
        let agent = Agent::builder(lead)
            .name("boss")
            .tools([LOOK_UP, SEND])
            .journal(CallJournal::new(store).on_no_approver(OnNoApprover::Park))
            .max_tokens(1_000)
            .ceiling(Ceiling::of_each_user(Period::Month, Cost::cents(500)))
            .sub_agent(
                SubAgent::new("lead", "Leads.")
                    .model(of_lead)
                    .profile(["spawn_agent", "runs_send"]),
            )
            .sub_agent(SubAgent::new("clerk", "Writes.").model(of_clerk).profile(["runs_send"]))
            .build()
            .unwrap();
        let agents = Runner::builder().agent("boss", agent).build().unwrap();
        let run = NewRun::new("r1", "boss", "greet them").user("ada");
        let progress = agents.start(run).await.unwrap();
        assert!(progress.waiting().is_some(), "{progress}");
    });
    journal
}

#[test]
fn the_tree_of_a_run_shows_who_has_given_a_task_to_whom_and_what_that_took() {
    let journal = tree();
    let shown_tree = journal.run(&["runs", "show", "r1", "--tree"]);
    assert_eq!(shown_tree.code, 0, "{}", shown(&shown_tree));
    let rows: Vec<Vec<&str>> =
        shown_tree.out.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected: [&[&str]; 4] = [
        &["AGENT", "FROM", "TURN", "STATE", "TURNS", "TOKENS", "COST", "CALL"],
        &["boss", "-", "waiting", "1", "1000", "$0.0110", "-"],
        &["lead", "1", "waiting", "1", "2000", "$0.0220"],
        &["clerk", "1", "waiting", "1", "1000", "$0.0110"],
    ];
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!(&row[..expected.len()], expected, "{}", shown_tree.out);
    }
    assert!(shown_tree.out.contains("\n  lead ") && shown_tree.out.contains("\n    clerk "));

    let json = journal.run(&["runs", "show", "r1", "--tree", "--json"]);
    let lines: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["run"], lines.len()), (&json!("r1"), 3), "{}", json.out);
    assert_eq!(lines[2]["agents"], json!(["lead", "clerk"]));
    assert_eq!((&lines[2]["parent"], &lines[1]["parent"]), (&lines[1]["call"], &json!(null)));
    assert_eq!((&lines[1]["cost"], &lines[1]["own_cost"]), (&json!("$0.0220"), &json!("$0.0110")));

    let mut command = journal.command(&["runs", "watch", "r1", "--interval", "20ms"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<String> = output.lines().take(6).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        lines.contains(&"[1] agent   lead/clerk: waiting, asked 1 time".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn what_was_spent_under_a_ceiling_is_shown() {
    let journal = tree();
    let spending = journal.run(&["spending"]);
    assert_eq!(spending.code, 0, "{}", shown(&spending));
    let row: Vec<&str> = spending.out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[1..], ["user", "ada", "$0.0330", "$0.0000", "$5.0000", "3"], "{}", spending.out);
    let json = journal.run(&["spending", "--json", "--period", row[0]]);
    let line: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&line["whose"], &line["spent"]), (&json!("user"), &json!(33_000_000_000_u64)));
    let none = journal.run(&["spending", "--period", "1999-12"]);
    assert_eq!((none.code, &*none.err), (0, "note: nothing was spent under a ceiling\n"));
}

#[test]
fn a_run_is_shown_whole_beside_what_its_model_was_not_sent() {
    let journal = Journal::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(journal.path("calls.db")).await.unwrap();
        let executor = Executor::builder(Registry::of([LOOK_UP]).unwrap())
            .journal(CallJournal::new(store).on_no_approver(OnNoApprover::Park))
            .unrestricted();
        let model = (0..8).fold(ScriptedModel::new(), |model, number| {
            let word = format!("{number}{}", "x".repeat(1_500));
            model.calls([("runs_look_up", format!(r#"{{"word":"{word}"}}"#).as_str())])
        });
        let agent = Agent::on(executor.build().unwrap(), model.says("Done.")).window(4_000);
        let agents = Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap();
        agents.start(NewRun::new("long", "clerk", "look them up")).await.unwrap();
    });
    let plain = journal.run(&["runs", "show", "long"]);
    assert!(!plain.out.contains("] sent "), "{}", shown(&plain));
    let whole = journal.run(&["runs", "show", "long", "--whole"]);
    assert_eq!(whole.code, 0, "{}", shown(&whole));
    assert!(whole.out.contains("[9] sent    without turns 1"), "{}", shown(&whole));
    assert!(whole.out.contains(&"x".repeat(1_500)), "the texts are whole");
    let json = journal.run(&["runs", "show", "long", "--whole", "--json"]);
    let turns: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(turns[9]["left_out"]["turns"][0], 1, "{}", turns[9]);
    assert!(turns[1].get("left_out").is_none());
}

#[test]
fn a_run_goes_back_with_the_files_of_a_workspace_and_forward_again() {
    let journal = Journal::new();
    let (folder, changes) = (journal.path("work"), journal.path("changes.db"));
    std::fs::create_dir(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(journal.path("calls.db")).await.unwrap();
        let log = ChangeLog::open(&changes, Workspace::open(&folder).unwrap().into()).unwrap();
        let executor = Executor::builder(Registry::of([WRITE]).unwrap())
            .service(Folder(folder.clone()))
            .middleware(log)
            .journal(CallJournal::new(store).on_no_approver(OnNoApprover::Park))
            .unrestricted();
        let writes = |text: &str| format!(r#"{{"path":"a.txt","text":"{text}"}}"#);
        let model = ScriptedModel::new()
            .calls([("runs_write", writes("one").as_str())])
            .calls([("runs_write", writes("two").as_str())])
            .says("Done.");
        let agent = Agent::on(executor.build().unwrap(), model).build().unwrap();
        let agents = Runner::builder().agent("clerk", agent).build().unwrap();
        agents.start(NewRun::new("r1", "clerk", "write")).await.unwrap();
    });
    let text = || std::fs::read_to_string(folder.join("a.txt")).unwrap();
    let (work, log) = (folder.to_str().unwrap(), changes.to_str().unwrap());
    let files = ["--workspace", work, "--changes", log];
    let ran = |words: &[&str]| journal.run(&[&["runs"], words, &files].concat());
    assert_eq!(text(), "two");

    let back = ran(&["rewind", "r1", "--turn", "1"]);
    assert_eq!((back.code, text().as_str()), (0, "one"), "{}", shown(&back));
    assert!(back.out.contains("restored  a.txt\nrun       r1-at-1 goes on"), "{}", shown(&back));
    let page = journal.run(&["runs", "show", "r1"]);
    assert!(page.out.contains("to turn 1; run r1-at-1 goes on from there"), "{}", shown(&page));
    let again = ran(&["rewind", "r1", "--turn", "1"]);
    assert_eq!(again.code, 2, "{}", shown(&again));
    let redone = ran(&["redo", "r1", "--json"]);
    assert_eq!((redone.code, text().as_str()), (0, "two"), "{}", shown(&redone));
    assert!(redone.out.contains(r#""removed":"r1-at-1""#), "{}", shown(&redone));
    std::fs::write(folder.join("a.txt"), "by hand").unwrap();
    let refused = ran(&["rewind", "r1", "--turn", "1"]);
    assert_eq!((refused.code, text().as_str()), (2, "by hand"), "{}", shown(&refused));
    let nowhere = journal.run(&["runs", "redo", "r1", "--workspace", work, "--changes", "no.db"]);
    assert!(nowhere.err.contains("found no log of changes `no.db`"), "{}", shown(&nowhere));
}
