//! The evidence after a world has ended: marks, journal, and the store's promises.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::Context as _;
use toolwright::CallId;
use toolwright::journal::{CallRecord, Entry, Filter, Page, Store};

use crate::life::Life;
use crate::marks::{self, Mark};
use crate::texts::{self, Stored};
use crate::watched::{self, Told};

/// How many calls are read at once.
const PAGE: usize = 500;

/// Everything that a check needs.
pub struct Evidence {
    /// The seed, which decides which calls were intended.
    pub seed: u64,
    /// Whether reads are journalled.
    pub keeps_reads: bool,
    /// Whether the clock of the journal's times jumped.
    pub clock_jumps: bool,
    /// The marks, in order.
    pub marks: Vec<Mark>,
    /// The promises of the store, in order.
    pub told: Vec<Told>,
    /// The journal.
    pub calls: HashMap<CallId, (CallRecord, Vec<Entry>)>,
    /// The texts that were piped.
    pub texts: Vec<Stored>,
    /// The calls of the journal that cannot be read.
    pub damaged: HashSet<CallId>,
}

impl Evidence {
    /// Reads the evidence from the folder of a world and its store.
    ///
    /// # Errors
    /// When any of it cannot be read.
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
        let told = watched::read(folder).context("the store's promises cannot be read")?;
        let texts = texts::read(folder).context("the context store cannot be read")?;
        let (seed, keeps_reads, clock_jumps) = (*seed, *keeps_reads, *clock_jumps);
        Ok(Self { seed, keeps_reads, clock_jumps, marks, told, calls, texts, damaged })
    }
}
