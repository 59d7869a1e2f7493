//! What is left when a world has come to its end: marks, journal, what was promised, how lives ended.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::Context as _;
use toolwright::CallId;
use toolwright::journal::{CallRecord, Entry, Filter, Page, Store};

use crate::life::Life;
use crate::marks::{self, Mark};
use crate::watched::{self, Told};

/// How many calls are read at once.
const PAGE: usize = 500;

/// All of it.
pub struct Evidence {
    /// What decides which calls were intended.
    pub seed: u64,
    /// Whether reads are in the journal.
    pub keeps_reads: bool,
    /// Whether the journal's times are those of a clock that jumped.
    pub clock_jumps: bool,
    /// What was done outside, in order.
    pub marks: Vec<Mark>,
    /// What the store promised, in order.
    pub told: Vec<Told>,
    /// The journal.
    pub calls: HashMap<CallId, (CallRecord, Vec<Entry>)>,
    /// The calls of the journal that cannot be read.
    pub damaged: HashSet<CallId>,
}

impl Evidence {
    /// Read from the folder of a life and its store.
    ///
    /// # Errors
    /// When something of it cannot be read.
    pub async fn gather(life: &Life, store: &Arc<dyn Store>) -> anyhow::Result<Self> {
        let Life { folder, seed, keeps_reads, clock_jumps, .. } = life;
        let (mut calls, mut damaged) = (HashMap::new(), HashSet::new());
        let mut page = Page::first(PAGE);
        loop {
            let some = store.list(&Filter::default(), page).await?;
            for record in some.calls {
                let history = store.history(record.id).await?;
                calls.insert(record.id, (record, history));
            }
            damaged.extend(some.damaged.into_iter().map(|it| it.id));
            match some.next {
                Some(last) => page = page.after(last),
                None => break,
            }
        }
        let marks = marks::read(folder).context("the marks cannot be read")?;
        let told = watched::read(folder).context("what was told cannot be read")?;
        let (seed, keeps_reads, clock_jumps) = (*seed, *keeps_reads, *clock_jumps);
        Ok(Self { seed, keeps_reads, clock_jumps, marks, told, calls, damaged })
    }
}
