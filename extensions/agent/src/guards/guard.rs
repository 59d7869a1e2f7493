//! A guard: a name, a stage, and a function.

use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::{
    AfterDecision, AnswerChange, BeforeDecision, EndingRun, IncomingAnswer, OutgoingRequest,
    RequestChange, UserPrompt,
};
use crate::events::GuardStage;
use crate::history::Prompt;

/// The function of a guard, which decides about a view of something that happens in a run.
pub(super) type Look<V, D> = Arc<dyn Fn(V) -> BoxFuture<'static, D> + Send + Sync>;

/// A guard looks at input to the models of an agent and at output of its models. It lets them through, changes them,
/// sends them back with a message, or ends the run. Add a guard by [`AgentBuilder::guard`](crate::AgentBuilder::guard).
/// Cloning is cheap.
///
/// A guard is a name and an asynchronous function. A decision other than to continue is an event of the run
/// ([`RunEvent::Guard`](crate::RunEvent::Guard)), and a recorded run records it. A guard fails closed: if it panics,
/// takes too long or makes an impossible change, the run ends with
/// [`RunEnd::GuardStopped`](crate::RunEnd::GuardStopped). Requests for a [summary](crate::AgentBuilder::summarizer) are
/// an exception: if a guard fails or refuses there, the run continues without the summary.
///
/// ```
/// use toolwright_agent::{Agent, AfterDecision, BeforeDecision, Guard, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = ScriptedModel::new().says("Acme has it cheaper.").says("Tea costs 4.50.");
/// let agent = Agent::builder(model)
///     .guard(Guard::before_run("short", async |prompt| match prompt.text.len() {
///         0..=1_000 => BeforeDecision::Continue,
///         _ => BeforeDecision::stop("the shop reads no novels"),
///     }))
///     .guard(Guard::after_model("no-rivals", async |answer| match answer.answer.text.contains("Acme") {
///         true => AfterDecision::ask_again("Do not speak of other shops."),
///         false => AfterDecision::Continue,
///     }))
///     .build()?;
/// assert_eq!(agent.run("What does tea cost?").await?.to_string(), "Tea costs 4.50.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If the future of the function needs a captured value, the function has to clone the value for each call:
/// `move |answer| { let shop = shop.clone(); async move { … } }`.
#[derive(Clone)]
pub struct Guard {
    pub(super) name: String,
    pub(super) looks: Looks,
}

/// The stage of a guard, with its function.
#[derive(Clone)]
pub(super) enum Looks {
    BeforeRun(Look<UserPrompt, BeforeDecision<Prompt>>),
    BeforeModel(Look<OutgoingRequest, BeforeDecision<RequestChange>>),
    BesideModel(Look<OutgoingRequest, Result<(), String>>),
    AfterModel(Look<IncomingAnswer, AfterDecision<AnswerChange>>),
    AfterRun(Look<EndingRun, AfterDecision<String>>),
}

