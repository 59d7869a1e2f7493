//! What becomes of commits where the file cannot take them, and who hears of those it took.

use std::fs;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use futures::future::{join, join_all};
use rusqlite::Connection;
use toolwright::journal::{CommitError, SqliteStore, State, Store, Transaction};

use super::support::{Folder, call, document, note, now, write};

fn words(result: Result<(), CommitError>) -> String {
    match result {
        Err(CommitError::Store(error)) => error.to_string(),
        Err(other) => panic!("told as a conflict: {other}"),
        Ok(()) => panic!("committed"),
    }
}

#[tokio::test]
async fn a_full_disk_takes_nothing_of_a_unit_and_all_of_the_next_that_fits() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    note(&store, "before", "kept").await.unwrap();
    store.pragma("max_page_count", 40).await.unwrap();

    let large = "x".repeat(1_000_000);
    let documents = vec![write("small", None, "1"), write("large", None, &large)];
    let unit = Transaction { calls: vec![call(1, State::Ready)], documents };
    let error = words(store.commit(unit.clone(), now()).await);
    assert!(error.contains("has no room left"), "{error}");
    assert!(error.contains("calls.db"), "{error}");
    let calls =
        store.list(&Default::default(), toolwright::journal::Page::first(9)).await.unwrap().calls;
    assert_eq!(calls, []);
    assert_eq!(document(&store, "small").await, None);

    note(&store, "after", "fits").await.unwrap();
    assert_eq!(document(&store, "before").await.as_deref(), Some("kept"));
    store.pragma("max_page_count", 1_000_000).await.unwrap();
    store.commit(unit, now()).await.unwrap();
    assert_eq!(document(&store, "large").await, Some(large));
}

#[tokio::test]
async fn a_unit_too_large_for_the_disk_does_not_take_its_group_with_it() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.pragma("max_page_count", 60).await.unwrap();
    let large = "x".repeat(1_000_000);
    let commits = (0..40).map(|number| {
        let (store, large) = (&store, &large);
        async move {
            let text = if number % 8 == 3 { large.as_str() } else { "fits" };
            (number, note(store, &format!("{number:02}"), text).await)
        }
    });
    for (number, result) in join_all(commits).await {
        if number % 8 == 3 {
            let error = words(result);
            assert!(error.contains("has no room left"), "{error}");
        } else {
            result.unwrap();
        }
    }
    assert_eq!(store.documents("").await.unwrap().len(), 35);
}

#[tokio::test]
async fn a_conflict_in_a_group_undoes_its_own_unit_alone() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    note(&store, "taken", "").await.unwrap();
    let commits = (0..60_u64).map(|number| {
        let store = &store;
        async move {
            let mut documents = vec![write(&format!("{number:02}"), None, "")];
            if number % 3 == 0 {
                documents.push(write("taken", None, "again"));
            }
            let unit = Transaction { calls: vec![call(number, State::Ready)], documents };
            (number, store.commit(unit, now()).await)
        }
    });
    for (number, result) in join_all(commits).await {
        match result {
            Ok(()) => assert_ne!(number % 3, 0, "{number} conflicts"),
            Err(error) => assert!(number % 3 == 0 && error.is_conflict(), "{number}: {error}"),
        }
    }
    assert_eq!(store.documents("").await.unwrap().len(), 41);
    let calls =
        store.list(&Default::default(), toolwright::journal::Page::first(99)).await.unwrap().calls;
    assert_eq!(calls.len(), 40);
}

#[tokio::test]
async fn a_file_that_another_program_locks_is_told_and_taken_up_again() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    note(&store, "before", "kept").await.unwrap();
    store.pragma("busy_timeout", 20).await.unwrap();
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = words(note(&store, "a", "").await);
    assert!(error.contains("is locked"), "{error}");
    // Whoever only reads does not wait for who writes, nor does whoever opens the file.
    assert_eq!(document(&store, "before").await.as_deref(), Some("kept"));
    let opened = SqliteStore::open(folder.file()).await.unwrap();
    assert_eq!(document(&opened, "before").await.as_deref(), Some("kept"));
    other.execute_batch("ROLLBACK").unwrap();
    note(&store, "a", "").await.unwrap();
}

