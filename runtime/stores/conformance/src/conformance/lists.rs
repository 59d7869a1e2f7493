//! Rules about filters.

use std::sync::Arc;

use serde_json::Value;

use super::sample::*;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    AnswerRecord, CallRecord, Filter, Page, State, Store, Transition,
};

async fn all(store: &Arc<impl Store>, filter: &Filter) -> Vec<CallId> {
    list(store, filter, Page::first(1_000)).await
}

fn answer_of(text: &str) -> Option<AnswerRecord> {
    Some(AnswerRecord { is_error: false, text: text.to_owned(), whole: Value::Null })
}

/// Makes calls that differ in every property that a filter can select by.
async fn field(store: &Arc<impl Store>) -> Vec<CallRecord> {
    let mut records = Vec::new();
    for number in 0..48u32 {
        let run = ["one", "two", "on"][number as usize % 3];
        let mut record = call_at(place(run, 1, number));
        record.tool = ["read", "write"][number as usize / 3 % 2].to_owned();
        record.digest = format!("d{}", number / 6 % 2);
        record.state =
            [State::Pending, State::Ready, State::Succeeded, State::Dead][number as usize / 12];
        record.delivered = number % 5 == 0;
        record.created = time(i64::from(number));
        record.updated = record.created;
        record.ask = Some(ask(time(100 + i64::from(number))));
        record.not_before = (number % 2 == 0).then(|| time(200 + i64::from(number)));
        record.shown =
            format!("{{\"path\":\"{}\"}}", if number % 4 == 0 { "Äpfel" } else { "pears" });
        record.answer = (number % 7 == 0).then(|| answer_of("Äpfel, too")).flatten();
        records.push(add(store, record).await);
    }
    records
}

