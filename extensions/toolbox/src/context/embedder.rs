//! Embedding models, which turn texts into vectors, as the store uses them.

use std::error::Error;

use futures::future::BoxFuture;

/// An embedding model: texts of similar meaning get vectors of similar direction. For
/// [`ContextStore::with_embedder`](crate::ContextStore::with_embedder).
///
/// ```
/// use futures::future::BoxFuture;
/// use toolwright_toolbox::{EmbedPurpose, Embedder, EmbedderError};
///
/// /// Counts letters; a real one asks a model.
/// struct Letters;
///
/// impl Embedder for Letters {
///     fn model(&self) -> &str {
///         "letters"
///     }
///
///     fn dimensions(&self) -> usize {
///         26
///     }
///
///     fn embed<'a>(
///         &'a self,
///         texts: &'a [String],
///         _purpose: EmbedPurpose,
///     ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
///         let count = |text: &String| ('a'..='z').map(|it| text.matches(it).count() as f32).collect();
///         Box::pin(async move { Ok(texts.iter().map(count).collect()) })
///     }
/// }
/// ```
pub trait Embedder: Send + Sync + 'static {
    /// Names the model. Vectors of different names are never compared, so a model whose vectors change has to change its name.
    fn model(&self) -> &str;

    /// Returns how many numbers each vector has.
    fn dimensions(&self) -> usize;

    /// Embeds texts: one vector for each, in their order. The length of a vector has no meaning.
    ///
    /// # Errors
    /// When the model cannot be asked, or refuses a text.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        purpose: EmbedPurpose,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>>;
}

/// The purpose for which a text is embedded. Some models treat the two purposes differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedPurpose {
    /// The text will be stored, and found later.
    Passage,
    /// The text is a query that finds stored texts.
    Query,
}

/// Why texts were not embedded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderError {
    /// The model cannot be asked now. The same texts may be embedded later.
    #[error("the embedding model cannot be used: {problem}")]
    Unavailable {
        /// What failed.
        problem: String,
        /// The cause.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The model refuses at least one of the texts, such as one that is too long for it.
    #[error("the embedding model refuses a text: {problem}")]
    Refused {
        /// What the model objects to.
        problem: String,
    },
    /// The number of vectors in the answer differs from the number of texts.
    #[error("the embedding model answered with {found} vectors, expected {expected}")]
    WrongCount {
        /// How many vectors the answer has.
        found: usize,
        /// How many texts there were.
        expected: usize,
    },
    /// A vector has another number of dimensions than the embedder declares.
    #[error(
        "the embedding model answered with a vector of {found} dimensions, expected {expected}"
    )]
    WrongDimensions {
        /// How many numbers the vector has.
        found: usize,
        /// How many the embedder declares.
        expected: usize,
    },
    /// A vector has no direction: all of its numbers are 0, or one is not finite.
    #[error(
        "the embedding model answered with a vector without a direction, expected finite numbers that are not all 0"
    )]
    NoDirection,
}
toolwright::unstable::debug_as_sentence!(EmbedderError);

impl EmbedderError {
    /// Makes the error of a model that is not available now.
    pub fn unavailable(problem: impl Into<String>) -> Self {
        Self::Unavailable { problem: problem.into(), source: None }
    }

    /// Makes the error of a model that refuses a text.
    pub fn refused(problem: impl Into<String>) -> Self {
        Self::Refused { problem: problem.into() }
    }
}
