//! Tests of what every [`Store`] must do. The tests of your own store can run them too (feature `conformance`).
//!
//! If a store violates a rule, the test panics with a sentence that says so. Each rule needs an empty store, a tokio
//! runtime with time (a runtime with several threads finds more), and a way to [damage](Damage) a call of the store:
//!
//! ```
//! use toolwright::journal::{MemoryStore, conformance};
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_time().build()?.block_on(async {
//! conformance::run(
//!     async || MemoryStore::new(),
//!     |store, call| Box::pin(async move { store.damage(call) }),
//! ).await;
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

mod answers;
mod changes;
mod damaged;
mod documents;
mod histories;
mod leases;
mod lists;
mod pages;
mod racing;
mod records;
mod sample;
mod summaries;
mod units;

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use toolwright_core::context::CallId;
use toolwright_journal::journal::Store;

/// A function that makes the record of a call unreadable, by overwriting the record's bytes without the store's
/// methods. Other data of the call, such as index columns, stays as it was.
pub type Damage<S> = dyn for<'a> Fn(&'a S, CallId) -> BoxFuture<'a, ()> + Send + Sync;

/// One rule of the contract of a store, and the test that checks the rule.
pub struct Rule<S> {
    name: &'static str,
    tries: fn(Arc<S>, Arc<Damage<S>>) -> BoxFuture<'static, ()>,
}

impl<S: Store> Rule<S> {
    /// Returns the name of the rule, which is a sentence with `_` between its words.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Tests the rule on an empty store.
    ///
    /// # Panics
    /// When the store violates the rule.
    pub async fn holds_for(&self, store: S, damage: Arc<Damage<S>>) {
        (self.tries)(Arc::new(store), damage).await;
    }
}

impl<S> fmt::Debug for Rule<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Rule").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Tests every rule, each on an empty store of its own.
///
/// # Panics
/// When the store violates rules. The message names all of them.
pub async fn run<S: Store>(
    open: impl AsyncFn() -> S,
    damage: impl for<'a> Fn(&'a S, CallId) -> BoxFuture<'a, ()> + Send + Sync + 'static,
) {
    let damage: Arc<Damage<S>> = Arc::new(damage);
    let mut broken = Vec::new();
    for rule in rules::<S>() {
        let store = open().await;
        if let Err(panic) =
            AssertUnwindSafe(rule.holds_for(store, Arc::clone(&damage))).catch_unwind().await
        {
            broken.push(format!("{}: {}", rule.name, words(&*panic)));
        }
    }
    assert!(broken.is_empty(), "the store breaks {} rules:\n{}", broken.len(), broken.join("\n"));
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked without words")
}

/// Each named function is a rule. The rules after `=>` are in `damaged`, and also get the function that damages a call.
macro_rules! rules {
    ($($module:ident: $($rule:ident),* $(,)?;)* => $($harsh:ident),* $(,)?;) => {
        /// Lists every rule, to be tested one by one.
        #[must_use]
        pub fn rules<S: Store>() -> Vec<Rule<S>> {
            vec![
                $($(Rule {
                    name: stringify!($rule),
                    tries: |store, _| async move { $module::$rule(&store).await }.boxed(),
                },)*)*
                $(Rule {
                    name: stringify!($harsh),
                    tries: |store, damage| async move { damaged::$harsh(&store, &*damage).await }.boxed(),
                },)*
            ]
        }
    };
}

rules! {
    units:
        a_unit_is_done_whole,
        a_call_that_conflicts_undoes_its_unit,
        a_document_that_conflicts_undoes_its_unit,
        a_new_call_needs_an_id_that_is_free,
        a_new_call_needs_a_place_that_is_free,
        two_new_calls_of_a_unit_need_two_places,
        a_call_outside_of_turns_shares_its_place,
        a_change_names_the_version_that_is_there,
        a_call_that_is_not_there_cannot_change,
        a_unit_that_makes_no_sense_is_refused,
        an_empty_unit_changes_nothing;
    racing:
        one_of_many_commits_of_a_version_wins,
        one_of_many_calls_gets_a_place,
        one_of_many_makes_a_document,
        all_of_many_find_one_id_of_the_journal,
        no_call_is_opened_once_a_document_is_there_that_must_not_be,
        either_a_lease_is_renewed_or_its_call_is_taken,
        commits_that_do_not_conflict_all_stand;
    leases:
        a_lease_is_renewed_without_a_new_version,
        a_lease_is_renewed_by_its_epoch_alone,
        a_call_that_does_not_run_has_no_lease_to_renew,
        a_renewed_lease_is_when_the_call_is_due,
        a_lease_that_is_written_counts,
        a_call_is_taken_from_its_owner_when_its_lease_has_ended;
    answers:
        an_answer_is_acknowledged_without_a_new_version,
        whoever_runs_a_call_keeps_it_when_it_is_acknowledged,
        a_call_that_is_not_there_cannot_be_acknowledged;
    histories:
        a_history_is_in_order,
        a_history_begins_with_its_call,
        a_history_may_leave_numbers_out;
    lists:
        each_filter_counts_alone,
        filters_count_together,
        calls_are_found_by_where_they_stand_now,
        a_text_is_found_as_it_is_written,
        calls_that_are_due_are_found;
    pages:
        calls_are_listed_in_the_order_of_their_ids,
        pages_meet_without_gap_or_overlap,
        no_call_is_missed_while_others_are_added,
        a_page_begins_after_a_call_that_is_not_there,
        a_filter_counts_on_every_page;
    summaries:
        a_summary_says_what_its_record_says,
        a_summary_follows_a_renewed_lease,
        summaries_are_those_of_the_calls_that_a_filter_takes,
        summaries_come_in_the_pages_of_a_list;
    records:
        everything_of_a_record_comes_back,
        absent_things_come_back_absent,
        every_state_comes_back,
        numbers_come_back_exactly,
        awkward_texts_come_back,
        large_records_come_back;
    documents:
        a_document_counts_its_changes,
        a_document_is_made_once,
        a_document_changes_from_the_version_that_is_there,
        a_document_that_was_removed_is_gone,
        a_document_may_be_expected_not_to_be_there,
        a_call_may_depend_on_a_document_that_is_not_there,
        documents_are_listed_by_prefix,
        a_prefix_is_taken_literally;
    changes:
        whoever_waits_hears_of_a_commit,
        a_commit_before_anybody_looks_is_heard;
    =>
        a_damaged_call_is_listed_as_damaged_and_hides_no_other,
        damaged_calls_end_no_walk_through_the_pages,
        a_damaged_call_is_refused_by_its_id,
        a_damaged_call_leaves_the_summaries_of_others,
        calls_beside_a_damaged_one_go_on;
}
