//! The trait of embedding models, which convert texts to vectors.

use std::error::Error;

use futures::future::BoxFuture;

/// An embedding model, which gives texts of similar meaning vectors of similar direction. Pass it to
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
    /// Returns the name of the model. Vectors of models with different names are never compared, so change the name if
    /// the vectors change.
    fn model(&self) -> &str;

    /// Returns how many numbers each vector has.
    fn dimensions(&self) -> usize;

    /// Embeds texts: one vector for each text, in their order. Only the direction of a vector has a meaning, not its
    /// magnitude.
    ///
    /// # Errors
    /// When the model cannot be reached, or refuses a text.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        purpose: EmbedPurpose,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>>;
}

/// The purpose of an embedding. Some models treat stored texts and queries differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedPurpose {
    /// The text is stored, to be found later.
    Passage,
    /// The text is a query for stored texts.
    Query,
}

/// Why texts were not embedded. The answers of tools show the first 300 characters of this error to models, even in
/// calls about other entries. The description of a problem must therefore repeat neither a text nor a key.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderError {
    /// The model cannot be reached now. The same texts may be embedded later.
    #[error("the embedding model cannot be used: {problem}")]
    Unavailable {
        /// A description of the failure.
        problem: String,
        /// The underlying error, if there is one.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The model refuses at least one of the texts, for instance because the text is too long.
    #[error("the embedding model refuses a text: {problem}")]
    Refused {
        /// The reason that the model gave.
        problem: String,
    },
    /// The number of vectors in the answer differs from the number of texts.
    #[error("the embedding model answered with {found} vectors, expected {expected}")]
    WrongCount {
        /// The number of vectors in the answer.
        found: usize,
        /// The number of texts.
        expected: usize,
    },
    /// A vector does not have the number of dimensions that the embedder declares.
    #[error(
        "the embedding model answered with a vector of {found} dimensions, expected {expected}"
    )]
    WrongDimensions {
        /// The number of dimensions of the vector.
        found: usize,
        /// The number of dimensions that the embedder declares.
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
    /// Makes the error for a model that cannot be reached now.
    pub fn unavailable(problem: impl Into<String>) -> Self {
        Self::Unavailable { problem: problem.into(), source: None }
    }

    /// Makes the error for a model that refuses a text.
    pub fn refused(problem: impl Into<String>) -> Self {
        Self::Refused { problem: problem.into() }
    }
}