fn look<V, D, F>(look: impl Fn(V) -> F + Send + Sync + 'static) -> Look<V, D>
where
    F: Future<Output = D> + Send + 'static,
{
    Arc::new(move |view| look(view).boxed())
}

impl Guard {
    /// Makes a guard that looks at messages of the user: the task, each message of a conversation, and messages that
    /// are sent while a run works. If the guard replaces a message, the run reads and records only the replacement. If
    /// the guard stops a message, the message is not added to the history.
    pub fn before_run<F>(
        name: impl Into<String>,
        looks: impl Fn(UserPrompt) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = BeforeDecision<Prompt>> + Send + 'static,
    {
        Self { name: name.into(), looks: Looks::BeforeRun(look(looks)) }
    }

    /// Makes a guard that looks at each request before a model gets it. A replacement is sent to the model, but does
    /// not change the history of the run.
    ///
    /// ```
    /// use toolwright_agent::{BeforeDecision, Guard};
    ///
    /// let guard = Guard::before_model("no-cards", async |request| {
    ///     let hide = |text: &str| text.contains("4111 1111").then(|| text.replace("4111 1111", "…"));
    ///     match request.map_texts(hide) {
    ///         Some(change) => BeforeDecision::change(change, "it has the number of a card"),
    ///         None => BeforeDecision::Continue,
    ///     }
    /// });
    /// # let _ = guard;
    /// ```
    pub fn before_model<F>(
        name: impl Into<String>,
        looks: impl Fn(OutgoingRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = BeforeDecision<RequestChange>> + Send + 'static,
    {
        Self { name: name.into(), looks: Looks::BeforeModel(look(looks)) }
    }

    /// Makes a guard that looks at each request while the model answers it. Such a guard adds a delay only if it takes
    /// longer than the model. To end the run, the guard returns an error with the reason. The answer takes effect, and
    /// its calls begin, only when all such guards are done. Readers of events may see the answer earlier.
    pub fn beside_model<F>(
        name: impl Into<String>,
        looks: impl Fn(OutgoingRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self { name: name.into(), looks: Looks::BesideModel(look(looks)) }
    }

    /// Makes a guard that looks at the text and the calls of each answer of a model before the calls run. With such a
    /// guard, readers of events get the text of an answer in one piece after it was let through, and no call begins
    /// early.
    pub fn after_model<F>(
        name: impl Into<String>,
        looks: impl Fn(IncomingAnswer) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = AfterDecision<AnswerChange>> + Send + 'static,
    {
        Self { name: name.into(), looks: Looks::AfterModel(look(looks)) }
    }

    /// Makes a guard that looks at the end of a run that has an answer. The guard can replace the text of the end,
    /// which may be the answer of a terminal tool, but not a value of an output type. With such a guard, readers of
    /// events get the text of an answer in one piece.
    pub fn after_run<F>(
        name: impl Into<String>,
        looks: impl Fn(EndingRun) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = AfterDecision<String>> + Send + 'static,
    {
        Self { name: name.into(), looks: Looks::AfterRun(look(looks)) }
    }

    /// Returns the name of the guard.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the stage at which the guard looks.
    #[must_use]
    pub fn stage(&self) -> GuardStage {
        match &self.looks {
            Looks::BeforeRun(_) => GuardStage::BeforeRun,
            Looks::BeforeModel(_) => GuardStage::BeforeModel,
            Looks::BesideModel(_) => GuardStage::BesideModel,
            Looks::AfterModel(_) => GuardStage::AfterModel,
            Looks::AfterRun(_) => GuardStage::AfterRun,
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Guard(`{}` {})", self.name, self.stage())
    }
}

/// Converts into guards for [`AgentBuilder::guard`](crate::AgentBuilder::guard): implemented for [`Guard`], and for
/// types that make several guards of one name for different stages.
///
/// ```
/// use toolwright_agent::{AfterDecision, BeforeDecision, Guard, IntoGuards};
///
/// /// Speaks and hears English alone.
/// struct English;
///
/// impl IntoGuards for English {
///     fn into_guards(self) -> Vec<Guard> {
///         let heard = Guard::before_run("english", async |prompt| match prompt.text.is_ascii() {
///             true => BeforeDecision::Continue,
///             false => BeforeDecision::stop("it is not in English"),
///         });
///         let spoken = Guard::after_model("english", async |answer| match answer.answer.text.is_ascii() {
///             true => AfterDecision::Continue,
///             false => AfterDecision::ask_again("Answer in English."),
///         });
///         vec![heard, spoken]
///     }
/// }
/// # let _ = English.into_guards();
/// ```
pub trait IntoGuards {
    /// Makes the guards, in the order in which they look.
    fn into_guards(self) -> Vec<Guard>;
}

impl IntoGuards for Guard {
    fn into_guards(self) -> Vec<Self> {
        vec![self]
    }
}
