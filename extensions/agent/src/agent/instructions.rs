//! The system prompt of an agent: a text, or a function of a service of the run.

use std::any::type_name;
use std::borrow::Cow;
use std::fmt;

use toolwright::{Executor, Run};

/// The system prompt, which the model reads before everything else: a text or a function. Set by
/// [`AgentBuilder::instructions`](crate::AgentBuilder::instructions).
pub struct Instructions(Kind);

enum Kind {
    Text(String),
    Of(Function),
}

/// A function that makes the system prompt from a service.
struct Function {
    service: &'static str,
    is_provided: fn(&Executor) -> bool,
    text: Text,
}

/// Makes the system prompt for a run; returns `None` if the run lacks the service.
type Text = Box<dyn Fn(&Run) -> Option<String> + Send + Sync>;

/// Converts into instructions: implemented for texts, and for functions of one service of the run.
///
/// ```
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// struct Shop {
///     name: String,
/// }
///
/// let shop = Shop { name: "Ada's teas".to_owned() };
/// let agent = Agent::builder(ScriptedModel::new())
///     .service(shop)
///     .instructions(|shop: &Shop| format!("You run the shop {}.", shop.name))
///     .build()?;
/// # let _ = agent;
/// # Ok::<(), toolwright_agent::AgentError>(())
/// ```
pub trait IntoInstructions<Marker> {
    /// Makes the instructions.
    fn into_instructions(self) -> Instructions;
}

/// Marks instructions that are made from a text.
#[doc(hidden)]
pub struct OfText;

/// Marks instructions that are made from a function of a service.
#[doc(hidden)]
pub struct OfService<S: ?Sized>(std::marker::PhantomData<fn(&S)>);

impl<T: Into<String>> IntoInstructions<OfText> for T {
    fn into_instructions(self) -> Instructions {
        Instructions(Kind::Text(self.into()))
    }
}

impl<F, S> IntoInstructions<OfService<S>> for F
where
    F: Fn(&S) -> String + Send + Sync + 'static,
    S: ?Sized + Send + Sync + 'static,
{
    fn into_instructions(self) -> Instructions {
        Instructions(Kind::Of(Function {
            service: type_name::<S>(),
            is_provided: Executor::provides::<S>,
            text: Box::new(move |run| run.service::<S>().map(&self)),
        }))
    }
}

impl Instructions {
    /// Returns the name of the service that the function needs, if the executor does not provide it.
    pub(crate) fn lacks(&self, executor: &Executor) -> Option<&'static str> {
        match &self.0 {
            Kind::Of(function) if !(function.is_provided)(executor) => Some(function.service),
            _ => None,
        }
    }

    /// Returns what the instructions are made from: the text, or the name of the service.
    pub(crate) fn source(&self) -> &str {
        match &self.0 {
            Kind::Text(text) => text,
            Kind::Of(function) => function.service,
        }
    }

    /// Returns the text for a request of a run, or the name of the service that the run lacks.
    pub(crate) fn text(&self, run: &Run) -> Result<Cow<'_, str>, &'static str> {
        match &self.0 {
            Kind::Text(text) => Ok(text.into()),
            Kind::Of(function) => (function.text)(run).map(Cow::Owned).ok_or(function.service),
        }
    }
}

impl Default for Instructions {
    fn default() -> Self {
        Self(Kind::Text(String::new()))
    }
}

impl fmt::Debug for Instructions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Text(text) => formatter.debug_tuple("Instructions").field(text).finish(),
            Kind::Of(it) => formatter.debug_tuple("Instructions").field(&it.service).finish(),
        }
    }
}
