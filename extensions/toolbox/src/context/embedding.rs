//! Computes the vectors of a store's parts, in batches. Each batch has a commit of its own, and no write transaction
//! waits for the model. After a failure the parts stay without vectors until the next attempt.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use tokio::sync::{Mutex as Turn, MutexGuard as Taken};
use tokio::time::{Instant, timeout_at};
use toolwright::{ToolError, printable};

use super::database::unavailable;
use super::embedder::{EmbedPurpose, Embedder, EmbedderError};
use super::store::ContextStore;
use super::vector::UnitVector;
use crate::blocking::blocking;
use crate::workspace::content_hash;

/// How long a call waits for the embedder, unless the application sets another limit.
pub(super) const TIME: Duration = Duration::from_secs(10);

/// How many parts are embedded in one request; they have at most 128 KB of text.
const BATCH: usize = 64;

/// The number of refusals after which a pass ends. So many refusals mean more than a few unusual texts.
const MOST_REFUSALS: usize = 32;

/// How long a text that the model has refused is left out. The time doubles with each refusal of the text, up to
/// [`LONGEST_REST`]: a server may refuse everything for a while, and a text that it always refuses costs a request a day.
const FIRST_REST: Duration = Duration::from_mins(10);
const LONGEST_REST: Duration = Duration::from_hours(24);

/// How many characters of an error are shown.
const LONGEST_PROBLEM: usize = 300;

/// What [`ContextStore::embed`] has done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbeddingReport {
    /// How many parts have been embedded.
    pub embedded: usize,
    /// How many parts still have no vector.
    pub missing: usize,
    /// The reason why parts still have no vector.
    pub problem: Option<String>,
}

/// The embedder of a store. Clones of the store share it.
pub(super) struct Embedding {
    embedder: Box<dyn Embedder>,
    /// The name under which vectors are stored: the name of the model, with the number of dimensions. Vectors of
    /// different sizes are therefore never compared.
    model: String,
    /// How many numbers each vector has, as the embedder said when it was added.
    dimensions: usize,
    /// Held while parts are embedded, so that two calls do not pay for the same parts.
    turn: Turn<()>,
    /// The hashes of the texts that the model has refused, or that alone got no direction. This process asks about each of
    /// them again after its rest.
    refused: Mutex<HashMap<String, Refusal>>,
    /// The number of the last part in the batch that was sent last. The next pass begins after that part, so that a
    /// batch on which the server always fails does not hold up the other batches.
    begun: AtomicI64,
}

/// When the model is asked again about a text that it has refused.
struct Refusal {
    rest: Duration,
    until: Instant,
}

/// A part that has no vector yet.
struct MissingPart {
    id: i64,
    text: String,
}

/// The result of one pass over all parts without vectors.
#[derive(Default)]
struct Pass {
    embedded: usize,
    refusals: usize,
    problem: Option<String>,
}

impl Embedding {
    pub(super) fn new(embedder: impl Embedder) -> Self {
        let dimensions = embedder.dimensions();
        let model = format!("{} ({dimensions})", embedder.model());
        let (turn, refused, begun) = (Turn::new(()), Mutex::default(), AtomicI64::new(i64::MIN));
        Self { embedder: Box::new(embedder), model, dimensions, turn, refused, begun }
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Embeds texts; `None` for a text whose vector has no direction.
    async fn embed(
        &self,
        texts: &[String],
        purpose: EmbedPurpose,
    ) -> Result<Vec<Option<UnitVector>>, EmbedderError> {
        // A call whose text is stored must not fail because the embedder panics.
        let embedded = AssertUnwindSafe(async { self.embedder.embed(texts, purpose).await });
        let vectors = embedded.catch_unwind().await;
        let vectors = vectors.map_err(|_| EmbedderError::unavailable("it panicked"))??;
        UnitVector::of_answer(vectors, texts.len(), self.dimensions)
    }

    /// Embeds the query of a search. The error is a message for the model.
    pub(super) async fn embed_query(
        &self,
        query: &str,
        until: Instant,
    ) -> Result<UnitVector, String> {
        let texts = [query.to_owned()];
        match timeout_at(until, self.embed(&texts, EmbedPurpose::Query)).await {
            Err(_) => Err(TOO_SLOW.to_owned()),
            Ok(Err(error)) => Err(words(&error)),
            Ok(Ok(vectors)) => {
                let vector = vectors.into_iter().next().flatten();
                vector.ok_or_else(|| EmbedderError::NoDirection.to_string())
            }
        }
    }

    fn has_refused(&self, text: &str) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get(&content_hash(text.as_bytes())).is_some_and(|it| Instant::now() < it.until)
    }

    /// Leaves a text out of the next passes for a while.
    fn remember_refused(&self, text: &str) {
        let (now, text) = (Instant::now(), content_hash(text.as_bytes()));
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        // A text that nothing asked about since its rest ended has been replaced.
        refused.retain(|_, it| now < it.until + LONGEST_REST);
        let before = refused.get(&text).map(|it| it.rest * 2);
        let rest = before.unwrap_or(FIRST_REST).min(LONGEST_REST);
        refused.insert(text, Refusal { rest, until: now + rest });
    }
}

