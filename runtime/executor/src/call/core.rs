//! The state that all runs of an executor share.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::journal_config::JournalConfig;
use super::middleware::Middlewares;
use super::nested::NestedCalls;
use super::plan::{Gates, Later, Plan, Provisions};
use super::ready::Ready;
use super::resolve::Resolving;
use super::rules::Rules;
use crate::catalog::Entry;
use crate::event::Listener;
use crate::registry::Registry;
use toolwright_core::capability::ProvidedValues;

pub(crate) struct Core {
    pub(crate) registry: Registry,
    pub(crate) provisions: Provisions,
    pub(crate) later: Later,
    pub(crate) gates: Gates,
    /// The catalog that was pinned last, which many calls of one turn share.
    pub(crate) pinned: Mutex<Option<Arc<Ready>>>,
    pub(crate) resolving: Option<Resolving>,
    /// The services, in the order of [`Provisions::services`].
    pub(crate) provided: Arc<ProvidedValues>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) gate: Gate,
    /// Counts the calls whose last event has not reached all listeners.
    pub(crate) telling: Gate,
    /// The token that is cancelled when a drain begins.
    pub(crate) closing: CancellationToken,
    /// The token that is cancelled when a drain stops waiting for calls that still run.
    pub(crate) released: CancellationToken,
    pub(crate) records_content: bool,
    /// The maximum number of calls that run at once.
    pub(crate) limit: u32,
    pub(crate) rules: Rules,
    /// The middleware of the application.
    pub(crate) middleware: Middlewares,
    /// Makes the calls that a running call makes.
    pub(crate) nested: &'static dyn NestedCalls,
    /// The maximum number of retries of all calls of one run together.
    pub(crate) retries_per_run: Option<u32>,
    pub(crate) journal: Option<JournalConfig>,
    /// Whether the executor has neither listeners nor a journal.
    pub(crate) is_plain: bool,
}

impl Core {
    /// Returns whether the approver of this process, if there is one, has a name.
    pub(crate) fn has_named_approver(&self) -> bool {
        self.journal.iter().filter_map(|it| it.asker.as_ref()).all(|asker| asker.is_named)
    }

    /// Makes the plan of a tool that has no plan in a prepared catalog.
    pub(crate) fn plan(&self, entry: &Arc<Entry>) -> Arc<Plan> {
        self.later.plan(entry, &self.provisions, &self.gates)
    }
}
