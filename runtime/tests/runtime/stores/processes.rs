//! Several processes on one file. The other process is this binary again, told by a variable what to do.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use toolwright::CallId;
use toolwright::journal::{Note, SqliteStore, State, Store, Transaction, Transition};

use super::support::{Folder, call, now, write};

const JOB: &str = "TOOLWRIGHT_STORES_JOB";
const FILE: &str = "TOOLWRIGHT_STORES_FILE";
const NAME: &str = "TOOLWRIGHT_STORES_NAME";

/// How many versions are raced for.
const RACES: u64 = 100;

fn other_process(job: &str, file: &Path, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stores::processes::another_process_does_what_it_is_told", "--nocapture"])
        .envs([(JOB, job), (NAME, name)])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Does nothing unless this is the other process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_does_what_it_is_told() {
    let Ok(job) = std::env::var(JOB) else { return };
    let file = std::env::var_os(FILE).unwrap();
    let name = std::env::var(NAME).unwrap();
    let store = SqliteStore::open(file).await.unwrap();
    match job.as_str() {
        "race" => println!("\nwon {}", race(&store, &name).await),
        "write" => write_until_killed(&store).await,
        other => panic!("nobody knows how to do `{other}`"),
    }
}

/// Raises a document to a version, again and again; how often it was this one who did.
async fn race(store: &SqliteStore, name: &str) -> u64 {
    let mut won = 0;
    loop {
        let version = store.document("race").await.unwrap().map(|it| it.version);
        if version == Some(RACES) {
            return won;
        }
        let next = version.unwrap_or(0) + 1;
        let documents =
            vec![write("race", version, name), write(&format!("won/{next}"), None, name)];
        match store.commit(Transaction { documents, ..Transaction::default() }, now()).await {
            Ok(()) => won += 1,
            Err(error) => assert!(error.is_conflict(), "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_commits_that_race_between_processes_one_wins_each() {
    let folder = Folder::new();
    let others = ["one", "two"].map(|name| other_process("race", &folder.file(), name));
    let (first, second) =
        tokio::join!(async { SqliteStore::open(folder.file()).await.unwrap() }, async {
            SqliteStore::open(folder.file()).await.unwrap()
        },);
    let (here, there) = tokio::join!(race(&first, "three"), race(&second, "four"));
    let mut won = vec![("three", here), ("four", there)];
    for (name, mut other) in ["one", "two"].into_iter().zip(others) {
        let mut told = String::new();
        other.stdout.take().unwrap().read_to_string(&mut told).unwrap();
        assert!(other.wait().unwrap().success(), "{told}");
        let line = told.lines().find_map(|line| line.strip_prefix("won ")).unwrap();
        won.push((name, line.parse().unwrap()));
    }
    let total: u64 = won.iter().map(|(_, count)| count).sum();
    assert_eq!(total, RACES, "{won:?}");
    let winners = first.documents("won/").await.unwrap();
    assert_eq!(winners.len() as u64, RACES);
    for (name, count) in won {
        assert_eq!(winners.iter().filter(|it| it.text == name).count() as u64, count, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_new_file_is_made_once_however_many_open_it() {
    for _ in 0..20 {
        let folder = Folder::new();
        let openings = (0..8).map(|_| tokio::spawn(SqliteStore::open(folder.file())));
        for opening in openings.collect::<Vec<_>>() {
            opening.await.unwrap().unwrap();
        }
    }
}

/// Units of two calls and a document each, from several tasks at once; tells of each that was committed.
async fn write_until_killed(store: &SqliteStore) {
    let tasks = (0..8_u64).map(|task| {
        let store = store.clone();
        tokio::spawn(async move {
            for step in 0..1_000_000 {
                let number = task * 1_000_000 + step;
                let unit = unit_of(number);
                store.commit(unit, now()).await.unwrap();
                println!("\ncommitted {number}");
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

fn unit_of(number: u64) -> Transaction {
    let calls = [number * 2, number * 2 + 1].map(|number| {
        let mut write = call(number, State::Judging);
        let note = Note { who: "test".to_owned(), at: now(), why: None, signed: None };
        write.entries.push(write.record.advance(Transition::Allowed, note).unwrap());
        write
    });
    let documents = vec![write(&format!("unit/{number:010}"), None, &"x".repeat(2_000))];
    Transaction { calls: calls.into(), documents }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_leaves_every_acknowledged_unit_and_none_by_half() {
    let folder = Folder::new();
    let mut acknowledged = Vec::new();
    for round in 1..=3 {
        // Each round begins its own units: the tasks before it may have committed more than they told.
        let file = folder.path().join(format!("{round}.db"));
        let mut other = other_process("write", &file, "");
        let mut told = BufReader::new(other.stdout.take().unwrap());
        acknowledged.clear();
        let mut line = String::new();
        while told.read_line(&mut line).unwrap() > 0 {
            // A line that the kill cut short has no end.
            if let Some(number) =
                line.strip_prefix("committed ").and_then(|it| it.strip_suffix('\n'))
            {
                acknowledged.push(number.parse::<u64>().unwrap());
            }
            line.clear();
            if acknowledged.len() == 150 * round {
                other.kill().unwrap();
            }
        }
        other.wait().unwrap();

        let store = SqliteStore::open_existing(&file).await.unwrap();
        for number in &acknowledged {
            assert!(is_there(&store, *number).await, "unit {number} was acknowledged and is lost");
        }
        // What is there although nobody was told is whole as well.
        let documents = store.documents("unit/").await.unwrap();
        for document in &documents {
            let number = document.key["unit/".len()..].parse().unwrap();
            assert!(is_there(&store, number).await, "unit {number} is there by half");
        }
        let page = toolwright::journal::Page::first(usize::MAX);
        let calls = store.list(&Default::default(), page).await.unwrap().calls;
        assert_eq!(calls.len(), documents.len() * 2, "a call is there without its unit");
        assert!(documents.len() >= acknowledged.len());
    }
}

/// Whether all of a unit is there.
async fn is_there(store: &SqliteStore, number: u64) -> bool {
    let unit = unit_of(number);
    let key = &unit.documents[0].key;
    let mut parts = vec![store.document(key).await.unwrap().is_some()];
    for write in unit.calls {
        let id: CallId = write.record.id;
        parts.push(store.get(id).await.unwrap().as_ref() == Some(&write.record));
        parts.push(store.at(&write.record.place).await.unwrap().as_ref() == Some(&write.record));
        parts.push(store.history(id).await.unwrap() == write.entries);
    }
    parts.into_iter().all(|part| part)
}
