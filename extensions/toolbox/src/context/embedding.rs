//! Gives the parts of a store their vectors: outside of any write transaction, a batch at a time, each in a commit of its own.
//! What fails leaves the texts as they are; the parts get their vectors at the next opportunity.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use tokio::sync::{Mutex as Turn, MutexGuard as Taken};
use tokio::time::{Instant, timeout_at};
use toolwright::ToolError;

use super::database::unavailable;
use super::embedder::{EmbedPurpose, Embedder, EmbedderError};
use super::store::ContextStore;
use super::vector::UnitVector;
use crate::blocking::blocking;

/// How long a call waits for the embedder, unless the application sets it.
pub(super) const TIME: Duration = Duration::from_secs(10);

/// How many parts are embedded in one request: at most 128 KB of text.
const BATCH: usize = 64;

/// How many refusals end a pass: the model then refuses more than a few odd texts.
const MOST_REFUSALS: usize = 32;

/// What [`ContextStore::embed`] has done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbeddingReport {
    /// How many parts have got their vectors.
    pub embedded: usize,
    /// How many parts have none.
    pub missing: usize,
    /// Why some have none.
    pub problem: Option<String>,
}

/// The embedder of a store, which its clones share.
pub(super) struct Embedding {
    embedder: Box<dyn Embedder>,
    /// The model as vectors name it: with its dimensions, so that vectors of another size are not compared.
    model: String,
    /// Held while parts are embedded, so that two calls do not pay for the same parts.
    turn: Turn<()>,
    /// The texts that the model has refused alone; it is not asked about them again by this process.
    refused: Mutex<HashSet<String>>,
}

/// A part without a vector.
struct MissingPart {
    id: i64,
    text: String,
}

/// The result of one look at all parts without vectors.
#[derive(Default)]
struct Pass {
    embedded: usize,
    refusals: usize,
    problem: Option<String>,
}

impl Embedding {
    pub(super) fn new(embedder: impl Embedder) -> Self {
        let model = format!("{} ({})", embedder.model(), embedder.dimensions());
        let (turn, refused) = (Turn::new(()), Mutex::default());
        Self { embedder: Box::new(embedder), model, turn, refused }
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    pub(super) async fn embed(
        &self,
        texts: &[String],
        purpose: EmbedPurpose,
    ) -> Result<Vec<UnitVector>, EmbedderError> {
        let vectors = self.embedder.embed(texts, purpose).await?;
        UnitVector::of_answer(vectors, texts.len(), self.embedder.dimensions())
    }

    /// Embeds the query of a search; an error is in words.
    pub(super) async fn embed_query(
        &self,
        query: &str,
        until: Instant,
    ) -> Result<UnitVector, String> {
        let texts = [query.to_owned()];
        match timeout_at(until, self.embed(&texts, EmbedPurpose::Query)).await {
            Err(_) => Err(TOO_SLOW.to_owned()),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok(vectors)) => vectors.into_iter().next().ok_or_else(|| "no vector".to_owned()),
        }
    }

    fn has_refused(&self, text: &str) -> bool {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).contains(text)
    }

    fn remember_refused(&self, text: String) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(text);
    }
}

const TOO_SLOW: &str = "the embedding model did not answer in time";

impl ContextStore {
    /// Gives each part its vector, however long it takes: for an application that has opened a store with another embedder, or
    /// after [`write`](Self::write), which embeds nothing. Without an embedder it does nothing.
    ///
    /// # Errors
    /// `context_unavailable` when SQLite fails. What the embedder fails to do is in the report.
    pub async fn embed(&self) -> Result<EmbeddingReport, ToolError> {
        let Some(embedding) = self.embedding.clone() else {
            return Ok(EmbeddingReport { embedded: 0, missing: 0, problem: None });
        };
        let turn = embedding.turn.lock().await;
        let mut pass = Pass::default();
        self.embed_missing(&embedding, &turn, &mut pass).await?;
        let missing = self.missing(&embedding).await?.len();
        // A refused batch whose halves were embedded is no problem.
        let problem = pass.problem.filter(|_| missing > 0);
        Ok(EmbeddingReport { embedded: pass.embedded, missing, problem })
    }

    /// Embeds what it can until then, unless another call does so now. Returns why parts are still without vectors.
    pub(super) async fn embed_until(&self, until: Instant) -> Option<String> {
        let embedding = self.embedding.clone()?;
        let mut pass = Pass::default();
        let problem = match embedding.turn.try_lock() {
            Err(_) => Some("another call embeds them".to_owned()),
            Ok(turn) => {
                let embedded = self.embed_missing(&embedding, &turn, &mut pass);
                match timeout_at(until, embedded).await {
                    Err(_) => Some(TOO_SLOW.to_owned()),
                    Ok(Err(error)) => Some(error.message().to_owned()),
                    Ok(Ok(())) => pass.problem,
                }
            }
        };
        let problem = problem?;
        match self.missing(&embedding).await.map(|it| it.len()) {
            Ok(0) => None,
            Ok(1) => Some(format!("1 part has no vector yet: {problem}")),
            Ok(count) => Some(format!("{count} parts have no vectors yet: {problem}")),
            Err(error) => Some(error.message().to_owned()),
        }
    }