/// Describes an error in one short line, because models read it in the answers of tools, and a server may have written
/// a part of it.
fn words(error: &EmbedderError) -> String {
    let line = printable::line(&error.to_string());
    match line.char_indices().nth(LONGEST_PROBLEM) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

const TOO_SLOW: &str = "the embedding model did not answer in time";

impl ContextStore {
    /// Embeds all parts that have no vector, without a time limit. Call it after opening a store with another embedder,
    /// or after [`write`](Self::write), which embeds nothing. Without an embedder it does nothing.
    ///
    /// # Errors
    /// `context_unavailable` when SQLite fails. Failures of the embedder are in the report.
    pub async fn embed(&self) -> Result<EmbeddingReport, ToolError> {
        let Some(embedding) = self.embedding.clone() else {
            return Ok(EmbeddingReport { embedded: 0, missing: 0, problem: None });
        };
        let turn = embedding.turn.lock().await;
        let mut pass = Pass::default();
        self.embed_missing(&embedding, &turn, &mut pass).await?;
        let missing = self.missing(&embedding).await?.len();
        // If both halves of a refused batch were embedded, there is no problem.
        let problem = pass.problem.filter(|_| missing > 0);
        Ok(EmbeddingReport { embedded: pass.embedded, missing, problem })
    }

    /// Embeds parts until the given time, unless another call is embedding. Returns the reason why parts are still
    /// without vectors.
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

    /// Embeds the parts after a write, within the store's time limit.
    pub(super) async fn embed_in_time(&self) -> Option<String> {
        self.embed_until(Instant::now() + self.embedding_time).await
    }

    /// Makes one pass over all parts without vectors. `pass` has the counts, even if the future is dropped in the
    /// middle.
    async fn embed_missing(
        &self,
        embedding: &Arc<Embedding>,
        _turn: &Taken<'_, ()>,
        pass: &mut Pass,
    ) -> Result<(), ToolError> {
        let missing = self.missing(embedding).await?;
        let begun = embedding.begun.load(Ordering::Relaxed);
        let (before, behind) = missing.split_at(missing.partition_point(|id| *id <= begun));
        for ids in behind.chunks(BATCH).chain(before.chunks(BATCH)) {
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
            // Record this before the batch is embedded: if the model does not answer in time, the future is dropped
            // there.
            let last = parts.last().map(|it| it.id);
            last.into_iter().for_each(|id| embedding.begun.store(id, Ordering::Relaxed));
            if !self.embed_batch(embedding, parts, pass).await? {
                break;
            }
        }
        Ok(())
    }

    /// Embeds one batch. If the model refuses the batch, halves it until the refused text is found. If some vectors of
    /// an answer have no direction, stores the other vectors. Returns whether to continue with the next batch.
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
                    let parts = group.into_iter().zip(vectors);
                    let (good, bad): (Vec<_>, Vec<_>) = parts.partition(|(_, it)| it.is_some());
                    if !bad.is_empty() {
                        pass.problem = Some(EmbedderError::NoDirection.to_string());
                        // If no vector has a direction, the model may be at fault, and may recover. Do not remember the
                        // texts as refused.
                        if good.is_empty() && bad.len() > 1 {
                            pass.refusals += 1;
                            if pass.refusals > MOST_REFUSALS {
                                return Ok(false);
                            }
                            continue;
                        }
                        bad.into_iter()
                            .for_each(|(part, _)| embedding.remember_refused(&part.text));
                    }
                    let (store, embedding) = (self.clone(), Arc::clone(embedding));
                    let added = move || store.add_vectors(embedding.model(), &good);
                    pass.embedded += blocking(added).await?.map_err(unavailable)?;
                    continue;
                }
                Err(error) => error,
            };
            pass.problem = Some(words(&error));
            pass.refusals += 1;
            if !matches!(error, EmbedderError::Refused { .. }) || pass.refusals > MOST_REFUSALS {
                return Ok(false);
            }
            if group.len() > 1 {
                let second = group.split_off(group.len() / 2);
                groups.extend([second, group]);
            } else {
                group.into_iter().for_each(|part| embedding.remember_refused(&part.text));
            }
        }
        Ok(true)
    }

    /// Returns the numbers of the parts without a vector of the model, in order.
    async fn missing(&self, embedding: &Arc<Embedding>) -> Result<Vec<i64>, ToolError> {
        let (store, embedding) = (self.clone(), Arc::clone(embedding));
        let read = move || {
            let connection = store.connection();
            // Read only the indexes, because the parts themselves are large.
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

    /// Returns the paths of the entries that have parts without a vector.
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

    /// Adds vectors in one transaction, and returns how many. A part that was replaced meanwhile gets none, even if
    /// another part has its number now.
    fn add_vectors(
        &self,
        model: &str,
        parts: &[(MissingPart, Option<UnitVector>)],
    ) -> rusqlite::Result<usize> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut added = 0;
        for (part, vector) in parts {
            let Some(vector) = vector else { continue };
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
        // The part may have been replaced meanwhile.
        if let Some(text) = statement.query_row([id], |row| row.get(0)).optional()? {
            parts.push(MissingPart { id, text });
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;

    use super::*;

    struct NoModel;

    impl Embedder for NoModel {
        fn model(&self) -> &str {
            "none"
        }

        fn dimensions(&self) -> usize {
            1
        }

        fn embed<'a>(
            &'a self,
            _: &'a [String],
            _: EmbedPurpose,
        ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
            Box::pin(async { Err(EmbedderError::refused("no")) })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_text_is_forgotten_if_nothing_asks_about_it_after_its_rest() {
        let embedding = Embedding::new(NoModel);
        for number in 0..100 {
            embedding.remember_refused(&number.to_string());
        }
        assert!(embedding.has_refused("7"));
        tokio::time::advance(FIRST_REST + LONGEST_REST).await;
        embedding.remember_refused("another");
        assert_eq!(embedding.refused.lock().unwrap().len(), 1);
    }
}
