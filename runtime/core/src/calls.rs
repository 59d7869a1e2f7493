//! The capability to call other tools: `&Calls`, which a tool names in its signature and which needs no registration.

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

/// Makes calls on behalf of the call that borrows it; these are its children. A tool that borrows it can call every
/// tool that its run can call, and no other; a tool that does not borrow it can call none.
///
/// A child is a call of the same run, on behalf of the same user. The same policy judges it, it passes the same
/// middleware, and the same journal records it. Its parent has to declare whatever it reads and writes; a parent that
/// declares nothing may read everything, and may write unless its own effect is [`read`](crate::tool::Effect::Read).
/// Children may have children, at most [`DEPTH`](Self::DEPTH) deep.
///
/// While the parent waits for a child, it gives back its place among the running calls, and its time-out pauses. When
/// the parent is cancelled, its children are too.
///
/// An error of a child is final for its parent: the same child, called again, gives the same answer, even in a later
/// attempt of the parent and, with a journal, in another process. So a parent has to make the same calls in the same
/// order whenever it runs with the same arguments.
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
    /// Skips an index, for a call that is answered without being made: later calls keep their indices.
    fn pass_over(&self) {}
    /// Returns the value behind this interface, so that the crate which made the value can recover its type.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
    /// Finds the tool that the run calls by this name.
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<CallableTool, ToolError>>;
    /// Checks the input of a call without running the tool.
    fn check(&self, call: &Call<'_>) -> Result<(), ToolError>;
}

impl Calls {
    /// The maximum nesting depth of calls; a call that no other call makes has depth 0.
    pub const DEPTH: u32 = 8;

    #[doc(hidden)]
    #[must_use]
    pub fn new(calls: Arc<dyn MakeCalls>) -> Self {
        Self(calls)
    }

    /// Returns the value that makes the calls, as the executor made it; `None` if no calls can be made.
    #[doc(hidden)]
    #[must_use]
    pub fn made_by(&self) -> Option<&dyn Any> {
        self.0.as_any()
    }

    /// Skips an index, for a call that is answered without being made: later calls keep their indices, even if that
    /// call is made when its parent runs again.
    #[doc(hidden)]
    pub fn pass_over(&self) {
        self.0.pass_over();
    }

    /// Makes a value that can make no calls: for code that examines a call without running it.
    #[doc(hidden)]
    #[must_use]
    pub fn none() -> Self {
        Self::test(|call| {
            let message =
                format!("`{}` was not called: calls are made only while a tool runs", call.name());
            ToolError::new("not_running", message).into()
        })
    }

    /// Answers calls by a function, for unit tests: the test calls the tool as a function, and its children never run.
    /// Every name is known, no tool has a definition, and every input is accepted.
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

    /// Makes a call and returns its one answer. Errors are answers too: an unknown tool, input that the schema refuses,
    /// a denial of the policy or of a person.
    ///
    /// With a journal, a child that has to wait for a person makes its parent wait: the parent's future is dropped, and
    /// the parent runs again from its start when the person has decided; children that already have answers are not run
    /// again. A parent whose effect is `once` never runs again, so it waits in memory instead.
    pub async fn call(&self, call: &Call<'_>) -> Answer {
        self.0.call(call).await
    }

    /// Finds the tool that the run calls by a name, for a tool whose input names the tool to call.
    ///
    /// # Errors
    /// `unknown_tool` with near names; `disabled_tool`; the error of a resolver.
    pub async fn find(&self, name: &str) -> Result<CallableTool, ToolError> {
        self.0.find(name).await
    }

    /// Checks that the input of a call fits its tool, as [`call`](Self::call) does, without making the call or asking
    /// the policy or a person. The tool is one that [`find`](Self::find) has found.
    ///
    /// # Errors
    /// `invalid_input` with the problems, by JSON pointers; `unknown_tool`.
    pub fn check(&self, call: &Call<'_>) -> Result<(), ToolError> {
        self.0.check(call)
    }

    /// Begins a call of a tool by its handle, even if the run has the tool under another name. See [`CallTo`].
    pub fn to(&self, tool: Handle) -> CallTo<'_> {
        CallTo::new(self, tool)
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Calls").finish_non_exhaustive()
    }
}

/// Answers calls by a function.
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
