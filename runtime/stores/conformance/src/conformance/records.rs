//! Checks that a store returns each record as it was written.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::sample::*;
use toolwright_core::repairs::{Change, ChangeRule};
use toolwright_core::tool::{Danger, Effect};
use toolwright_journal::approval::SignedStatement;
use toolwright_journal::journal::{
    AnswerRecord, Ask, CallRecord, Requester, State, Store, StoredText, Transition,
};

/// Makes a record with every field set.
fn full() -> CallRecord {
    call_at(place("run", 3, 4)).with(|it| {
        it.provider_id = Some("toolu_01".to_owned());
        it.tool = "send_money".to_owned();
        it.fingerprint = "0af1".to_owned();
        it.danger = Danger::Critical;
        it.effect = Effect::Keyed;
        it.raw = StoredText::Plain("{\"to\": 9007199254740993}".to_owned());
        it.arguments = StoredText::Encrypted("0a1b".to_owned());
        it.shown = "{\"to\":\"…\"}".to_owned();
        it.repairs = vec![Change {
            pointer: "/to".to_owned(),
            rule: ChangeRule::Integer,
            from: "\"1\"".to_owned(),
            to: "1".to_owned(),
        }];
        it.digest = "ab".repeat(32);
        it.requester = Requester {
            agent: "agent:run".to_owned(),
            user: Some("ada".to_owned()),
            session: Some("s-1".to_owned()),
        };
        it.idempotency_key = "key-1".to_owned();
        it.trace = Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned());
        it.state = State::Running;
        it.version = 7;
        it.generation = 3;
        it.attempt = 2;
        it.owner = Some("host:1".to_owned());
        it.epoch = 5;
        it.lease = Some(time(30));
        it.not_before = Some(time(3));
        it.ask = Some(Ask {
            reason: "it sends money".to_owned(),
            preview: Some("10 € to Ada".to_owned()),
            deadline: time(86_400),
            notified: true,
            reviewable: true,
        });
        it.decision = Some(SignedStatement {
            text: "{}".to_owned(),
            key: "k".to_owned(),
            signature: "00ff".to_owned(),
        });
        it.grant = Some("g1".to_owned());
        it.proposal = Some("{\"to\":2}".to_owned());
        it.answer = Some(AnswerRecord {
            is_error: true,
            text: "no such account".to_owned(),
            whole: json!({"kind": "not_found", "details": [1, null, {"deep": [true]}]}),
        });
        it.delivered = true;
        it.created = time(0) + jiff::SignedDuration::from_nanos(123_456_789);
        it.updated = time(2) + jiff::SignedDuration::from_nanos(1);
    })
}

async fn comes_back(store: &Arc<impl Store>, record: CallRecord, what: &str) -> CallRecord {
    let mut record = add(store, record).await;
    let found = got(store, record.id).await;
    // `assert_eq!` would print the whole record, which may be large.
    assert!(
        found.as_ref() == Some(&record),
        "{what} do not come back from `get` as they were added"
    );
    if record.place.turn.is_some() {
        let found = stood_at(store, &record.place).await;
        assert!(
            found.as_ref() == Some(&record),
            "{what} do not come back from `at` as they were added"
        );
    }
    commit(store, calls([revision(&mut record)])).await;
    let found = got(store, record.id).await;
    assert!(found.as_ref() == Some(&record), "{what} do not come back as they were changed");
    let page = toolwright_journal::journal::Page::first(1_000);
    let listed = match store.list(&Default::default(), page).await {
        Ok(listed) => listed.calls,
        Err(error) => panic!("calls cannot be listed: {error}"),
    };
    assert!(listed.contains(&record), "{what} do not come back from `list` as they were changed");
    record
}

pub async fn everything_of_a_record_comes_back(store: &Arc<impl Store>) {
    comes_back(store, full(), "the fields of a full record").await;
}

pub async fn absent_things_come_back_absent(store: &Arc<impl Store>) {
    let mut record = comes_back(store, full(), "the fields of a full record").await;
    // Removes every optional field in one change. Only the acknowledgement of an answer cannot be removed.
    let expects = record.version;
    record = call("run").with(|it| {
        it.id = record.id;
        it.place = record.place;
        it.version = expects + 1;
        it.raw = StoredText::Omitted;
        it.delivered = record.delivered;
    });
    let write = toolwright_journal::journal::CallWrite {
        expects: Some(expects),
        record: record.clone(),
        entries: Vec::new(),
    };
    commit(store, calls([write])).await;
    assert_eq!(got(store, record.id).await, Some(record), "what is absent comes back as something");
}

pub async fn every_state_comes_back(store: &Arc<impl Store>) {
    for state in State::ALL {
        comes_back(store, call("run").with(|it| it.state = state), "states").await;
    }
}

pub async fn numbers_come_back_exactly(store: &Arc<impl Store>) {
    let whole = json!({
        "integers": [u64::MAX, i64::MIN, 9_007_199_254_740_993_u64],
        "fractions": [0.1, 1234.5768901000001, 6.934698245112694e276, 8.383658838626809e-78, -0.0, 5e-324, f64::MAX],
    });
    let answer = Some(AnswerRecord { is_error: false, text: String::new(), whole });
    comes_back(store, call("run").with(|it| it.answer = answer), "numbers of an answer").await;
    let counted = call_at(place("run", u64::MAX, u32::MAX)).with(|it| {
        it.version = 1 << 60;
        it.generation = u32::MAX;
        it.attempt = u32::MAX;
        it.epoch = u64::MAX;
    });
    comes_back(store, counted, "large counters").await;
    let far = Some(Timestamp::MAX);
    let times = call("run").with(|it| {
        it.lease = far;
        it.not_before = Some(Timestamp::MIN);
        it.ask = Some(ask(Timestamp::MAX));
        it.created = Timestamp::MIN;
        it.updated = Timestamp::MAX;
    });
    comes_back(store, times, "times").await;
}

pub async fn awkward_texts_come_back(store: &Arc<impl Store>) {
    for text in [
        "",
        " ",
        "\0",
        "a\0b",
        "\u{feff}\u{2028}",
        "'; DROP TABLE calls; --",
        "\\u0000",
        "e\u{301}🦀",
    ] {
        let record = call_at(place(text, 1, 0)).with(|it| {
            it.tool = text.to_owned();
            it.digest = text.to_owned();
            it.shown = text.to_owned();
            it.raw = StoredText::Plain(text.to_owned());
            it.owner = Some(text.to_owned());
        });
        let record = comes_back(store, record, "awkward texts").await;
        let filter = toolwright_journal::journal::Filter {
            run: Some(text.to_owned()),
            tool: Some(text.to_owned()),
            digest: Some(text.to_owned()),
            ..Default::default()
        };
        let found = list(store, &filter, toolwright_journal::journal::Page::first(9)).await;
        assert_eq!(found, [record.id], "a call is not found by {text:?}");
    }
}

pub async fn large_records_come_back(store: &Arc<impl Store>) {
    for size in [4_000, 5_000, 70_000, 3_000_000] {
        let text = "0123456789abcde\n".repeat(size / 16);
        let mut record = comes_back(
            store,
            call("run").with(|it| {
                it.raw = StoredText::Plain(text.clone());
                it.answer = Some(AnswerRecord {
                    is_error: false,
                    text: text.clone(),
                    whole: json!([text]),
                });
            }),
            "large records",
        )
        .await;
        commit(store, calls([happening(&mut record, Transition::Asked)])).await;
        let found = got(store, record.id).await;
        assert!(found.as_ref() == Some(&record), "a large record does not come back");
    }
}
