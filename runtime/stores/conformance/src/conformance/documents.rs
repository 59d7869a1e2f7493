//! Rules about documents.

use std::sync::Arc;

use super::sample::*;
use toolwright_journal::journal::{CommitError, Document, DocumentWrite, Store};

async fn write_document(store: &Arc<impl Store>, write: DocumentWrite) {
    commit(store, unit([], [write])).await;
}

/// Makes a write that must conflict, and returns the reported version.
async fn conflict(store: &Arc<impl Store>, write: DocumentWrite, why: &str) -> Option<u64> {
    let (key, expects) = (write.key.clone(), write.expects);
    match commit_refused(store, unit([], [write]), why).await {
        CommitError::Document { key: reported, expected, found }
            if reported == key && expected == expects =>
        {
            found
        }
        other => panic!("that {why} is reported as: {other}"),
    }
}

pub async fn a_document_counts_its_changes(store: &Arc<impl Store>) {
    assert_eq!(read(store, "key").await, None, "a document is there that was never written");
    write_document(store, document("key", None, "")).await;
    for version in 1..5 {
        let text = "x".repeat(usize::try_from(version).unwrap_or_default() - 1);
        let expected = Document { key: "key".to_owned(), version, text: text.clone() };
        assert_eq!(read(store, "key").await, Some(expected), "a document is not as it was written");
        write_document(store, document("key", Some(version), &(text + "x"))).await;
    }
    // A write that does not change the text counts as a change, too.
    write_document(store, document("key", Some(5), "xxxx")).await;
    assert_eq!(read(store, "key").await.map(|it| it.version), Some(6), "a change is not counted");
}

pub async fn a_document_is_made_once(store: &Arc<impl Store>) {
    write_document(store, document("key", None, "first")).await;
    let found = conflict(store, document("key", None, "second"), "the document is there").await;
    assert_eq!(found, Some(1), "another version is reported than is there");
    assert_eq!(read(store, "key").await.map(|it| it.text).as_deref(), Some("first"));
}

pub async fn a_document_changes_from_the_version_that_is_there(store: &Arc<impl Store>) {
    let found = conflict(store, document("key", Some(1), ""), "there is no document").await;
    assert_eq!(found, None, "a document is reported to be there");
    write_document(store, document("key", None, "1")).await;
    write_document(store, document("key", Some(1), "2")).await;
    for expects in [1, 3, u64::MAX] {
        for write in [document("key", Some(expects), "no"), removal("key", Some(expects))] {
            let found = conflict(store, write, "the document has another version").await;
            assert_eq!(found, Some(2), "another version is reported than is there");
        }
    }
    assert_eq!(read(store, "key").await.map(|it| it.text).as_deref(), Some("2"));
}

pub async fn a_document_that_was_removed_is_gone(store: &Arc<impl Store>) {
    write_document(store, document("key", None, "1")).await;
    write_document(store, document("key", Some(1), "2")).await;
    write_document(store, removal("key", Some(2))).await;
    assert_eq!(read(store, "key").await, None, "a document that was removed is there");
    assert_eq!(keys(store, "").await, [""; 0], "a document that was removed is listed");
    let found = conflict(store, removal("key", Some(2)), "the document was removed").await;
    assert_eq!(found, None, "a document that was removed is reported to be there");
    write_document(store, document("key", None, "again")).await;
    assert_eq!(
        read(store, "key").await.map(|it| it.version),
        Some(1),
        "a new document does not begin at 1"
    );
}

pub async fn a_document_may_be_expected_not_to_be_there(store: &Arc<impl Store>) {
    write_document(store, removal("key", None)).await;
    assert_eq!(read(store, "key").await, None, "removing nothing makes something");
    write_document(store, document("key", None, "1")).await;
    let found = conflict(store, removal("key", None), "the document is there").await;
    assert_eq!(found, Some(1), "another version is reported than is there");
}

const KEYS: [&str; 14] =
    ["", "%", "A", "_", "a", "a%", "a%b", "a/1", "a/10", "a/2", "a_", "ab", "a\u{10ffff}", "é/🦀"];

async fn fill(store: &Arc<impl Store>) {
    // Writes the documents in reverse order, all in one unit.
    let writes = KEYS.iter().rev().map(|key| document(key, None, key));
    commit(store, unit([], writes)).await;
}

pub async fn documents_are_listed_by_prefix(store: &Arc<impl Store>) {
    fill(store).await;
    let mut sorted = KEYS;
    sorted.sort_unstable();
    assert_eq!(
        keys(store, "").await,
        sorted,
        "documents are not listed in the order of their keys"
    );
    assert_eq!(keys(store, "a/").await, ["a/1", "a/10", "a/2"], "other documents begin with `a/`");
    assert_eq!(keys(store, "zz").await, [""; 0], "documents are listed that do not begin so");
    let found = match store.documents("a/10").await {
        Ok(found) => found,
        Err(error) => panic!("documents cannot be listed: {error}"),
    };
    let expected = Document { key: "a/10".to_owned(), version: 1, text: "a/10".to_owned() };
    assert_eq!(found, [expected], "a listed document is not as it was written");
}

pub async fn a_prefix_is_taken_literally(store: &Arc<impl Store>) {
    fill(store).await;
    for prefix in KEYS {
        let mut expected: Vec<_> = KEYS.into_iter().filter(|key| key.starts_with(prefix)).collect();
        expected.sort_unstable();
        assert_eq!(keys(store, prefix).await, expected, "other documents begin with {prefix:?}");
    }
}

pub async fn a_call_may_depend_on_a_document_that_is_not_there(store: &Arc<impl Store>) {
    let first = call("run");
    commit(store, unit([opening(&first)], [removal("ended", None)])).await;
    assert_eq!(read(store, "ended").await, None, "what is expected not to be there is made");
    write_document(store, document("ended", None, "")).await;
    let (second, mut changed) = (call("run"), first.clone());
    for write in
        [opening(&second), happening(&mut changed, toolwright_journal::journal::Transition::Asked)]
    {
        match commit_refused(store, unit([write], [removal("ended", None)]), "a document is there")
            .await
        {
            CommitError::Document { key, expected: None, found: Some(1) } if key == "ended" => {}
            other => panic!("that a document is there is reported as: {other}"),
        }
    }
    assert_eq!(got(store, second.id).await, None, "a call is added although a document is there");
    assert_eq!(
        got(store, first.id).await,
        Some(first),
        "a call changes although a document is there"
    );
}
