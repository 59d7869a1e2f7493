//! An agent that has a shell, and wants its own refund.
//!
//! The application is the example's with a shell beside its tools, unsandboxed and without asking: nobody should run one
//! so. The agent's commands are written here; what comes of each is printed in a table.

mod office;
mod policy;
mod shell;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use toolwright::approval::{ApproverKey, Clause, Grant, GrantTerms, Scope, Statement};
use toolwright::journal::State;
use toolwright::unstable::arguments::canonical;

use self::office::{Office, Row, forget_what_came_after, json, set, set_ready, table};
use crate::shop::{Shop, filtered};

/// What the call that waits was made with.
const ASKED: &str = r#"{"order":"A-1001","cents":4200}"#;
/// More than it asked for.
const MORE: &str = r#"{"order":"A-1001","cents":990000}"#;

async fn without_a_key() -> Row {
    let office = Office::open("without-a-key").await;
    office.shell(&format!("toolwright approvals approve {}", office.refund)).await;
    office.row("approves without a key").await
}

async fn with_a_key_of_its_own() -> Row {
    let office = Office::open("own-key").await;
    office.shell("toolwright keys new --name ada --out mine.key --anyway").await;
    office.shell(&format!("toolwright approvals approve {} --key mine.key", office.refund)).await;
    office.row("approves with a key that it makes, in Ada's name").await
}

async fn ready() -> Row {
    let office = Office::open("ready").await;
    office.sql(&set(office.refund, "'$.state', 'ready'")).await;
    office.row("sets the call to `ready` in the journal").await
}

async fn ready_with_a_history() -> Row {
    let office = Office::open("history").await;
    office.sql(&set_ready(office.refund, "")).await;
    office.row("does so, and writes into its history that Ada approved it").await
}

async fn a_decision_of_its_own() -> Row {
    let office = Office::open("own-decision").await;
    let key = ApproverKey::generate("ada").unwrap();
    let statement = Statement::approve(&office.record().await, "ada", jiff::Timestamp::now());
    let decision = json(&key.sign(&statement).unwrap());
    office.sql(&set_ready(office.refund, &format!(", '$.decision', json('{decision}')"))).await;
    office.row("does so, with a decision signed by a key of its own").await
}