/// A commit that is alone is made on the caller's thread, here the only one, while the disk is quick; this one is made to
/// be. The other program ends when another task of that thread says so.
#[tokio::test]
async fn who_waits_for_another_program_holds_up_no_other_task() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.pragma("synchronous", 0).await.unwrap();
    for number in 0..20 {
        note(&store, &format!("before {number}"), "").await.unwrap();
    }
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (sender, receiver) = channel();
    // Less than a commit waits for another program.
    let held = thread::spawn(move || {
        let was_told = receiver.recv_timeout(Duration::from_secs(4)).is_ok();
        other.execute_batch("ROLLBACK").unwrap();
        was_told
    });
    let tells = async {
        // Until the commit is under way.
        for _ in 0..9 {
            tokio::task::yield_now().await;
        }
        let _ = sender.send(());
    };
    let (noted, ()) = join(note(&store, "after", ""), tells).await;
    noted.unwrap();
    assert!(held.join().unwrap(), "the other task was held up");
}

#[tokio::test]
async fn a_file_that_became_read_only_is_told() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.pragma("query_only", 1).await.unwrap();
    let error = words(note(&store, "a", "").await);
    assert!(error.contains("is read-only"), "{error}");
    store.pragma("query_only", 0).await.unwrap();
    note(&store, "a", "").await.unwrap();
}

/// Whoever may write everything, as the superuser may, is refused nothing here, and then nothing is to be told.
#[cfg(unix)]
#[tokio::test]
async fn a_file_or_folder_that_must_not_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).await.unwrap());
    fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o400)).unwrap();
    let may_write_everything = fs::OpenOptions::new().write(true).open(folder.file()).is_ok();
    let opened = SqliteStore::open(folder.file()).await;
    match opened {
        Err(error) => assert!(error.to_string().contains("is read-only"), "{error}"),
        Ok(_) => assert!(may_write_everything, "a file that must not be written is opened"),
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let made = SqliteStore::open(folder.path().join("new.db")).await;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    match made {
        Err(error) => assert!(error.to_string().contains("cannot be made"), "{error}"),
        Ok(_) => {
            assert!(may_write_everything, "a file is made in a folder that must not be written")
        }
    }
}

#[tokio::test]
async fn what_was_accepted_is_written_although_nobody_waits() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    // As quick as a disk has to be for a commit to be made by the caller, who is not waited for either.
    store.pragma("synchronous", 0).await.unwrap();
    note(&store, "before", "").await.unwrap();
    for number in 0..100 {
        let key = format!("{number:03}");
        let commit = note(&store, &key, "");
        // Polled once, then given up.
        let polled = futures::FutureExt::now_or_never(commit);
        assert!(polled.is_none_or(|done| done.is_ok()));
    }
    drop(store);
    let other = SqliteStore::open_existing(folder.file()).await.unwrap();
    while other.documents("").await.unwrap().len() < 101 {
        other.changed().await;
    }
}

#[tokio::test]
async fn a_commit_of_another_store_on_the_file_is_heard() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let other = SqliteStore::open(folder.file()).await.unwrap();
    for number in 0..3 {
        let hint = store.changed();
        note(&other, &number.to_string(), "").await.unwrap();
        let heard = tokio::time::timeout(Duration::from_secs(60), hint).await;
        assert!(heard.is_ok(), "nobody hears of commit {number}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_thread_is_left_when_the_last_clone_is_dropped() {
    fn threads() -> usize {
        let tasks = fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
        let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.starts_with("toolwright-jour")).count()
    }
    let folder = Folder::new();
    // Threads of other tests are counted, too, where they share a process.
    let before = threads();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    drop(store.changed());
    let clone = store.clone();
    drop(store);
    note(&clone, "a", "").await.unwrap();
    // A thread takes a moment to begin, which is when it has its name, and one to end.
    let come_to = async |fits: fn(usize, usize) -> bool, than: usize| {
        for _ in 0..6_000 {
            if fits(threads(), than) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    };
    assert!(come_to(|threads, than| threads >= than, 4).await, "{} threads work", threads());
    drop(clone);
    assert!(come_to(|threads, than| threads <= than, before).await, "{} are left", threads());
}
