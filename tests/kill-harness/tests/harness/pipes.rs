//! The context store is compared with the journal: a text that is half, missing, doubled or of no call is found.

use kill_harness::check::Kind;
use kill_harness::life::Life;
use kill_harness::script::PIPE;
use kill_harness::{Sqlite, texts, world};
use rusqlite::Connection;
use toolwright::journal::State;

use crate::lives::{Process, in_state, settled};

const HALF: &str = "UPDATE versions SET content = substr(content, 1, length(content) / 2)";

const GONE: &str = "DELETE FROM entries";

const TWICE: &str = "UPDATE entries SET version = version + 1;
                     INSERT INTO versions SELECT entry, entries.version, content, hash, note, written_at, untrusted
                       FROM versions JOIN entries ON id = entry AND entries.version = versions.version + 1";

const OF_NO_CALL: &str = "UPDATE versions SET note = 'the output of `pay`, by call 7'";

#[test]
fn a_text_that_is_not_what_the_journal_says_is_found() {
    // On a busy machine, the calls of a life may end before a pipe does.
    let lives = (3..13).find_map(|seed| {
        let folder = tempfile::tempdir().unwrap();
        let life = Life::new(folder.path(), seed);
        assert!(Process::start(&life).end().success());
        settled(&life);
        let succeeded = in_state(folder.path(), State::Succeeded);
        succeeded.iter().any(|record| record.tool == PIPE).then_some((folder, life))
    });
    let (folder, life) = lives.expect("a pipe succeeds in one of ten lives");
    let file = texts::file(folder.path());
    let whole = std::fs::read(&file).unwrap();
    for (change, kind, words) in [
        (HALF, Kind::Unexpected, "is not the inner answer"),
        (GONE, Kind::Lost, "but its text is not stored"),
        (TWICE, Kind::Duplicate, "it has stored 2 texts"),
        (OF_NO_CALL, Kind::Unexpected, "is of no call"),
    ] {
        std::fs::write(&file, &whole).unwrap();
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
        connection.execute_batch(change).unwrap();
        drop(connection);
        let found = world::checked(&life, &Sqlite).unwrap().findings;
        let is_found = found.iter().any(|it| it.kind == kind && it.why.contains(words));
        assert!(is_found, "{change}: {found:#?}");
    }
}
