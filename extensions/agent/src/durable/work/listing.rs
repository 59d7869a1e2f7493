//! Remembers the entries of the list of open runs, so that the worker parses only entries that have changed. No I/O.

use std::collections::HashMap;

use jiff::Timestamp;
use toolwright::journal::Document;

use crate::durable::keys;

/// The list of open runs as it was last read, by run.
#[derive(Default)]
pub(super) struct Listing(HashMap<String, Entry>);

struct Entry {
    version: u64,
    listed: ListedRun,
}

/// A run as the list describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedRun {
    /// The name of the run's agent; `None` if the document is damaged. Then the head of the run names the agent.
    pub(super) agent: Option<String>,
    pub(super) since: Timestamp,
}

impl Listing {
    /// Takes the current documents of the list, and returns each run with its entry.
    pub(super) fn read<'d>(
        &mut self,
        documents: &'d [Document],
    ) -> impl Iterator<Item = (&'d str, &ListedRun)> {
        let mut before = std::mem::replace(&mut self.0, HashMap::with_capacity(documents.len()));
        let runs = documents.iter().filter_map(|it| Some((it.key.strip_prefix(keys::OPEN)?, it)));
        for (run, document) in runs.clone() {
            let (run, entry) = match before.remove_entry(run) {
                Some(known) if known.1.version == document.version => known,
                _ => {
                    let listed = ListedRun::of(&document.text);
                    (run.to_owned(), Entry { version: document.version, listed })
                }
            };
            self.0.insert(run, entry);
        }
        runs.filter_map(|(run, _)| Some((run, &self.0.get(run)?.listed)))
    }
}

impl ListedRun {
    fn of(text: &str) -> Self {
        let listed: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        // Earlier releases did not record when the run was started.
        let since = listed["since"].as_str().and_then(|it| it.parse().ok());
        Self {
            agent: listed["agent"].as_str().map(str::to_owned),
            since: since.unwrap_or(Timestamp::MIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(run: &str, version: u64, text: &str) -> Document {
        Document { key: keys::open(run), version, text: text.to_owned() }
    }

    fn agents(listing: &mut Listing, documents: &[Document]) -> Vec<(String, Option<String>)> {
        let read = listing.read(documents);
        read.map(|(run, listed)| (run.to_owned(), listed.agent.clone())).collect()
    }

    #[test]
    fn a_document_is_read_again_where_its_version_is_another() {
        let mut listing = Listing::default();
        let named = |run: &str, agent: &str| (run.to_owned(), Some(agent.to_owned()));
        let both = [document("r1", 1, r#"{"agent":"a"}"#), document("r2", 1, r#"{"agent":"b"}"#)];
        assert_eq!(agents(&mut listing, &both), [named("r1", "a"), named("r2", "b")]);
        let later = [document("r1", 1, "not read"), document("r2", 2, r#"{"agent":"c"}"#)];
        assert_eq!(agents(&mut listing, &later), [named("r1", "a"), named("r2", "c")]);
        // A run that is no longer listed is forgotten.
        assert_eq!(agents(&mut listing, &later[1..]), [named("r2", "c")]);
        let again = [document("r1", 1, r#"{"agent":"d"}"#)];
        assert_eq!(agents(&mut listing, &again), [named("r1", "d")]);
    }

    #[test]
    fn a_damaged_document_names_no_agent_and_counts_as_the_oldest() {
        let listed = ListedRun::of("{");
        assert_eq!(listed, ListedRun { agent: None, since: Timestamp::MIN });
    }
}
