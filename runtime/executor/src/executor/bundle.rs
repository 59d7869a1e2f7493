//! Bundles: values that add tools, and everything that these tools need, to the builder of an executor in one step.

use std::panic::Location;

use super::builder::ExecutorBuilder;
use crate::call::BuildProblem;
use crate::registry::Registry;
use toolwright_core::registration::IntoTool;
use toolwright_policy::policy::PolicyBuilder;

/// A value that adds tools to an executor, together with the services, middleware, resolvers and rules that they need.
/// An application adds all of these in one line.
///
/// ```
/// use std::sync::Mutex;
///
/// use toolwright::policy::{Policy, Rule};
/// use toolwright::{Bundle, Call, Executor, ExecutorBuilder, Registry, tool};
///
/// struct Shelf(Mutex<Vec<String>>);
///
/// /// Put a book on the shelf.
/// #[tool(effect = once, writes())]
/// async fn add_book(
///     shelf: &Shelf,
///     /// Its title.
///     title: String,
/// ) {
///     shelf.0.lock().expect("no holder panics").push(title);
/// }
///
/// /// Count the books on the shelf.
/// #[tool(effect = read, reads())]
/// async fn count_books(shelf: &Shelf) -> usize {
///     shelf.0.lock().expect("no holder panics").len()
/// }
///
/// /// A shelf with its tools.
/// struct Library;
///
/// impl Bundle for Library {
///     fn name(&self) -> String {
///         "library".to_owned()
///     }
///
///     fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
///         let rule = Rule::allow("a book can be taken off the shelf again").named("books");
///         executor
///             .tools([ADD_BOOK, COUNT_BOOKS])
///             .service(Shelf(Mutex::default()))
///             .policy_defaults(Policy::builder().rule(rule.tool("add_book")))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let executor = Executor::builder(Registry::empty()).with(Library).build()?;
/// assert!(!executor.call(&Call::new("add_book", r#"{"title":"Emma"}"#)).await.is_error());
/// assert_eq!(executor.call(&Call::new("count_books", "{}")).await.text(), "1");
///
/// let error = Executor::builder(Registry::empty()).with(Library).with(Library).build().unwrap_err();
/// assert!(error.to_string().contains("the bundle `library` is given twice, at "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no bundle",
    label = "expected a value that implements `Bundle`",
    note = "`.with(…)` takes what brings tools together with what they need; tools alone go to `.tools([…])`"
)]
pub trait Bundle: Send + 'static {
    /// Returns the name of the bundle, for errors. An executor accepts only one bundle of each name. Bundles of one
    /// type that are added several times, such as one for each server, need different names.
    fn name(&self) -> String;

    /// Adds the tools and settings of the bundle. If something is missing, such as a program, the bundle reports it
    /// with [`ExecutorBuilder::problem`].
    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder;
}

/// An installed bundle: its name, and the location in the source where the application adds it.
pub(super) type Installed = (String, &'static Location<'static>);

impl ExecutorBuilder {
    /// Adds everything that a [`Bundle`] contains: tools with their services, middleware, resolvers and rules.
    /// Middleware that the application adds before this call sees each call before the middleware of the bundle does.
    #[must_use]
    #[track_caller]
    pub fn with(self, bundle: impl Bundle) -> Self {
        self.with_at(bundle, Location::caller())
    }

    /// Adds a bundle on behalf of another builder, with the location in the source at which that builder received it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_at(mut self, bundle: impl Bundle, place: &'static Location<'static>) -> Self {
        let name = bundle.name();
        let first = self.bundles.iter().find(|(it, _)| *it == name).map(|(_, place)| *place);
        if let Some(first) = first {
            return self.problem(BuildProblem::BundleTwice { name, first, second: place });
        }
        self.bundles.push((name, place));
        bundle.install(self)
    }

    /// Adds tools, which are registered when the executor is built.
    #[must_use]
    pub fn tools<T: IntoTool>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools.extend(tools.into_iter().map(IntoTool::into_tool));
        self
    }

    /// Returns the registry of the executor, for bundles that register and unregister tools later. The tools that were
    /// added to the builder are registered when the executor is built.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Adds default rules and settings, which apply after those of the application; bundles use this. A rule of the
    /// application replaces a default rule of the same name. The mode and the base folder of the application take
    /// precedence. All other settings of both policies are combined. With [`unrestricted`](Self::unrestricted), the
    /// defaults do not apply.
    #[must_use]
    pub fn policy_defaults(mut self, defaults: PolicyBuilder) -> Self {
        self.policy_defaults.push(defaults);
        self
    }

    /// Adds a problem that makes the build fail; [`build`](Self::build) reports it together with all others.
    #[must_use]
    pub fn problem(mut self, problem: BuildProblem) -> Self {
        self.problems.push(problem);
        self
    }
}
