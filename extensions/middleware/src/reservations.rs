//! Reservations of resources by runs: a middleware that prevents several agents in one process from touching the same
//! resource at the same time, if one of them writes it.

mod stage;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::table::{Conflict, Table};
use toolwright::{ErrorClass, Footprint, ToolError, TouchedResource};

/// How long a reservation is valid unless it is renewed.
const LIFETIME: Duration = Duration::from_secs(60);

/// A middleware that reserves the resources that a call touches, so that no two runs touch a resource at the same time
/// if one of them writes it. Executors of one process that share this value share the reservations.
///
/// - Before a call begins, its run reserves the resources of the call. No other run may then touch what the call
///   writes, or write what it reads. The [`Footprint`] names these resources. A call without a footprint reads
///   everything if its effect is `read`, and otherwise writes everything.
/// - Calls of one run never conflict with each other's reservations. Within a turn, the executor runs conflicting calls
///   one after the other.
/// - A call that conflicts with a reservation of another run is refused as `reserved`, with the name of that run and
///   the time until the reservation expires. The call has not begun, so the retry policy applies. A call in a journal
///   is due again when that time is over.
/// - A reservation ends with its call, whether the call succeeds, fails, panics or is dropped. It expires after 60
///   seconds, and is renewed while the call runs. A running call that is not polled for 60 seconds can lose its
///   reservation to another run.
/// - A run can reserve a resource for longer than a call with [`reserve`](Self::reserve), until
///   [`release_all`](Self::release_all).
///
/// Runs are identified by their ids. Reservations exist only in the memory of one process. Another process, or a person
/// with an editor, does not see them.
///
/// ```
/// use toolwright::{File, Footprint};
/// use toolwright_middleware::Reservations;
///
/// let reservations = Reservations::new();
/// let edit = Footprint::nothing().writing::<File>("src/lib.rs");
/// reservations.reserve("ada", &edit)?;
/// let refused = reservations.reserve("bob", &Footprint::nothing().reading::<File>("src")).unwrap_err();
/// assert_eq!(refused.to_string(), "file `src` is reserved by run `ada`, for 60 s at the most");
/// reservations.release_all("ada");
/// reservations.reserve("bob", &edit)?;
/// # Ok::<(), toolwright_middleware::Reserved>(())
/// ```
#[derive(Clone)]
pub struct Reservations(Arc<Shared>);

struct Shared {
    since: Instant,
    table: Mutex<Table>,
}

/// Why a run cannot reserve a resource: another run has reserved it.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is reserved by run `{holder}`, for {} s at the most", named(.resource.as_ref()), seconds(*.left))]
#[non_exhaustive]
pub struct Reserved {
    /// The resource that both runs need; `None` if both may touch every resource.
    pub resource: Option<TouchedResource>,
    /// The id of the run that has reserved the resource.
    pub holder: Arc<str>,
    /// The time until the reservation expires. The other run may release the reservation before, or renew it.
    pub left: Duration,
}
toolwright::unstable::debug_as_sentence!(Reserved);

/// A reservation, as listed by [`Reservations::held`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reservation {
    /// The id of the run that has the reservation.
    pub run: String,
    /// The reserved resources. Other runs can neither read nor write the resources that the footprint writes, and
    /// cannot write the resources that it reads.
    pub footprint: Footprint,
    /// The remaining time until the reservation expires.
    pub left: Duration,
}

impl Reservations {
    /// Makes an empty set of reservations.
    #[must_use]
    pub fn new() -> Self {
        let table = Mutex::new(Table::new(LIFETIME));
        Self(Arc::new(Shared { since: Instant::now(), table }))
    }

    /// Reserves these resources for a run, independently of its calls: for 60 seconds, or until the run releases them.
    /// Calling this method again renews the reservation.
    ///
    /// # Errors
    /// When another run has reserved some of these resources.
    pub fn reserve(&self, run: &str, footprint: &Footprint) -> Result<(), Reserved> {
        let (mut table, now) = self.0.table();
        table.reserve_for_run(&run.into(), footprint, now).map_err(Reserved::from)
    }

    /// Releases the reservations that a run made with [`reserve`](Self::reserve). The reservations of its calls last
    /// until the calls end.
    pub fn release_all(&self, run: &str) {
        self.0.table().0.release_all(run);
    }

    /// Lists the current reservations.
    ///
    /// ```
    /// use toolwright::{File, Footprint, ResourceScope};
    /// use toolwright_middleware::Reservations;
    ///
    /// let reservations = Reservations::new();
    /// let edit = Footprint::nothing().writing::<File>("a.rs").in_scope(&ResourceScope::new("/srv/project"));
    /// reservations.reserve("ada", &edit)?;
    /// let held = reservations.held();
    /// assert_eq!((held[0].run.as_str(), &held[0].footprint), ("ada", &edit));
    /// # Ok::<(), toolwright_middleware::Reserved>(())
    /// ```
    #[must_use]
    pub fn held(&self) -> Vec<Reservation> {
        let (mut table, now) = self.0.table();
        let held = table.list_held(now).map(|it| Reservation {
            run: it.run.to_owned(),
            footprint: it.footprint.clone(),
            left: it.left,
        });
        held.collect()
    }
}

impl Default for Reservations {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Reservations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reservations").field("held", &self.held()).finish()
    }
}

impl Shared {
    /// Locks the table, and returns it with the present time.
    fn table(&self) -> (MutexGuard<'_, Table>, Duration) {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        // The time is read under the lock, so that the table never sees an earlier time after a later one.
        (table, self.since.elapsed())
    }
}

impl Reserved {
    /// Makes the error answer of a call that cannot begin because of this reservation.
    fn error(&self, tool: &str) -> ToolError {
        ToolError::new("reserved", format!("`{tool}` was not begun: {self}"))
            .class(ErrorClass::NotStarted { retry_after: Some(self.left) })
            .hint("call again later, or work on something else meanwhile")
    }
}

impl From<Conflict> for Reserved {
    fn from(conflict: Conflict) -> Self {
        let Conflict { resource, holder, left } = conflict;
        Self { resource, holder, left }
    }
}

fn named(resource: Option<&TouchedResource>) -> String {
    resource.map_or_else(|| "everything".to_owned(), ToString::to_string)
}

/// Rounds up to whole seconds, so that a caller who waits for that time does not come too early.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
