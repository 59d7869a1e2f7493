//! Stores the spending under ceilings in the journal: one document for each period of a user, of an agent or of the
//! application, and one for each reserved request. The document of a request is written before the request is sent, and
//! removed when the request is settled. A request is thus settled only once, even if the reply of a commit is lost.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use toolwright::CallId;
use toolwright::journal::{
    CommitError, DocumentWrite, Store, StoreError, StoreErrorKind, Transaction,
};
use toolwright::unstable::runs::JournalAccess;

use super::ceiling::{Ceiling, CeilingOf, Spending, taken};
use super::{Cost, Limit, TotalUsage};

/// The prefix of the keys of all documents of spending.
const SPENDING: &str = "spending/";

/// The prefix of the keys of all documents of reserved requests.
const RESERVED: &str = "reserved/";

/// The version of the stored form.
const VERSION: u32 = 1;

/// How many times settling is tried while the journal is unavailable. A request that is not settled counts with the
/// amount that was reserved for it.
const TIMES: u32 = 5;

/// The ceilings of the runs of an agent.
#[derive(Clone)]
pub(crate) struct Ceilings(Arc<Inner>);

struct Inner {
    first: Ceiling,
    ceilings: Vec<Ceiling>,
    agent: String,
    journal: JournalAccess,
    /// The lock that is held while this process changes the spending, so that its own changes do not conflict.
    changing: Mutex<()>,
}

/// The amount that was reserved for a request that is under way.
#[must_use]
pub(crate) struct Reservation {
    /// The key of the document with the reservation.
    key: String,
    spending: Vec<String>,
    amount: Cost,
}

/// The reason why a request is not sent.
pub(crate) enum RequestRefusal {
    Reached(Limit),
    Store(StoreError),
}

/// The spending in one period, under one ceiling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PeriodSpending {
    /// The period, such as `2026-11-26` or `2026-11`.
    pub period: String,
    /// The runs that have spent this: the runs of a user, the runs of an agent, or all runs.
    pub whose: CeilingOf,
    /// The name of the user or agent; `None` for all runs, and for the runs without a user.
    pub name: Option<String>,
    /// The ceiling that applied when the spending was last changed.
    pub ceiling: Cost,
    /// The settled and the reserved costs.
    #[serde(flatten)]
    pub spending: Spending,
}

#[derive(Serialize, Deserialize)]
struct StoredCeiling {
    version: u32,
    ceiling: Cost,
    #[serde(flatten)]
    spending: Spending,
}

/// A reserved request. It names the run, so that an operator can find the run of a request that was never settled.
#[derive(Serialize, Deserialize)]
struct ReservedAmount {
    version: u32,
    run: String,
    amount: Cost,
    at: Timestamp,
}

/// The spending in a document, with the document's version when it was read.
struct FoundSpending {
    key: String,
    version: Option<u64>,
    spending: Spending,
}

impl Ceilings {
    pub(crate) fn new(
        first: Ceiling,
        mut ceilings: Vec<Ceiling>,
        agent: &str,
        journal: JournalAccess,
    ) -> Self {
        // If two ceilings apply to the same runs and period, the lower one counts.
        ceilings.sort_unstable();
        ceilings.dedup_by_key(|it| (it.whose(), it.period()));
        let changing = Mutex::default();
        Self(Arc::new(Inner { first, ceilings, agent: agent.to_owned(), journal, changing }))
    }

    pub(crate) fn first(&self) -> Ceiling {
        self.0.first
    }

