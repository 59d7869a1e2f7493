//! Adapts tools that the application did not write, by settings of the builder.

use super::builder::ExecutorBuilder;
use crate::call::BuildProblem;
use crate::catalog::{Catalog, Profile};
use crate::registry::Registry;
use toolwright_core::adaptation::Adaptation;

impl ExecutorBuilder {
    /// Adapts the tools that the pattern matches. Use it for tools that the application did not write, such as those of
    /// a bundle, of an MCP server or of another crate. The pattern is one of a [`Profile`](crate::catalog::Profile).
    /// Tools that are registered later are adapted as well. Building fails if the pattern matches no tool, unless the
    /// policy expects such a tool to be registered later.
    ///
    /// ```
    /// use toolwright::{Adaptation, Call, Executor, Registry, tool};
    ///
    /// /// Lists a folder of a server.
    /// #[tool(effect = read)]
    /// async fn list_folder(
    ///     /// Which server.
    ///     host: String,
    ///     /// Which folder.
    ///     path: String,
    /// ) -> String {
    ///     format!("{host}:{path}")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([LIST_FOLDER])?)
    ///     .adapt("list_folder", Adaptation::new().preset("host", "files.example"))
    ///     .build()?;
    /// let answer = executor.call(&Call::new("list_folder", r#"{"path":"/"}"#)).await;
    /// assert_eq!(answer.text(), "files.example:/");
    ///
    /// let error = Executor::builder(Registry::of([LIST_FOLDER])?)
    ///     .adapt("list_folders", Adaptation::new().preset("host", "files.example"))
    ///     .build()
    ///     .unwrap_err();
    /// assert!(error.to_string().contains("the pattern `list_folders` matches no tool; did you mean `list_folder`?"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn adapt(mut self, pattern: impl Into<String>, adaptation: Adaptation) -> Self {
        self.adaptations.push((pattern.into(), adaptation));
        self
    }

    /// Adapts the tools that are in the registry before the builder adds others.
    pub(super) fn adapt_tools(&self, problems: &mut Vec<BuildProblem>) {
        let registry: &Registry = &self.registry;
        let adapted = self.adaptations.iter();
        let adapted = adapted.map(|(pattern, it)| registry.adapt(pattern, it.clone()));
        problems.extend(adapted.filter_map(Result::err).map(BuildProblem::Registry));
    }

    /// Finds adaptations whose patterns match neither a tool of the catalog nor one that a resolver may register.
    pub(super) fn adaptations_of_nothing(&self, catalog: &Catalog) -> Vec<BuildProblem> {
        let policies = || self.policy.iter().chain(&self.policy_defaults);
        let of_nothing = |(pattern, _): &(String, Adaptation)| {
            let problem = Profile::new([pattern]).ok()?.matches(catalog).err()?;
            let comes_later = policies().any(|it| it.expects(pattern));
            (!comes_later).then(|| BuildProblem::AdaptsNothing { problem: problem.to_string() })
        };
        self.adaptations.iter().filter_map(of_nothing).collect()
    }
}