    /// Embeds after a write within the store's time.
    pub(super) async fn embed_in_time(&self) -> Option<String> {
        self.embed_until(Instant::now() + self.embedding_time).await
    }

    /// Looks once at all parts without vectors. `pass` counts, also if this is dropped in the middle.
    async fn embed_missing(
        &self,
        embedding: &Arc<Embedding>,
        _turn: &Taken<'_, ()>,
        pass: &mut Pass,
    ) -> Result<(), ToolError> {
        let missing = self.missing(embedding).await?;
        for ids in missing.chunks(BATCH) {
            let (store, ids) = (self.clone(), ids.to_vec());
            let parts = blocking(move || texts_of(&store.connection(), &ids)).await?;
            let mut parts = parts.map_err(unavailable)?;
            parts.retain(|part| {
                let is_refused = embedding.has_refused(&part.text);
                if is_refused {
                    pass.problem
                        .get_or_insert_with(|| "the embedding model refuses them".to_owned());
                }
                !is_refused
            });
            if !self.embed_batch(embedding, parts, pass).await? {
                break;
            }
        }
        Ok(())
    }

    /// Embeds one batch. Where the model refuses it, halves it until the refused text is found. Returns whether to continue.
    async fn embed_batch(
        &self,
        embedding: &Arc<Embedding>,
        parts: Vec<MissingPart>,
        pass: &mut Pass,
    ) -> Result<bool, ToolError> {
        let mut groups = vec![parts];
        while let Some(mut group) = groups.pop() {
            if group.is_empty() {
                continue;
            }
            let texts: Vec<String> = group.iter().map(|it| it.text.clone()).collect();
            let error = match embedding.embed(&texts, EmbedPurpose::Passage).await {
                Ok(vectors) => {
                    let (store, embedding) = (self.clone(), Arc::clone(embedding));
                    let added = move || store.add_vectors(embedding.model(), &group, &vectors);
                    pass.embedded += blocking(added).await?.map_err(unavailable)?;
                    continue;
                }
                Err(error) => error,
            };
            pass.problem = Some(error.to_string());
            pass.refusals += 1;
            if !matches!(error, EmbedderError::Refused { .. }) || pass.refusals > MOST_REFUSALS {
                return Ok(false);
            }
            if group.len() > 1 {
                let second = group.split_off(group.len() / 2);
                groups.extend([second, group]);
            } else {
                group.into_iter().for_each(|part| embedding.remember_refused(part.text));
            }
        }
        Ok(true)
    }

    /// The parts without a vector of the model, in order.
    async fn missing(&self, embedding: &Arc<Embedding>) -> Result<Vec<i64>, ToolError> {
        let (store, embedding) = (self.clone(), Arc::clone(embedding));
        let read = move || {
            let connection = store.connection();
            // Read only the indexes: the parts themselves are large.
            let mut statement = connection.prepare_cached(
                "SELECT c.id FROM chunks c INDEXED BY chunks_by_entry
                 WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id AND v.model = ?1)
                 ORDER BY c.id",
            )?;
            let rows = statement.query_map([embedding.model()], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<i64>>>()
        };
        blocking(read).await?.map_err(unavailable)
    }

    /// The paths of the entries that have parts without a vector.
    pub(super) async fn paths_without_vectors(&self) -> Result<HashSet<String>, ToolError> {
        let Some(embedding) = self.embedding.clone() else { return Ok(HashSet::new()) };
        let store = self.clone();
        let read = move || {
            let connection = store.connection();
            let mut statement = connection.prepare_cached(
                "SELECT DISTINCT e.path FROM chunks c JOIN entries e ON e.id = c.entry
                 WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id AND v.model = ?1)",
            )?;
            let rows = statement.query_map([embedding.model()], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<HashSet<String>>>()
        };
        blocking(read).await?.map_err(unavailable)
    }

    /// Adds vectors in one transaction; returns how many. A part that was replaced meanwhile gets none, even where another part
    /// has its number now.
    fn add_vectors(
        &self,
        model: &str,
        parts: &[MissingPart],
        vectors: &[UnitVector],
    ) -> rusqlite::Result<usize> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut added = 0;
        for (part, vector) in parts.iter().zip(vectors) {
            added += transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO vectors (chunk, model, vector)
                     SELECT id, ?2, ?3 FROM chunks WHERE id = ?1 AND text = ?4",
                )?
                .execute(params![part.id, model, vector.to_blob(), part.text])?;
        }
        transaction.commit()?;
        Ok(added)
    }
}

fn texts_of(connection: &Connection, ids: &[i64]) -> rusqlite::Result<Vec<MissingPart>> {
    let mut statement = connection.prepare_cached("SELECT text FROM chunks WHERE id = ?1")?;
    let mut parts = Vec::with_capacity(ids.len());
    for &id in ids {
        // It may have been replaced meanwhile.
        if let Some(text) = statement.query_row([id], |row| row.get(0)).optional()? {
            parts.push(MissingPart { id, text });
        }
    }
    Ok(parts)
}
