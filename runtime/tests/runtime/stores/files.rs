//! Which files are taken for journals, and what is said of the others.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use toolwright::journal::{
    CallRecord, CallWrite, Filter, Page, SqliteStore, State, Store, StoredText, Transaction,
};

use super::support::{Folder, call, document, note, now};

async fn refused(path: &Path) -> String {
    match SqliteStore::open(path).await {
        Ok(_) => panic!("{} is taken for a journal", path.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_was_kept_is_there_when_the_file_is_opened_again() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    note(&store, "a", "kept").await.unwrap();
    drop(store);
    for store in
        [SqliteStore::open_existing(folder.file()).await, SqliteStore::open(folder.file()).await]
    {
        assert_eq!(document(&store.unwrap(), "a").await.as_deref(), Some("kept"));
    }
}

#[tokio::test]
async fn what_only_looks_makes_no_file() {
    let folder = Folder::new();
    let error = SqliteStore::open_existing(folder.file()).await.unwrap_err().to_string();
    assert!(error.contains("is not there"), "{error}");
    assert!(error.contains("calls.db"), "{error}");
    assert!(!folder.file().exists());

    fs::write(folder.file(), "").unwrap();
    let error = SqliteStore::open_existing(folder.file()).await.unwrap_err().to_string();
    assert!(error.contains("is empty"), "{error}");
    assert_eq!(fs::metadata(folder.file()).unwrap().len(), 0);
    #[cfg(unix)]
    mode(&folder.file(), 0o600);
    SqliteStore::open(folder.file()).await.unwrap();
}

#[cfg(unix)]
fn mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Who can read it reads what tools were called with; who can write it changes calls.
#[cfg(unix)]
#[tokio::test]
async fn a_journal_that_every_user_can_read_or_write_is_refused() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    note(&store, "a", "kept").await.unwrap();
    for open in [0o666, 0o644, 0o602] {
        mode(&folder.file(), open);
        for error in [
            SqliteStore::open(folder.file()).await.unwrap_err(),
            SqliteStore::open_existing(folder.file()).await.unwrap_err(),
        ] {
            let words = error.to_string();
            assert!(words.contains(&format!("has mode {open:04o}")), "{words}");
            assert!(words.contains("chmod o= '"), "{words}");
        }
    }
    // A group was given the file by somebody.
    mode(&folder.file(), 0o660);
    let store = SqliteStore::open(folder.file()).await.unwrap();
    assert_eq!(document(&store, "a").await.as_deref(), Some("kept"));
    // What is not moved into the file yet lies beside it.
    let log = folder.path().join("calls.db-wal");
    mode(&log, 0o666);
    let error = SqliteStore::open(folder.file()).await.unwrap_err().to_string();
    assert!(error.contains("calls.db-wal` has mode 0666"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    note(&store, "a", "secret").await.unwrap();
    let mut files = 0;
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.path().display());
        files += 1;
    }
    assert!(files > 1, "the log lies beside the file");
}

#[tokio::test]
async fn the_store_tells_its_whole_path() {
    let folder = Folder::new();
    let roundabout = folder.path().join("..").join(folder.path().file_name().unwrap());
    let store = SqliteStore::open(roundabout.join(".").join("calls.db")).await.unwrap();
    assert_eq!(store.file(), Some(roundabout.join("calls.db").as_path()));
    let name = format!("{store:?}");
    assert!(name.contains(&folder.file().canonicalize().unwrap().display().to_string()), "{name}");
}

#[tokio::test]
async fn a_name_is_never_more_than_a_name() {
    let folder = Folder::new();
    for name in [":memory:", "file:x?mode=memory", "a b%20'c"] {
        let path = folder.path().join(name);
        let store = SqliteStore::open(&path).await.unwrap();
        note(&store, "a", "kept").await.unwrap();
        assert!(path.exists(), "{name}");
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_told() {
    let folder = Folder::new();
    let error = refused(&folder.path().join("none").join("calls.db")).await;
    assert!(error.contains("none/calls.db` cannot be made: `"), "{error}");
    assert!(error.ends_with("none` is no folder; make it first"), "{error}");
    let error = refused(folder.path()).await;
    assert!(error.contains("cannot be opened"), "{error}");
}

#[tokio::test]
async fn a_file_of_another_program_is_left_alone() {
    let folder = Folder::new();
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("CREATE TABLE mine (x)").unwrap();
    drop(other);
    let before = fs::read(folder.file()).unwrap();
    let error = refused(&folder.file()).await;
    assert!(error.contains("is an SQLite file of another program"), "{error}");
    assert_eq!(fs::read(folder.file()).unwrap(), before);

    let other = Connection::open(folder.file()).unwrap();
    other.pragma_update(None, "application_id", 42).unwrap();
    other.pragma_update(None, "user_version", 1).unwrap();
    drop(other);
    let error = refused(&folder.file()).await;
    assert!(error.contains("application id 0x2a"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_sqlite_is_left_alone() {
    let folder = Folder::new();
    let text = "a diary, not a journal\n".repeat(200);
    fs::write(folder.file(), &text).unwrap();
    let error = refused(&folder.file()).await;
    assert!(error.contains("is no SQLite file"), "{error}");
    assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
}

#[tokio::test]
async fn a_journal_of_a_newer_version_is_refused() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).await.unwrap());
    let connection = Connection::open(folder.file()).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    drop(connection);
    let error = refused(&folder.file()).await;
    assert!(error.contains("is of version 999"), "{error}");
    assert!(error.contains("use a newer release"), "{error}");
    let error = SqliteStore::open_existing(folder.file()).await.unwrap_err().to_string();
    assert!(error.contains("is of version 999"), "{error}");
}

/// A call with these arguments, as its model sent them.
fn call_with(arguments: &str, raw: &str) -> CallRecord {
    call(1, State::Pending).record.with(|it| {
        it.arguments = StoredText::Plain(arguments.to_owned());
        it.raw = StoredText::Plain(raw.to_owned());
        it.shown = arguments.to_owned();
    })
}

async fn commit(store: &SqliteStore, record: &CallRecord) {
    let calls = vec![CallWrite { expects: None, record: record.clone(), entries: Vec::new() }];
    let unit = Transaction { calls, ..Transaction::default() };
    store.commit(unit, now()).await.unwrap();
}

#[tokio::test]
async fn a_long_text_of_a_call_is_written_once() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let text = format!(r#"{{"text":"{}"}}"#, "a".repeat(100_000));
    let as_sent = call_with(&text, &text);
    commit(&store, &as_sent).await;
    assert_eq!(store.get(as_sent.id).await.unwrap(), Some(as_sent.clone()));
    let connection = Connection::open(folder.file()).unwrap();
    let sql = "SELECT length(body) FROM calls";
    let length = connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert!((100_000..102_000).contains(&length), "{length}");

    // What is shown later in the place of what was left out is seen.
    let sql = r#"UPDATE calls SET body = json_set(body, '$.shown', '{"text":"b"}')"#;
    connection.execute(sql, []).unwrap();
    let changed = store.get(as_sent.id).await.unwrap().unwrap();
    assert_eq!(changed.shown, r#"{"text":"b"}"#);
    assert_ne!(changed.shows_what_is_judged(), Some(true));
}

#[tokio::test]
async fn a_call_whose_texts_were_all_written_is_read() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let record = call_with(r#"{"a":1}"#, r#"{"a":1}"#);
    commit(&store, &record).await;
    let connection = Connection::open(folder.file()).unwrap();
    // As every version before wrote it.
    let body = serde_json::to_string(&record).unwrap();
    assert_eq!(body.matches(r#"{\"a\":1}"#).count(), 3, "{body}");
    connection.execute("UPDATE calls SET body = ?1", [body]).unwrap();
    assert_eq!(store.get(record.id).await.unwrap(), Some(record));
}

/// Two releases do not share a file: the older one would take the newer one's calls for damaged.
#[tokio::test]
async fn the_format_is_marked_in_the_file() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let connection = Connection::open(folder.file()).unwrap();
    let number = |text: &str| connection.query_row(text, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("PRAGMA application_id"), 0x7477_6a6c);
    assert_eq!(number("PRAGMA user_version"), 3);
    drop(store);
}

#[tokio::test]
async fn a_damaged_file_is_told_and_no_page_of_it_is_made_up() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    for number in 0..200 {
        note(&store, &format!("{number:03}"), &"x".repeat(500)).await.unwrap();
    }
    store.pragma("wal_checkpoint", 0).await.unwrap();
    drop(store);
    let connection = Connection::open(folder.file()).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);

    let whole = fs::read(folder.file()).unwrap();
    let mut torn = whole.clone();
    let half = torn.len() / 2 / 4096 * 4096;
    torn[half..].fill(0x5a);
    fs::write(folder.file(), &torn).unwrap();
    let error = match SqliteStore::open(folder.file()).await {
        Ok(store) => store.documents("").await.unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("is damaged"), "{error}");

    fs::write(folder.file(), &whole[..whole.len() / 2]).unwrap();
    let error = match SqliteStore::open(folder.file()).await {
        Ok(store) => store.documents("").await.unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("is damaged"), "{error}");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_told_without_its_values() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let connection = Connection::open(folder.file()).unwrap();
    let body = r#"{"id":"hush-hush"}"#;
    let row = "INSERT INTO calls (id, run, idx, tool, digest, created, state, version, epoch, delivered, body) \
               VALUES (x'00112233445566778899aabbccddeeff', '', 0, '', '', 0, 'ready', 1, 0, 0, ?1)";
    connection.execute(row, [body]).unwrap();
    let listed = store.list(&Default::default(), Page::first(1)).await.unwrap();
    let error = listed.damaged[0].to_string();
    let id = "00112233-4455-6677-8899-aabbccddeeff";
    assert!(error.starts_with(&format!("call {id} cannot be read: Data error")), "{error}");
    assert!(!error.contains("hush"), "{error}");
}

#[tokio::test]
async fn histories_are_neither_changed_nor_removed() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let connection = Connection::open(folder.file()).unwrap();
    connection.execute("INSERT INTO events VALUES (x'00', 1, '{}')", []).unwrap();
    for statement in ["UPDATE events SET body = ''", "DELETE FROM events"] {
        let error = connection.execute(statement, []).unwrap_err().to_string();
        assert!(error.contains("only ever added to"), "{error}");
    }
    drop(store);
}

/// As the first version made it, with the index of that version.
#[tokio::test]
async fn a_journal_of_the_first_version_is_brought_to_this_one() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let unit = Transaction { calls: vec![call(1, State::Pending)], ..Transaction::default() };
    store.commit(unit, now()).await.unwrap();
    drop(store);
    let connection = Connection::open(folder.file()).unwrap();
    let first = "DROP INDEX calls_by_state; \
                 CREATE INDEX calls_by_state ON calls (state, id) WHERE state <> 'succeeded'; \
                 PRAGMA user_version = 1;";
    connection.execute_batch(first).unwrap();
    // No summary needs a body.
    connection.execute("UPDATE calls SET body = 'unreadable'", []).unwrap();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    assert_eq!(
        version,
        Ok(3),
        "a release that reads earlier versions alone is refused from now on"
    );
    let pending = Filter { states: vec![State::Pending], ..Filter::default() };
    let found = store.summaries(&pending, Page::first(9)).await.unwrap().calls;
    assert_eq!(found.len(), 1);
    // One that has seen the earlier index may remember it.
    let connection = Connection::open(folder.file()).unwrap();
    let plan: String = connection
        .query_row(
            "EXPLAIN QUERY PLAN SELECT id, version, state, due FROM calls INDEXED BY calls_by_state \
             WHERE state = 'pending' AND state <> 'succeeded' ORDER BY id LIMIT 9",
            [],
            |row| row.get("detail"),
        )
        .unwrap();
    assert!(plan.contains("COVERING INDEX calls_by_state"), "{plan}");
}