/// A name, a function that sets a filter, and the condition that the listed calls must meet.
type Asked = (&'static str, fn(&mut Filter), fn(&CallRecord) -> bool);

const ASKED: [Asked; 8] = [
    (
        "states",
        |it| it.states = vec![State::Dead, State::Pending],
        |it| matches!(it.state, State::Dead | State::Pending),
    ),
    ("run", |it| it.run = Some("on".to_owned()), |it| it.place.run == "on"),
    ("tool", |it| it.tool = Some("write".to_owned()), |it| it.tool == "write"),
    ("digest", |it| it.digest = Some("d1".to_owned()), |it| it.digest == "d1"),
    (
        "text",
        |it| it.text = Some("Äpfel".to_owned()),
        |it| it.shown.contains("Äpfel") || it.answer.is_some(),
    ),
    (
        "due",
        |it| it.due = Some(time(130)),
        |it| match it.state {
            State::Pending => it.ask.as_ref().is_some_and(|ask| ask.deadline <= time(130)),
            State::Ready => it.not_before.unwrap_or(it.updated) <= time(130),
            _ => false,
        },
    ),
    ("created_before", |it| it.created_before = Some(time(20)), |it| it.created <= time(20)),
    ("delivered", |it| it.delivered = Some(true), |it| it.delivered),
];

async fn agrees(store: &Arc<impl Store>, records: &[CallRecord], asked: &[&Asked]) {
    let mut filter = Filter::default();
    asked.iter().for_each(|(_, set, _)| set(&mut filter));
    let takes = |record: &&CallRecord| asked.iter().all(|(.., takes)| takes(record));
    let expected: Vec<_> = records.iter().filter(takes).map(|record| record.id).collect();
    let names: Vec<_> = asked.iter().map(|(name, ..)| *name).collect();
    assert_eq!(
        all(store, &filter).await,
        expected,
        "other calls are listed by {}",
        names.join(", ")
    );
    let backwards = Page { latest_first: true, ..Page::first(1_000) };
    let expected: Vec<_> = expected.into_iter().rev().collect();
    let found = list(store, &filter, backwards).await;
    assert_eq!(found, expected, "other calls are listed by {}, latest first", names.join(", "));
}

pub async fn each_filter_counts_alone(store: &Arc<impl Store>) {
    let records = field(store).await;
    agrees(store, &records, &[]).await;
    for asked in &ASKED {
        agrees(store, &records, &[asked]).await;
    }
    for state in State::ALL {
        let filter = Filter { states: vec![state, state], ..Filter::default() };
        let expected: Vec<_> =
            records.iter().filter(|it| it.state == state).map(|it| it.id).collect();
        assert_eq!(all(store, &filter).await, expected, "other calls are listed that are {state}");
    }
    let none = Filter { run: Some("on%".to_owned()), ..Filter::default() };
    assert_eq!(all(store, &none).await, [], "a run is taken for a pattern");
}

pub async fn filters_count_together(store: &Arc<impl Store>) {
    let records = field(store).await;
    for chosen in 0..1_usize << ASKED.len() {
        let asked: Vec<_> =
            (0..ASKED.len()).filter(|it| chosen >> it & 1 == 1).map(|it| &ASKED[it]).collect();
        agrees(store, &records, &asked).await;
    }
}

pub async fn calls_are_found_by_where_they_stand_now(store: &Arc<impl Store>) {
    let mut record = add(store, call("run")).await;
    record.ask = Some(ask(time(50)));
    commit(store, calls([happening(&mut record, Transition::Asked)])).await;
    let of = |state| Filter { states: vec![state], ..Filter::default() };
    assert_eq!(
        all(store, &of(State::Judging)).await,
        [],
        "a call is listed by a state that it has left"
    );
    assert_eq!(
        all(store, &of(State::Pending)).await,
        [record.id],
        "a call is not listed by its state"
    );
    // An edit also changes digest and tool, by which a list finds the call.
    let mut write = happening(&mut record, Transition::Edited);
    (record.digest, record.tool) = ("d9".to_owned(), "other".to_owned());
    write.record = record.clone();
    commit(store, calls([write])).await;
    let by = |digest: &str| Filter { digest: Some(digest.to_owned()), ..Filter::default() };
    assert_eq!(all(store, &by("d1")).await, [], "a call is listed by a digest that it has no more");
    assert_eq!(all(store, &by("d9")).await, [record.id], "a call is not listed by its new digest");
    let in_run = Filter { run: Some("run".to_owned()), ..by("d9") };
    assert_eq!(
        all(store, &in_run).await,
        [record.id],
        "a call is not listed by run and new digest"
    );
    let tool = Filter { tool: Some("other".to_owned()), ..Filter::default() };
    assert_eq!(all(store, &tool).await, [record.id], "a call is not listed by its new tool");
    record.delivered = true;
    commit(store, calls([revision(&mut record)])).await;
    let delivered = Filter { delivered: Some(true), ..Filter::default() };
    assert_eq!(all(store, &delivered).await, [record.id], "a call is not listed as delivered");
}

pub async fn a_text_is_found_as_it_is_written(store: &Arc<impl Store>) {
    let texts =
        ["50% off", "a_b", "say \"hi\"\n", "back\\slash", "Straße 🦀", "it's", "\u{7f}\u{1}"];
    let mut records = Vec::new();
    for text in texts {
        let shown = call("run").with(|it| it.shown = format!("<{text}>"));
        let answer = call("run").with(|it| it.answer = answer_of(&format!("<{text}>")));
        // A search by text covers the arguments that people see and the answers, but not the raw and the final
        // arguments.
        let kept = toolwright_journal::journal::StoredText::Plain(text.to_owned());
        let elsewhere = call("run").with(|it| {
            it.raw = kept.clone();
            it.arguments = kept;
        });
        add(store, elsewhere).await;
        records.push([add(store, shown).await.id, add(store, answer).await.id]);
    }
    for (text, expected) in texts.into_iter().zip(records) {
        let filter = Filter { text: Some(text.to_owned()), ..Filter::default() };
        assert_eq!(all(store, &filter).await, expected, "other calls are found by {text:?}");
        let first = list(store, &filter, Page::first(1)).await;
        assert_eq!(first, [expected[0]], "a page by text has not its one call");
    }
    for text in ["50_ off", "a%b", "straße", "<<"] {
        let filter = Filter { text: Some(text.to_owned()), ..Filter::default() };
        assert_eq!(all(store, &filter).await, [], "{text:?} is found where it is not written");
    }
}

pub async fn calls_that_are_due_are_found(store: &Arc<impl Store>) {
    let mut due = Vec::new();
    let times = [time(10), time(10) + jiff::SignedDuration::from_nanos(1), time(5)];
    for deadline in times {
        let record = call("run").with(|it| {
            it.state = State::Pending;
            it.ask = Some(ask(deadline));
        });
        due.push(add(store, record).await.id);
    }
    let never = call("run").with(|it| {
        it.state = State::Succeeded;
        it.updated = time(0);
    });
    add(store, never).await;
    let no_lease = call("run").with(|it| it.state = State::Running);
    add(store, no_lease).await;
    let at = |time| Filter { due: Some(time), ..Filter::default() };
    assert_eq!(all(store, &at(time(4))).await, [], "a call is due before its time");
    assert_eq!(all(store, &at(times[0])).await, [due[0], due[2]], "other calls are due");
    assert_eq!(all(store, &at(times[1])).await, due, "other calls are due a nanosecond later");
    let far = jiff::Timestamp::MAX;
    assert_eq!(all(store, &at(far)).await, due, "other calls are due at the end of time");
}
