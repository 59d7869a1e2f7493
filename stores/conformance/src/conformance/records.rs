//! A record comes back as it was given.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::sample::*;
use toolwright_core::repairs::{Change, ChangeRule};
use toolwright_core::tool::{Danger, Effect};
use toolwright_journal::approval::Signed;
use toolwright_journal::journal::{
    Answered, Ask, CallRecord, Requester, State, Store, StoredText, Transition,
};

/// A record in which nothing is left out.
fn full() -> CallRecord {
    CallRecord {
        provider_id: Some("toolu_01".to_owned()),
        tool: "send_money".to_owned(),
        fingerprint: "0af1".to_owned(),
        danger: Danger::Critical,
        effect: Effect::Keyed,
        raw: StoredText::Plain("{\"to\": 9007199254740993}".to_owned()),
        arguments: StoredText::Encrypted("0a1b".to_owned()),
        shown: "{\"to\":\"…\"}".to_owned(),
        repairs: vec![Change {
            pointer: "/to".to_owned(),
            rule: ChangeRule::Integer,
            from: "\"1\"".to_owned(),
            to: "1".to_owned(),
        }],
        digest: "ab".repeat(32),
        requester: Requester {
            agent: "agent:run".to_owned(),
            user: Some("ada".to_owned()),
            session: Some("s-1".to_owned()),
        },
        idempotency_key: "key-1".to_owned(),
        trace: Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned()),
        state: State::Running,
        version: 7,
        generation: 3,
        attempt: 2,
        owner: Some("host:1".to_owned()),
        epoch: 5,
        lease: Some(time(30)),
        not_before: Some(time(3)),
        ask: Some(Ask {
            reason: "it sends money".to_owned(),
            preview: Some("10 € to Ada".to_owned()),
            deadline: time(86_400),
            told: true,
        }),
        decision: Some(Signed {
            text: "{}".to_owned(),
            key: "k".to_owned(),
            signature: "00ff".to_owned(),
        }),
        grant: Some("g1".to_owned()),
        proposal: Some("{\"to\":2}".to_owned()),
        answer: Some(Answered {
            is_error: true,
            text: "no such account".to_owned(),
            whole: json!({"kind": "not_found", "details": [1, null, {"deep": [true]}]}),
        }),
        delivered: true,
        created: time(0) + jiff::SignedDuration::from_nanos(123_456_789),
        updated: time(2) + jiff::SignedDuration::from_nanos(1),
        ..call_at(place("run", 3, 4))
    }
}

async fn comes_back(store: &Arc<impl Store>, record: CallRecord, what: &str) -> CallRecord {
    let mut record = added(store, record).await;
    let found = got(store, record.id).await;
    // Compared by eye rather than printed whole: a record may be large.
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
    committed(store, calls([revision(&mut record)])).await;
    let found = got(store, record.id).await;
    assert!(found.as_ref() == Some(&record), "{what} do not come back as they were changed");
    let page = toolwright_journal::journal::Page::first(1_000);
    let listed = match store.list(&Default::default(), page).await {
        Ok(listed) => listed,
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
    // Everything that can go away goes away in one change; that an answer was acknowledged cannot.
    let expects = record.version;
    record = CallRecord {
        id: record.id,
        place: record.place,
        version: expects + 1,
        raw: StoredText::Omitted,
        delivered: record.delivered,
        ..call("run")
    };
    let write = toolwright_journal::journal::CallWrite {
        expects: Some(expects),
        record: record.clone(),
        entries: Vec::new(),
    };
    committed(store, calls([write])).await;
    assert_eq!(got(store, record.id).await, Some(record), "what is absent comes back as something");
}

pub async fn every_state_comes_back(store: &Arc<impl Store>) {
    for state in State::ALL {
        comes_back(store, CallRecord { state, ..call("run") }, "states").await;
    }
}

pub async fn numbers_come_back_exactly(store: &Arc<impl Store>) {
    let whole = json!({
        "integers": [u64::MAX, i64::MIN, 9_007_199_254_740_993_u64],
        "fractions": [0.1, 1234.5768901000001, 6.934698245112694e276, 8.383658838626809e-78, -0.0, 5e-324, f64::MAX],
    });
    let answer = Some(Answered { is_error: false, text: String::new(), whole });
    comes_back(store, CallRecord { answer, ..call("run") }, "numbers of an answer").await;
    let counted = CallRecord {
        version: 1 << 60,
        generation: u32::MAX,
        attempt: u32::MAX,
        epoch: u64::MAX,
        ..call_at(place("run", u64::MAX, u32::MAX))
    };
    comes_back(store, counted, "large counters").await;
    let far = Some(Timestamp::MAX);
    let times = CallRecord {
        lease: far,
        not_before: Some(Timestamp::MIN),
        ask: Some(asked(Timestamp::MAX)),
        created: Timestamp::MIN,
        updated: Timestamp::MAX,
        ..call("run")
    };
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
        let record = CallRecord {
            tool: text.to_owned(),
            digest: text.to_owned(),
            shown: text.to_owned(),
            raw: StoredText::Plain(text.to_owned()),
            owner: Some(text.to_owned()),
            ..call_at(place(text, 1, 0))
        };
        let record = comes_back(store, record, "awkward texts").await;
        let filter = toolwright_journal::journal::Filter {
            run: Some(text.to_owned()),
            tool: Some(text.to_owned()),
            digest: Some(text.to_owned()),
            ..Default::default()
        };
        let found = listed(store, &filter, toolwright_journal::journal::Page::first(9)).await;
        assert_eq!(found, [record.id], "a call is not found by {text:?}");
    }
}

pub async fn large_records_come_back(store: &Arc<impl Store>) {
    for size in [4_000, 5_000, 70_000, 3_000_000] {
        let text = "0123456789abcde\n".repeat(size / 16);
        let mut record = comes_back(
            store,
            CallRecord {
                raw: StoredText::Plain(text.clone()),
                answer: Some(Answered {
                    is_error: false,
                    text: text.clone(),
                    whole: json!([text]),
                }),
                ..call("run")
            },
            "large records",
        )
        .await;
        committed(store, calls([happening(&mut record, Transition::Asked)])).await;
        let found = got(store, record.id).await;
        assert!(found.as_ref() == Some(&record), "a large record does not come back");
    }
}
