//! The capability to call other tools: a tool that names `&Calls` in its signature gets it, without registration.

mod call_to;
mod callable;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use futures::future::{BoxFuture, ready};

use crate::call::Call;
use crate::error::ToolError;
use crate::output::Answer;
use crate::spec::Handle;

pub use call_to::CallTo;
pub use callable::CallableTool;

/// Makes calls on behalf of the call whose tool borrows this value; the new calls are its children. A tool that borrows
/// `&Calls` can call every tool that its run can call. A tool that does not borrow it can call none.
///
/// A child is a call of the same run, on behalf of the same user. The same policy judges it, it passes the same
/// middleware, and the same journal records it. The parent has to declare every resource that its children read or
/// write. A parent that declares no resources may read everything, and may write everything unless its effect is
/// [`read`](crate::tool::Effect::Read). Children may have children, at most [`DEPTH`](Self::DEPTH) deep.
///
/// While the parent waits for a child, the parent does not count as a running call, and its time-out pauses. When the
/// parent is cancelled, its children are cancelled too.
///
/// The answers of children are recorded, errors as well. If the parent runs again, a child that has a recorded answer
/// gets this answer and does not run again; with a journal this holds in another process, too. The children are
/// identified by their order. So a parent has to make the same calls in the same order whenever it runs with the same
/// arguments.
///
/// ```
/// use toolwright::{Call, Calls, Executor, Registry, ToolError, tool};
///
/// /// Tells the price of an article, in cents.
/// #[tool(effect = read)]
/// async fn price_of(
///     /// Which.
///     article: String,
/// ) -> Option<u32> {
///     (article == "pen").then_some(120)
/// }
///
/// /// Tells the price of several of an article, in cents.
/// #[tool(effect = read)]
/// async fn price_of_many(
///     calls: &Calls,
///     /// Which.
///     article: String,
///     /// How many.
///     number: u32,
/// ) -> Result<u32, ToolError> {
///     let price: Option<u32> = calls.to(PRICE_OF).with("article", &article).await_as().await?;
///     let price = price.ok_or_else(|| ToolError::new("not_found", format!("no article is called `{article}`")))?;
///     Ok(price * number)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([PRICE_OF, PRICE_OF_MANY])?).build()?;
/// let answer = executor.call(&Call::new("price_of_many", r#"{"article":"pen","number":3}"#)).await;
/// assert_eq!(answer.text(), "360");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Calls(Arc<dyn MakeCalls>);

/// Makes the child calls of one attempt of a call.
#[doc(hidden)]
pub trait MakeCalls: Send + Sync {
    /// Makes a child call, and returns the answer that the parent receives.
    fn call<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Answer>;
    /// Returns the name under which the run has a tool.
    ///
    /// # Errors
    /// When the run does not have it.
    fn name_of(&self, tool: Handle) -> Result<Arc<str>, ToolError>;
    /// Skips one index of the parent's children, for a child that is answered without being made. Later children keep
    /// their indices.
    fn pass_over(&self) {}
    /// Returns the value behind this trait object. The crate that made the value can then downcast it to its type.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
    /// Finds the tool that the run has under this name.
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<CallableTool, ToolError>>;
    /// Checks the input of a call without running the tool.
    fn check(&self, call: &Call<'_>) -> Result<(), ToolError>;
}

impl Calls {
    /// The maximum nesting depth of calls. A call that has no parent has depth 0.
    pub const DEPTH: u32 = 8;

    #[doc(hidden)]
    #[must_use]
    pub fn new(calls: Arc<dyn MakeCalls>) -> Self {
        Self(calls)
    }

    /// Returns the value with which the executor makes the calls; `None` if no executor makes them.
    #[doc(hidden)]
    #[must_use]
    pub fn made_by(&self) -> Option<&dyn Any> {
        self.0.as_any()
    }

    /// Skips one index of the parent's children, for a child that is answered without being made. Later children keep
    /// their indices, even if the skipped child is made when the parent runs again.
    #[doc(hidden)]
    pub fn pass_over(&self) {
        self.0.pass_over();
    }

    /// Makes a value that refuses every call, for code that examines a call without running it.
    #[doc(hidden)]
    #[must_use]
    pub fn none() -> Self {
        Self::test(|call| {
            let message =
                format!("`{}` was not called: calls are made only while a tool runs", call.name());
            ToolError::new("not_running", message).into()
        })
    }

    /// Answers every call with a function, for unit tests: the test calls the parent's tool as a function, and no child
    /// tool runs. Every name is known, no tool has a definition, and every input is accepted.
    ///
    /// ```
    /// use toolwright::{Answer, Calls, Output};
    ///
    /// let calls = Calls::test(|call| Answer::from(Output::text(format!("called {}", call.name()))));
    /// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
    /// let call = toolwright::Call::new("price_of", r#"{"article":"pen"}"#);
    /// assert_eq!(calls.call(&call).await.text(), "called price_of");
    /// # });
    /// ```
    #[must_use]
    pub fn test(answer: impl Fn(&Call<'_>) -> Answer + Send + Sync + 'static) -> Self {
        Self(Arc::new(CallsByFunction(answer)))
    }

    /// Makes a call and returns its answer. Errors are answers too: an unknown tool, input that the schema refuses, a
    /// denial by the policy or by a person.
    ///
    /// With a journal, a child that has to wait for a person makes its parent wait. The parent's future is dropped, and
    /// the parent runs again from its start when the person has decided. Children that already have answers do not run
    /// again. A parent whose effect is `once` never runs again, so its future waits in memory instead.
    pub async fn call(&self, call: &Call<'_>) -> Answer {
        self.0.call(call).await
    }

    /// Finds the tool that the run has under a name. Use it in a tool whose input names the tool to call.
    ///
    /// # Errors
    /// `unknown_tool`, with similar names; `disabled_tool`; the error of a resolver.
    pub async fn find(&self, name: &str) -> Result<CallableTool, ToolError> {
        self.0.find(name).await
    }

    /// Checks that the input of a call fits its tool, as [`call`](Self::call) does. This function does not make the
    /// call, and asks no resolver, no policy and no person. Find a tool that may come from a resolver with
    /// [`find`](Self::find) first.
    ///
    /// # Errors
    /// `invalid_input`, with the problems and their JSON pointers; the error of a tool that cannot be called, such as
    /// `unknown_tool`, `disabled_tool` or `missing_service`.
    pub fn check(&self, call: &Call<'_>) -> Result<(), ToolError> {
        self.0.check(call)
    }

    /// Begins a call of a tool by its handle. The handle finds the tool even if the run has it under another name. See
    /// [`CallTo`].
    pub fn to(&self, tool: Handle) -> CallTo<'_> {
        CallTo::new(self, tool)
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Calls").finish_non_exhaustive()
    }
}

struct CallsByFunction<F>(F);

impl<F: Fn(&Call<'_>) -> Answer + Send + Sync> MakeCalls for CallsByFunction<F> {
    fn call<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(ready((self.0)(call)))
    }

    fn name_of(&self, tool: Handle) -> Result<Arc<str>, ToolError> {
        Ok(tool.name().into())
    }

    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<CallableTool, ToolError>> {
        Box::pin(ready(Ok(CallableTool::unknown(name))))
    }

    fn check(&self, _: &Call<'_>) -> Result<(), ToolError> {
        Ok(())
    }
}
