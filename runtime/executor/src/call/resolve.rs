//! Asks resolvers for tools that are not registered. If many calls name the same tool at the same time, the resolvers
//! are asked once. If that fails, all of these calls get the error, and the next call asks again.

use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared, ready};
use tokio::sync::OnceCell;

use crate::catalog::Origin;
use crate::registry::{Lookup, Registry, RegistryProblem};
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::registration::Registration;

/// A source of tools that are not registered, such as the tools of a remote server. It finds a tool by its name.
///
/// The executor asks a resolver when a call names a tool that the registry does not contain. The model gets the error
/// `unknown_tool` only if no resolver finds the tool. A tool that a resolver returns is registered under that name, and
/// stays registered. Its danger is at least `moderate`. Unless the executor is
/// [`unrestricted`](crate::executor::ExecutorBuilder::unrestricted), the tool counts as one that requires approval.
///
/// A closure that returns the tool without waiting implements this trait; see
/// [`ExecutorBuilder::resolver`](crate::executor::ExecutorBuilder::resolver).
///
/// ```
/// use futures::future::BoxFuture;
/// use serde_json::json;
/// use toolwright::{DynamicTool, Registration, Resolver, ToolError};
///
/// struct Remote;
///
/// impl Resolver for Remote {
///     fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
///         Box::pin(async move {
///             // Asks the server for the schema…
///             let Some(action) = name.strip_prefix("remote_") else { return Ok(None) };
///             let action = action.to_owned();
///             let tool = DynamicTool::new(name, "Does something far away.", json!({"type": "object"}), move |_, _| {
///                 let action = action.clone();
///                 async move { Ok(format!("did {action}")) }
///             });
///             Ok(Some(tool.into()))
///         })
///     }
/// }
/// ```
pub trait Resolver: Send + Sync + 'static {
    /// Returns the tool with this name; `None` if there is none.
    ///
    /// # Errors
    /// When the resolver could not find out whether there is such a tool. The model gets the error, and the next call
    /// of the tool asks again.
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Registration>, ToolError>>;

    /// Returns tools that models are shown before they call them. The default implementation returns none. An agent
    /// asks for these tools before its first request to the model; see
    /// [`Executor::discover_tools`](crate::executor::Executor::discover_tools). A tool with an invalid definition is
    /// logged and left out.
    ///
    /// # Errors
    /// When the resolver could not find out which tools there are. The run stops with the error, and the next run asks
    /// again.
    fn announced(&self) -> BoxFuture<'_, Result<Vec<Registration>, ToolError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Returns how long the resolver may take, if that is longer than an attempt of a tool may take. For instance, a
    /// person may have to sign in first.
    fn timeout(&self) -> Option<Duration> {
        None
    }
}

impl<F, T> Resolver for F
where
    F: Fn(&str) -> Option<T> + Send + Sync + 'static,
    T: Into<Registration>,
{
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
        Box::pin(async move { Ok(self(name).map(Into::into)) })
    }
}

/// The result of resolving a name: whether the registry now has a tool with that name.
type Outcome = Result<bool, Arc<Failure>>;
type Flight = Shared<BoxFuture<'static, Outcome>>;
type Flights = HashMap<Box<str>, WeakShared<BoxFuture<'static, Outcome>>>;

type Resolvers = Arc<[Arc<dyn Resolver>]>;

/// The resolvers of an executor, and the names that they are resolving at the moment.
pub(crate) struct Resolving {
    /// The resolvers in the order in which they are asked; at least one.
    resolvers: Resolvers,
    flights: Mutex<Flights>,
    /// Set when every resolver has announced its tools.
    announced: OnceCell<()>,
}

impl Resolving {
    pub(crate) fn new(resolvers: Vec<Arc<dyn Resolver>>) -> Self {
        Self { resolvers: resolvers.into(), flights: Mutex::default(), announced: OnceCell::new() }
    }

    /// Returns how long the resolvers may take. `attempt` is the limit of an attempt.
    pub(crate) fn timeout(&self, attempt: Option<Duration>) -> Option<Duration> {
        let longest = self.resolvers.iter().filter_map(|it| it.timeout()).max();
        attempt.map(|attempt| attempt.max(longest.unwrap_or_default()))
    }

    /// Registers the tools that the resolvers announce. A tool that cannot be registered is logged and left out. After
    /// the first success, further calls do nothing.
    pub(crate) async fn announce(&self, registry: &Registry) -> Result<(), ToolError> {
        let announced = self.announced.get_or_try_init(|| async {
            for resolver in self.resolvers.iter() {
                register(resolver.announced().await?, registry)?;
            }
            Ok(())
        });
        announced.await.copied()
    }

    /// Asks the resolvers for a tool and registers it, unless the registry contains the tool by then. Returns `false`
    /// if no resolver finds it.
    pub(crate) async fn resolve(&self, name: &str, registry: &Registry) -> Result<bool, ToolError> {
        let waiting = Waiting { resolving: self, name, flight: self.flight(name, registry) };
        let outcome = waiting.flight.clone().await;
        // The flight is removed before the callers get their answers, so that the next call asks the resolvers again.
        drop(waiting);
        outcome.map_err(|failure| failure.to_error(name))
    }