    /// Reserves the maximum cost of a request in one commit, either under all ceilings or under none.
    pub(crate) async fn reserve(
        &self,
        (run, user): (&str, Option<&str>),
        most: Cost,
    ) -> Result<Reservation, RequestRefusal> {
        let inner = &*self.0;
        let _changing = inner.changing.lock().await;
        let key_of_it = format!("{RESERVED}{}", CallId::new());
        loop {
            let now = inner.journal.now();
            let reserved =
                ReservedAmount { version: VERSION, run: run.to_owned(), amount: most, at: now };
            let reserved = serde_json::to_string(&reserved);
            let text = Some(reserved.map_err(|error| StoreError::invalid(error.to_string()))?);
            let mut documents = vec![DocumentWrite { key: key_of_it.clone(), expects: None, text }];
            let mut spending = Vec::new();
            for ceiling in &inner.ceilings {
                let period = ceiling.period().at(now);
                let name = match ceiling.whose() {
                    CeilingOf::User => user,
                    CeilingOf::Agent => Some(&*inner.agent),
                    CeilingOf::Application => None,
                };
                let found = self.find_spending(key(&period, ceiling.whose(), name)).await?;
                let Some(next) = found.spending.reserve(ceiling.cost(), most) else {
                    return Err(RequestRefusal::Reached(Limit::Ceiling {
                        whose: ceiling.whose(),
                        name: name.map(str::to_owned),
                        period,
                        ceiling: ceiling.cost(),
                        held: found.spending.held(),
                        next: most,
                    }));
                };
                documents.push(found.write(ceiling.cost(), next)?);
                spending.push(found.key);
            }
            let unit = Transaction { documents, ..Transaction::default() };
            match inner.journal.store.commit(unit, now).await {
                Ok(()) => return Ok(Reservation { key: key_of_it, spending, amount: most }),
                // The commit may have succeeded; then the reservation counts as a request that is never settled.
                Err(CommitError::Store(error)) => return Err(error.into()),
                // Another process has changed the spending meanwhile.
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }

    /// Settles a request by its actual cost. If the journal fails, the amount stays reserved, so the spending is
    /// overstated.
    pub(crate) async fn settle(&self, reservation: Reservation, spent: TotalUsage) {
        let taken = taken(spent, reservation.amount);
        let _changing = self.0.changing.lock().await;
        let mut failed = 0;
        loop {
            match self.settle_once(&reservation, taken).await {
                Ok(true) => return,
                Ok(false) => tokio::task::yield_now().await,
                Err(error) => {
                    failed += 1;
                    let may_pass = matches!(error.kind(), StoreErrorKind::Unavailable);
                    if !may_pass || failed == TIMES {
                        tracing::warn!(%error, "a request to a model stays reserved, because the journal cannot record its cost");
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Tries to settle a request; returns `false` if another process has written the spending meanwhile.
    async fn settle_once(
        &self,
        reservation: &Reservation,
        taken: Cost,
    ) -> Result<bool, StoreError> {
        let journal = &self.0.journal;
        let Some(reserved) = journal.store.document(&reservation.key).await? else {
            // An earlier attempt has settled the request, but its reply was lost.
            return Ok(true);
        };
        let (key, expects) = (reserved.key, Some(reserved.version));
        let mut documents = vec![DocumentWrite { key, expects, text: None }];
        for key in &reservation.spending {
            let Some(document) = journal.store.document(key).await? else { continue };
            let stored = read(key, &document.text)?;
            let found = FoundSpending {
                key: key.clone(),
                version: Some(document.version),
                spending: stored.spending,
            };
            documents.push(
                found.write(stored.ceiling, stored.spending.settle(reservation.amount, taken))?,
            );
        }
        let unit = Transaction { documents, ..Transaction::default() };
        match journal.store.commit(unit, journal.now()).await {
            Ok(()) => Ok(true),
            Err(CommitError::Store(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    async fn find_spending(&self, key: String) -> Result<FoundSpending, StoreError> {
        let found = self.0.journal.store.document(&key).await?;
        let (version, spending) = match found {
            Some(found) => (Some(found.version), read(&key, &found.text)?.spending),
            None => (None, Spending::default()),
        };
        Ok(FoundSpending { key, version, spending })
    }
}

impl FoundSpending {
    fn write(&self, ceiling: Cost, spending: Spending) -> Result<DocumentWrite, StoreError> {
        let text = serde_json::to_string(&StoredCeiling { version: VERSION, ceiling, spending });
        let text = text.map_err(|error| StoreError::invalid(error.to_string()))?;
        Ok(DocumentWrite { key: self.key.clone(), expects: self.version, text: Some(text) })
    }
}

impl From<StoreError> for RequestRefusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn key(period: &str, whose: CeilingOf, name: Option<&str>) -> String {
    let whose = whose.word();
    match name {
        Some(name) => format!("{SPENDING}{period}/{whose}/{name}"),
        None => format!("{SPENDING}{period}/{whose}"),
    }
}

fn read(key: &str, text: &str) -> Result<StoredCeiling, StoreError> {
    let invalid = |why: String| StoreError::invalid(format!("the document `{key}` {why}"));
    let stored: StoredCeiling = serde_json::from_str(text)
        .map_err(|error| invalid(format!("says nothing of what was spent: {error}; restore it")))?;
    match stored.version {
        VERSION => Ok(stored),
        found => Err(invalid(format!(
            "has version {found}, expected {VERSION}; read it with the release that wrote it"
        ))),
    }
}

/// Lists all spending under ceilings, by period.
pub(crate) async fn all(store: &dyn Store) -> Result<Vec<PeriodSpending>, StoreError> {
    let mut all = Vec::new();
    for document in store.documents(SPENDING).await? {
        let stored = read(&document.key, &document.text)?;
        let mut parts = document.key[SPENDING.len()..].splitn(3, '/');
        let period = parts.next().unwrap_or_default().to_owned();
        let whose = match parts.next() {
            Some("user") => CeilingOf::User,
            Some("agent") => CeilingOf::Agent,
            Some("application") => CeilingOf::Application,
            _ => {
                let why = format!("the key `{}` says not whose spending it is", document.key);
                return Err(StoreError::invalid(why));
            }
        };
        let (name, StoredCeiling { ceiling, spending, .. }) =
            (parts.next().map(str::to_owned), stored);
        all.push(PeriodSpending { period, whose, name, ceiling, spending });
    }
    Ok(all)
}
