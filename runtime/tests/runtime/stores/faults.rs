//! Stores with one fault each, which the suite must find.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use jiff::Timestamp;
use tokio::task::yield_now;
use toolwright::CallId;
use toolwright::journal::{
    CallPage, CallRecord, CallSlot, CallSummary, CallWrite, CommitError, Document, DocumentWrite,
    Entry, Filter, MemoryStore, Page, Store, StoreError, Transaction, conformance,
};

/// What is wrong with a store, and the rule that must say so.
const FAULTS: [(Fault, &str); 23] = [
    (Fault::DocumentsCommitAlone, "a_call_that_conflicts_undoes_its_unit"),
    (Fault::NonsenseIsTriedAgain, "a_unit_that_makes_no_sense_is_refused"),
    (Fault::AnyVersionWill, "one_of_many_commits_of_a_version_wins"),
    (
        Fault::ConditionsAreLookedAtBefore,
        "no_call_is_opened_once_a_document_is_there_that_must_not_be",
    ),
    (Fault::LeasesAreLookedAtBefore, "either_a_lease_is_renewed_or_its_call_is_taken"),
    (Fault::EntriesAreLost, "a_history_is_in_order"),
    (Fault::AnyEpochWill, "a_lease_is_renewed_by_its_epoch_alone"),
    (Fault::LeasesStay, "a_lease_is_renewed_without_a_new_version"),
    (Fault::AcknowledgingIsAChange, "whoever_runs_a_call_keeps_it_when_it_is_acknowledged"),
    (Fault::TimesAreRounded, "everything_of_a_record_comes_back"),
    (Fault::PlacesOutsideOfTurnsCount, "a_call_outside_of_turns_shares_its_place"),
    (Fault::ListsHaveOneOrder, "calls_are_listed_in_the_order_of_their_ids"),
    (Fault::PagesOverlap, "pages_meet_without_gap_or_overlap"),
    (Fault::EverythingIsDue, "calls_that_are_due_are_found"),
    (Fault::TextIsFoundInEachCase, "a_text_is_found_as_it_is_written"),
    (Fault::PrefixesArePatterns, "a_prefix_is_taken_literally"),
    (Fault::SummariesAreOld, "a_summary_says_what_its_record_says"),
    (Fault::SummariesHaveNoDueTime, "a_summary_says_what_its_record_says"),
    (Fault::SummariesAreNotPaged, "summaries_come_in_the_pages_of_a_list"),
    (Fault::NobodyHears, "whoever_waits_hears_of_a_commit"),
    (Fault::DamageStopsLists, "a_damaged_call_is_listed_as_damaged_and_hides_no_other"),
    (Fault::DamageEndsPages, "damaged_calls_end_no_walk_through_the_pages"),
    (Fault::DamageIsAbsence, "a_damaged_call_is_refused_by_its_id"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    DocumentsCommitAlone,
    NonsenseIsTriedAgain,
    AnyVersionWill,
    ConditionsAreLookedAtBefore,
    LeasesAreLookedAtBefore,
    EntriesAreLost,
    AnyEpochWill,
    LeasesStay,
    AcknowledgingIsAChange,
    TimesAreRounded,
    PlacesOutsideOfTurnsCount,
    ListsHaveOneOrder,
    PagesOverlap,
    EverythingIsDue,
    TextIsFoundInEachCase,
    PrefixesArePatterns,
    SummariesAreOld,
    SummariesHaveNoDueTime,
    SummariesAreNotPaged,
    NobodyHears,
    DamageStopsLists,
    DamageEndsPages,
    DamageIsAbsence,
}

struct Faulty {
    inner: MemoryStore,
    fault: Fault,
}

/// Whether it writes nothing, and wants that there is nothing.
fn is_condition(write: &DocumentWrite) -> bool {
    write.expects.is_none() && write.text.is_none()
}

impl Faulty {
    async fn meets_conditions(&self, unit: &Transaction) -> Result<(), CommitError> {
        for write in unit.documents.iter().filter(|it| is_condition(it)) {
            if let Some(found) = self.inner.document(&write.key).await? {
                let (key, found) = (write.key.clone(), Some(found.version));
                return Err(CommitError::Document { key, expected: None, found });
            }
        }
        Ok(())
    }

    async fn has_no_lease(&self, unit: &Transaction, now: Timestamp) -> Result<(), CommitError> {
        for write in unit.calls.iter().filter(|it| it.takes_from_owner()) {
            let call = write.record.id;
            let there = self.inner.get(call).await?.filter(|it| Some(it.version) == write.expects);
            if let Some(until) = there.and_then(|it| it.lease).filter(|until| *until > now) {
                return Err(CommitError::Leased { call, until });
            }
        }
        Ok(())
    }
}

fn damage(store: &Faulty, call: CallId) -> BoxFuture<'_, ()> {
    async move { store.inner.damage(call) }.boxed()
}

// Time passes by itself where everybody waits, so that nobody waits long for a hint that does not come.
#[tokio::test(start_paused = true)]
async fn the_suite_finds_each_fault() {
    for (fault, rule) in FAULTS {
        let open = async || Faulty { inner: MemoryStore::new(), fault };
        let run = AssertUnwindSafe(conformance::run(open, damage)).catch_unwind().await;
        let panic = run.expect_err(&format!("the suite does not find {fault:?}"));
        let words = panic.downcast_ref::<String>().unwrap();
        assert!(words.contains(rule), "of {fault:?} the suite says: {words}");
    }
}

#[tokio::test]
async fn every_rule_has_a_name_of_its_own() {
    let rules = conformance::rules::<MemoryStore>();
    let names: std::collections::BTreeSet<_> = rules.iter().map(conformance::Rule::name).collect();
    assert_eq!(names.len(), rules.len());
}