    fn flight(&self, name: &str, registry: &Registry) -> Flight {
        let (resolvers, key) = (Arc::clone(&self.resolvers), Box::<str>::from(name));
        let (asked, registry) = (key.clone(), registry.clone());
        let asked = async move {
            match AssertUnwindSafe(ask(&resolvers, &asked, &registry)).catch_unwind().await {
                Ok(outcome) => outcome.map_err(Arc::new),
                Err(panic) => {
                    // Dropping the panic's payload might panic again, so the payload is leaked.
                    std::mem::forget(panic);
                    Err(Arc::new(Failure::of_resolver("the resolver panicked".to_owned())))
                }
            }
        };
        let flight: Flight = asked.boxed().shared();
        let mut flights = self.flights();
        if let Some(earlier) = flights.get(&key).and_then(WeakShared::upgrade) {
            return earlier;
        }
        flights.extend(flight.downgrade().map(|weak| (key, weak)));
        flight
    }

    fn flights(&self) -> MutexGuard<'_, Flights> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers announced tools one by one, because another program may have written their definitions, and one that cannot
/// be used must not take away the others. If the name of a tool is taken by a tool of the application, the result is an
/// error.
fn register(tools: Vec<Registration>, registry: &Registry) -> Result<(), ToolError> {
    let mut taken = None;
    for tool in tools {
        // A call may already have resolved the tool by its name.
        if registry.has_resolved(tool.name()) {
            continue;
        }
        let name = tool.name().to_owned();
        let Err(error) = registry.add(std::iter::once(tool), Origin::Resolver) else { continue };
        if error.problems.iter().any(|it| matches!(it, RegistryProblem::Duplicate { .. })) {
            taken.get_or_insert(error);
        } else {
            tracing::warn!(tool = name, "an announced tool is left out: {error}");
        }
    }
    let cannot = |error| {
        let message = "a tool that comes at run time cannot be registered";
        ToolError::new("unresolved_tool", message).caused_by(error)
    };
    taken.map_or(Ok(()), |error| Err(cannot(error)))
}

/// A call that waits until a name is resolved.
struct Waiting<'a> {
    resolving: &'a Resolving,
    name: &'a str,
    flight: Flight,
}

/// Removes the flight when the last call that waits for it is gone, even if that call was abandoned.
impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let earlier;
        let mut flights = self.resolving.flights();
        earlier = flights.get(self.name).and_then(WeakShared::upgrade);
        let is_over = self.flight.peek().is_some() || self.flight.strong_count() <= Some(2);
        if is_over && earlier.as_ref().is_some_and(|it| it.ptr_eq(&self.flight)) {
            flights.remove(self.name);
        }
        drop(flights);
        // The flight is dropped after the lock was released, because its last reference drops values of the resolver.
        drop(earlier);
    }
}

async fn ask(
    resolvers: &[Arc<dyn Resolver>],
    name: &str,
    registry: &Registry,
) -> Result<bool, Failure> {
    // Another call may have registered the tool since the lookup.
    if !matches!(registry.lookup(name), Lookup::Absent) {
        return Ok(true);
    }
    let mut found = None;
    for resolver in resolvers {
        found = resolver.resolve(name).await.map_err(Failure::of)?;
        if found.is_some() {
            break;
        }
    }
    let Some(found) = found else { return Ok(false) };
    if found.name() != name {
        return Err(Failure::of_resolver(format!(
            "asked for `{name}`, the resolver gave {found:?}; it has to give a tool of that name"
        )));
    }
    match registry.add(std::iter::once(found), Origin::Resolver) {
        Ok(()) => Ok(true),
        // Another caller has registered a tool of that name in the meantime, so that tool is used.
        Err(_) if !matches!(registry.lookup(name), Lookup::Absent) => Ok(true),
        Err(error) => Err(Failure::of_resolver(error.to_string())),
    }
}

/// The error of a resolver, which every call that waited for the name receives.
#[derive(Debug)]
struct Failure {
    words: Option<String>,
    class: ErrorClass,
    cause: Option<String>,
}

impl Failure {
    fn of(error: ToolError) -> Self {
        Self {
            words: Some(error.message().to_owned()),
            class: error.classified(),
            cause: error.source().map(|cause| crate::call::record::chain(cause)),
        }
    }

    fn of_resolver(cause: String) -> Self {
        Self {
            words: None,
            class: ErrorClass::NotStarted { retry_after: None },
            cause: Some(cause),
        }
    }

    fn to_error(&self, name: &str) -> ToolError {
        let words = self.words.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
        let message = format!("whether there is a tool `{name}` could not be found out{words}");
        let error = ToolError::new("unresolved_tool", message)
            .class(self.class)
            .hint("try again later, or go on without it");
        match &self.cause {
            Some(cause) => error.caused_by(cause.clone()),
            None => error,
        }
    }
}

/// Makes an async function a resolver.
pub(crate) struct FnResolver<F>(pub(crate) F);

impl<F, Fut, T> Resolver for FnResolver<F>
where
    F: Fn(String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Option<T>, ToolError>> + Send + 'static,
    T: Into<Registration>,
{
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
        let asked = (self.0)(name.to_owned());
        Box::pin(async move { Ok(asked.await?.map(Into::into)) })
    }
}

impl fmt::Debug for Resolving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Resolving").finish_non_exhaustive()
    }
}
