//! Errors of models.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use toolwright::ErrorClass;
use toolwright::unstable::write_with_causes;

use crate::limits::TotalUsage;
use crate::model::ContextSize;

type Source = Box<dyn Error + Send + Sync>;

/// The reason why a model gave no answer. It has a kind for programs, a class that says whether the request may be
/// repeated, and a message that says what was received, what was expected and what to do.
///
/// ```
/// use std::time::Duration;
/// use toolwright::ErrorClass;
/// use toolwright_agent::ModelError;
///
/// let wait = Some(Duration::from_secs(20));
/// let error = ModelError::new("rate_limited", "anthropic answered 429; wait 20 s and try again")
///     .class(ErrorClass::NotStarted { retry_after: wait });
/// assert_eq!((error.kind(), error.retry_after()), ("rate_limited", wait));
/// ```
pub struct ModelError(Box<Inner>);

struct Inner {
    kind: Cow<'static, str>,
    class: ErrorClass,
    message: Cow<'static, str>,
    retry_after: Option<Duration>,
    context_size: Option<ContextSize>,
    spent: TotalUsage,
    source: Option<Source>,
}

impl ModelError {
    /// Makes an error of class [`ErrorClass::Final`]. The kind is in snake case.
    pub fn new(kind: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        let (kind, message) = (kind.into(), message.into());
        Self(Box::new(Inner {
            kind,
            class: ErrorClass::Final,
            message,
            retry_after: None,
            context_size: None,
            spent: TotalUsage::default(),
            source: None,
        }))
    }

    /// Sets whether the request may be repeated.
    #[must_use]
    pub fn class(mut self, class: ErrorClass) -> Self {
        self.0.class = class;
        self
    }

    /// Sets how long the provider asks to wait, if the class does not contain this time.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.0.retry_after = Some(delay);
        self
    }

    /// Sets the size of a request that is too long for the model.
    #[must_use]
    pub fn too_long(mut self, size: ContextSize) -> Self {
        self.0.context_size = Some(size);
        self
    }

    /// Appends a note to the message of the error.
    pub(crate) fn and(mut self, note: &str) -> Self {
        self.0.message = format!("{}; {note}", self.0.message).into();
        self
    }

    /// Sets the cause, for operators.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Sets the tokens and the cost of the failed requests, as far as their providers report them.
    #[must_use]
    pub fn taking(mut self, spent: TotalUsage) -> Self {
        self.0.spent = spent;
        self
    }

    /// Returns the tokens and the cost of the failed requests.
    #[must_use]
    pub fn spent(&self) -> TotalUsage {
        self.0.spent
    }

    /// Returns the size of the request, if it is too long for the model.
    #[must_use]
    pub fn context_size(&self) -> Option<ContextSize> {
        self.0.context_size
    }

    /// Returns the kind of the error, for programs.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Returns the class of the error, which says whether the request may be repeated.
    #[must_use]
    pub fn classified(&self) -> ErrorClass {
        self.0.class
    }

    /// Returns whether the model is unavailable for now, so that the same request may succeed later: the class is
    /// [`NotStarted`](ErrorClass::NotStarted) or [`Transient`](ErrorClass::Transient).
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self.0.class, ErrorClass::NotStarted { .. } | ErrorClass::Transient)
    }

    /// Returns the message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns how long the provider asks to wait before the next request, if it said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.0.class {
            ErrorClass::NotStarted { retry_after: Some(delay) } => Some(delay),
            _ => self.0.retry_after,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

/// Writes the message with its causes, because a `main` that returns the error prints it with `Debug`; `{:#?}` writes
/// every field.
impl fmt::Debug for ModelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !formatter.alternate() {
            return write_with_causes(self, formatter);
        }
        formatter
            .debug_struct("ModelError")
            .field("kind", &self.0.kind)
            .field("class", &self.0.class)
            .field("message", &self.0.message)
            .field("retry_after", &self.retry_after())
            .field("context_size", &self.0.context_size)
            .field("spent", &self.0.spent)
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
