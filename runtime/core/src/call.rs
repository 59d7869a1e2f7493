//! A call as its caller makes it: the name of a tool, the arguments as text, and services for this call only.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::capability::Value;

/// A call of a tool. The arguments are the JSON text exactly as the caller sent it. The executor reads this text
/// directly into the tool's own types.
///
/// ```
/// use toolwright::Call;
///
/// let call = Call::new("read_file", r#"{"path":"README.md"}"#).id("toolu_01");
/// assert_eq!(call.name(), "read_file");
/// ```
pub struct Call<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) arguments: Cow<'a, str>,
    #[doc(hidden)]
    pub id: Option<Cow<'a, str>>,
    extras: Option<Box<Extras>>,
}

/// The rarely used parts of a call, boxed to keep a call small.
#[derive(Default)]
struct Extras {
    values: Vec<(TypeId, &'static str, Value)>,
    cancelled: Option<CancellationToken>,
    reason: Option<Box<str>>,
}

impl<'a> Call<'a> {
    /// Makes a call as a model does: `arguments` is JSON text, which this function does not check.
    pub fn new(name: impl Into<Cow<'a, str>>, arguments: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), arguments: arguments.into(), id: None, extras: None }
    }

    /// Sets the id that the provider gave to the call. The provider uses the id to match the answer with the call.
    #[must_use]
    pub fn id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds a service for this call only. Declare the type of the service with `per_call` when you build the executor.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_arc(Arc::new(value))
    }

    /// Adds a service that is shared with other owners, or that is behind a trait object; see [`with`](Self::with).
    #[must_use]
    pub fn with_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.extras().values.push((TypeId::of::<T>(), type_name::<T>(), Box::new(value)));
        self
    }

    /// Cancels the call when the token is cancelled.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.extras().cancelled = Some(token);
        self
    }

    /// Sets the reason that the model gives for the call, which people read in a plan.
    #[must_use]
    pub fn because(mut self, reason: impl Into<Box<str>>) -> Self {
        self.extras().reason = Some(reason.into());
        self
    }

    #[doc(hidden)]
    pub fn reason(&self) -> Option<&str> {
        self.extras.as_ref()?.reason.as_deref()
    }

    /// Returns the service of this type that the call provides. If the call provides several, the last one counts.
    #[doc(hidden)]
    pub fn value(&self, id: TypeId) -> Option<&Value> {
        let values = &self.extras.as_ref()?.values;
        values.iter().rev().find(|(given, ..)| *given == id).map(|(.., value)| value)
    }

    /// Lists the types of the services that the call provides.
    #[inline]
    #[doc(hidden)]
    pub fn brings(&self) -> impl Iterator<Item = (TypeId, &'static str)> {
        let values = self.extras.iter().flat_map(|extras| &extras.values);
        values.map(|(id, name, _)| (*id, *name))
    }

    #[inline]
    #[doc(hidden)]
    pub fn cancellation(&self) -> Option<&CancellationToken> {
        self.extras.as_ref()?.cancelled.as_ref()
    }

    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// Returns the name of the tool, as the caller wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of the arguments as the caller sent it, which may not be JSON.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The arguments are omitted: they may contain secrets, and only the tool's definition shows which arguments are
        // secret.
        formatter
            .debug_struct("Call")
            .field("name", &self.name)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