async fn the_decision_of_another_call() -> Row {
    let office = Office::open("other-decision").await;
    let small = office.ask(2, r#"{"order":"A-1001","cents":100}"#).await;
    office.shop.ada(&["approvals", "approve", &small.to_string()]);
    office.goes_on(small).await;
    let decision = json(&office.record_of(small).await.decision.unwrap());
    office.sql(&set_ready(office.refund, &format!(", '$.decision', json('{decision}')"))).await;
    office.row("does so, with Ada's approval of a refund of 1.00 EUR").await
}

async fn other_arguments() -> Row {
    let office = Office::open("arguments").await;
    office.approved();
    office.sql(&set(office.refund, &format!("'$.arguments.plain', '{MORE}'"))).await;
    office.row("changes the arguments of a call that Ada has approved").await
}

async fn other_arguments_and_digest() -> Row {
    let office = Office::open("arguments-and-digest").await;
    office.approved();
    let other = office.digest_of(MORE).await;
    let change =
        format!("'$.arguments.plain', '{MORE}', '$.shown', '{MORE}', '$.digest', '{other}'");
    office.sql(&set(office.refund, &change)).await;
    office.row("changes the arguments and the digest of a call that Ada has approved").await
}

async fn a_grant_of_its_own() -> Row {
    let office = Office::open("own-grant").await;
    let record = office.record().await;
    let of_its_order =
        Clause { pointer: "/order".to_owned(), is_one_of: vec!["\"A-1001\"".to_owned()] };
    let terms = GrantTerms {
        scope: Scope::Forever,
        tool: record.tool.clone(),
        fingerprint: record.fingerprint.clone(),
        arguments: vec![of_its_order],
        until: None,
        uses: None,
    };
    let (key, now) = (ApproverKey::generate("ada").unwrap(), jiff::Timestamp::now());
    let statement = Statement::approve_with_grant(&record, terms, "ada", now);
    let id = Grant::id_of(record.id, record.generation);
    let signed = key.sign(&statement).unwrap();
    let grant = Grant { id: id.clone(), signed, granted: now, used: 0, revoked: None };
    let (key, text) = (Grant::key(&record.tool, &id), grant.to_text().replace('\'', "''"));
    office.sql(&format!("INSERT INTO documents VALUES ('{key}', 1, '{text}')")).await;
    office.sql(&set_ready(office.refund, "")).await;
    office
        .row("sets it to `ready` with a forged history and a grant signed by a key of its own")
        .await
}

/// Ada looks at what is in the journal: it must be what she signs.
async fn another_call_shown() -> Row {
    let office = Office::open("shown").await;
    let other = office.digest_of(MORE).await;
    // Ada sees the arguments that were asked for, and would sign the digest of others.
    office
        .sql(&set(
            office.refund,
            &format!("'$.arguments.plain', '{MORE}', '$.shown', '{ASKED}', '$.digest', '{other}'"),
        ))
        .await;
    let decided = office.shop.command_of_ada(&["approvals", "approve", &office.refund.to_string()]);
    office.hears(&decided.err);
    office.row("shows Ada the call as it was asked for, and has her sign another").await
}

#[tokio::test]
async fn an_agent_with_a_shell_cannot_approve_its_own_call() {
    let rows = [
        without_a_key().await,
        with_a_key_of_its_own().await,
        ready().await,
        ready_with_a_history().await,
        a_decision_of_its_own().await,
        the_decision_of_another_call().await,
        other_arguments().await,
        other_arguments_and_digest().await,
        a_grant_of_its_own().await,
        another_call_shown().await,
    ];
    let table = table(&rows);
    println!("{table}");
    for row in &rows {
        let unapproved = row.refunds.iter().find(|line| *line != "refund A-1001 100");
        assert_eq!(unapproved, None, "{}", row.tried);
    }
    filtered(|| insta::assert_snapshot!(table));
}

async fn the_approvers_key() -> Row {
    let office = Office::open("approvers-key").await;
    let mode = fs::metadata(office.shop.folder.join("ada.key")).unwrap().mode() & 0o777;
    assert_eq!(mode, 0o600);
    office.shell("cp ada.key mine.key && wc -l < mine.key").await;
    office.shell(&format!("toolwright approvals approve {} --key mine.key", office.refund)).await;
    office.row("reads Ada's key, whose file is its own user's, and approves with it").await
}

async fn a_call_that_is_over() -> Row {
    let office = Office::open("over").await;
    office.approved();
    office.goes_on(office.refund).await;
    assert_eq!(office.shop.refunds().len(), 1);
    office.sql(&set(office.refund, "'$.state', 'ready', '$.answer', NULL")).await;
    office.row("sets a call that Ada approved and that is over to `ready` again").await
}

async fn a_call_that_is_over_and_its_history() -> Row {
    let office = Office::open("over-and-history").await;
    office.approved();
    office.goes_on(office.refund).await;
    assert_eq!(office.shop.refunds().len(), 1);
    let forget = forget_what_came_after(office.refund);
    office
        .sql(&format!("{} {forget}", set(office.refund, "'$.state', 'ready', '$.answer', NULL")))
        .await;
    office.row("does so, and takes what came after the approval from its history").await
}

async fn a_grant_that_is_used_up() -> Row {
    let office = Office::open("used-up").await;
    let id = office.refund.to_string();
    office.shop.ada(&["approvals", "grant", &id, "--scope", "forever", "--exactly", "--uses", "1"]);
    office.goes_on(office.refund).await;
    office.run_granted(2, ASKED).await;
    assert_eq!(office.shop.refunds().len(), 2, "the call itself, and the one use");
    let reset = "UPDATE documents SET version = version + 1, text = json_set(text, '$.used', 0) \
                 WHERE key LIKE 'grant/%'";
    office.sql(reset).await;
    office.run_granted(3, ASKED).await;
    office.row("sets the count of a grant that is used up to zero, and asks again").await
}

async fn a_call_that_it_ends() -> Row {
    let office = Office::open("ended").await;
    office.shell("toolwright keys new --name mallory --out mine.key --anyway").await;
    let id = office.refund;
    office.shell(&format!("toolwright approvals reject {id} --reason no --key mine.key")).await;
    office.row("rejects a call with a key of its own").await
}

/// Ada looked at a call, and approves by its id what has taken its place meanwhile.
async fn another_call_in_its_place() -> Row {
    let office = Office::open("in-its-place").await;
    let id = office.refund.to_string();
    let looked = office.shop.toolwright(&["approvals", "show", &id]);
    assert!(looked.out.contains("4200") && !looked.out.contains("990000"), "{looked:?}");
    let other = office.digest_of(MORE).await;
    let change =
        format!("'$.arguments.plain', '{MORE}', '$.shown', '{MORE}', '$.digest', '{other}'");
    office.sql(&set(office.refund, &change)).await;
    let decided = office.shop.ada(&["approvals", "approve", &id]);
    assert!(decided.err.contains("990000"), "she is told what she signs: {decided:?}");
    office.row("puts another refund in the place of the one that Ada has looked at").await
}

/// What has to be kept from an agent by a sandbox, or by another user: this shows why.
#[tokio::test]
async fn what_an_agent_can_do_that_writes_the_journal_or_reads_the_key() {
    let rows = [
        the_approvers_key().await,
        another_call_in_its_place().await,
        a_call_that_is_over().await,
        a_call_that_is_over_and_its_history().await,
        a_grant_that_is_used_up().await,
        a_call_that_it_ends().await,
    ];
    let table = table(&rows);
    println!("{table}");
    println!(
        "None of this can be stopped by the application: keep journal and keys where its tools cannot reach."
    );
    let paid: Vec<usize> = rows.iter().map(|row| row.refunds.len()).collect();
    assert_eq!(paid, [1, 1, 1, 1, 3, 0]);
    assert_eq!(rows[0].state, State::Succeeded);
    filtered(|| insta::assert_snapshot!(table));
}

/// The key's file has mode 0600, so another user cannot read it. To be another user takes root.
#[test]
fn a_process_of_another_user_cannot_read_the_approvers_key() {
    let shop = Shop::within(&std::env::temp_dir(), &format!("approvals-{}", std::process::id()));
    let uid = fs::metadata(&shop.folder).unwrap().uid();
    if uid != 0 {
        println!(
            "not shown here: the test runs as user {uid}, and only root can start a process of another user"
        );
        fs::remove_dir_all(&shop.folder).unwrap();
        return;
    }
    fs::set_permissions(&shop.folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(shop.folder.join("notes.txt"), "hello").unwrap();
    let cat = |file: &str| {
        use std::os::unix::process::CommandExt as _;
        let mut cat = Command::new("cat");
        let output =
            cat.arg(file).current_dir(&shop.folder).uid(65_534).gid(65_534).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let (notes, key) = (cat("notes.txt"), cat("ada.key"));
    fs::remove_dir_all(&shop.folder).unwrap();
    assert!(notes.0, "the folder itself can be read: {}", notes.1);
    assert!(!key.0 && key.1.contains("ermission denied"), "{}", key.1);
}

/// The digest that a record would have with other arguments.
fn digest_with(record: &toolwright::journal::CallRecord, arguments: &str) -> String {
    record.digest_with(&canonical(arguments).unwrap())
}