impl Store for Faulty {
    fn commit<'a>(
        &'a self,
        mut unit: Transaction,
        mut now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        async move {
            match self.fault {
                Fault::DocumentsCommitAlone => {
                    let documents = std::mem::take(&mut unit.documents);
                    self.inner
                        .commit(Transaction { documents, ..Transaction::default() }, now)
                        .await?;
                }
                Fault::NonsenseIsTriedAgain => {
                    let words = "the store is busy";
                    unit.check()
                        .map_err(|error| StoreError::unavailable(words).with_source(error))?;
                }
                Fault::AnyVersionWill => {
                    for write in unit.calls.iter_mut().filter(|it| it.expects.is_some()) {
                        let there = self.inner.get(write.record.id).await?.map(|it| it.version);
                        write.expects = there;
                        write.record.version = there.unwrap_or(0) + 1;
                        write.entries.iter_mut().for_each(|it| it.number = write.record.version);
                    }
                }
                Fault::ConditionsAreLookedAtBefore => {
                    self.meets_conditions(&unit).await?;
                    unit.documents.retain(|it| !is_condition(it));
                    yield_now().await;
                }
                Fault::LeasesAreLookedAtBefore => {
                    self.has_no_lease(&unit, now).await?;
                    now = Timestamp::MAX;
                    yield_now().await;
                }
                Fault::EntriesAreLost => {
                    unit.calls.iter_mut().for_each(|it| it.entries.truncate(1));
                }
                _ => {}
            }
            self.inner.commit(unit, now).await
        }
        .boxed()
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        mut epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        async move {
            let record = self.inner.get(call).await?;
            match self.fault {
                Fault::AnyEpochWill => epoch = record.map_or(epoch, |it| it.epoch),
                Fault::LeasesStay if record.is_some_and(|it| it.epoch == epoch) => return Ok(()),
                _ => {}
            }
            self.inner.renew(call, epoch, until).await
        }
        .boxed()
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        if self.fault != Fault::AcknowledgingIsAChange {
            return self.inner.acknowledge(call);
        }
        async move {
            let found = self.inner.get(call).await?;
            let Some(mut record) = found else { return Err(CommitError::NoCall { call }) };
            let expects = Some(record.version);
            record.version += 1;
            record.delivered = true;
            let write = CallWrite { expects, record, entries: Vec::new() };
            let unit = Transaction { calls: vec![write], ..Transaction::default() };
            self.inner.commit(unit, Timestamp::UNIX_EPOCH).await
        }
        .boxed()
    }

    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        async move {
            let found = match self.inner.get(call).await {
                Err(_) if self.fault == Fault::DamageIsAbsence => None,
                found => found?,
            };
            if self.fault != Fault::TimesAreRounded {
                return Ok(found);
            }
            let rounded = |time: Timestamp| Timestamp::from_second(time.as_second()).unwrap();
            Ok(found.map(|it| it.with(|it| it.updated = rounded(it.updated))))
        }
        .boxed()
    }

    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        if self.fault != Fault::PlacesOutsideOfTurnsCount || place.turn.is_some() {
            return self.inner.at(place);
        }
        async move {
            let filter = Filter { run: Some(place.run.clone()), ..Filter::default() };
            Ok(self.inner.list(&filter, Page::first(1)).await?.calls.pop())
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        mut page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>> {
        async move {
            let mut filter = filter.clone();
            match self.fault {
                Fault::ListsHaveOneOrder => page.latest_first = false,
                Fault::EverythingIsDue => filter.due = filter.due.map(|_| Timestamp::MAX),
                Fault::TextIsFoundInEachCase if filter.text.as_deref() == Some("straße") => {
                    filter.text = Some("Straße".to_owned());
                }
                Fault::PagesOverlap => {
                    let from = page.after.take();
                    let limit = std::mem::replace(&mut page.limit, usize::MAX);
                    let mut found = self.inner.list(&filter, page).await?;
                    let before = |it: &CallRecord| {
                        from.is_some_and(|from| {
                            if page.latest_first { it.id > from } else { it.id < from }
                        })
                    };
                    found.calls.retain(|it| !before(it));
                    found.calls.truncate(limit);
                    return Ok(found);
                }
                Fault::DamageStopsLists => {
                    let mut found = self.inner.list(&filter, page).await?;
                    return match found.damaged.pop() {
                        Some(damaged) => Err(damaged.error),
                        None => Ok(found),
                    };
                }
                Fault::DamageEndsPages => {
                    let found = self.inner.list(&filter, page).await?;
                    let next = found.next.filter(|_| !found.calls.is_empty());
                    return Ok(CallPage { next, ..found });
                }
                _ => {}
            }
            self.inner.list(&filter, page).await
        }
        .boxed()
    }

    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>> {
        async move {
            let found = self.inner.summaries(filter, page);
            let mut found = found.await?;
            match self.fault {
                Fault::SummariesAreOld => found.calls.iter_mut().for_each(|it| it.version = 1),
                Fault::SummariesHaveNoDueTime => {
                    found.calls.iter_mut().for_each(|it| it.due = None)
                }
                Fault::SummariesAreNotPaged => {
                    let all = Page::first(usize::MAX);
                    found = self.inner.summaries(filter, all).await?;
                }
                _ => {}
            }
            Ok(found)
        }
        .boxed()
    }

    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.inner.history(call)
    }

    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        self.inner.document(key)
    }

    fn documents<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        let pattern = self.fault == Fault::PrefixesArePatterns && prefix.ends_with('%');
        self.inner.documents(if pattern { prefix.trim_end_matches('%') } else { prefix })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        if self.fault == Fault::NobodyHears { pending().boxed() } else { self.inner.changed() }
    }
}
