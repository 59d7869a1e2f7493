//! Explains the policy of an executor, and reports what the policy and a tool's validation would decide on a call
//! without running it.

use super::Executor;
use crate::call::Rules;
use toolwright_core::call::Call;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_policy::policy::{Explanation, Policy, PolicyBuilder, PolicyError, UndeclaredTool};

impl Executor {
    /// Explains what the policy decides on a call, without running the call. Grants and the decisions of people are
    /// ignored.
    ///
    /// # Errors
    /// When the call would be refused before the policy evaluates it: an unknown tool, wrong input. No resolver is
    /// asked.
    pub fn explain(&self, call: &Call<'_>) -> Result<Explanation, ToolError> {
        self.state.explain(&self.state.core.rules, call)
    }

    /// Explains what another policy would decide, before the application uses it. [`make_policy`](Self::make_policy)
    /// makes such a policy.
    ///
    /// # Errors
    /// As [`explain`](Self::explain).
    pub fn explain_by(&self, policy: &Policy, call: &Call<'_>) -> Result<Explanation, ToolError> {
        self.state.explain(&Rules::of(policy.clone()), call)
    }

    /// Makes a policy for the tools of this executor, its journal and its workspace roots. Use it with
    /// [`explain_by`](Self::explain_by); the executor's own policy does not change.
    ///
    /// ```
    /// use toolwright::policy::{Policy, Rule, PolicyDecision};
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Tells the time.
    /// #[tool(effect = read, reads())]
    /// async fn tell_time() {}
    ///
    /// let executor = Executor::builder(Registry::of([TELL_TIME])?).build()?;
    /// let call = Call::new("tell_time", "{}");
    /// assert_eq!(executor.explain(&call)?.verdict, PolicyDecision::Allow);
    ///
    /// let no = Rule::deny("no caller may know").named("no").tool("tell_time");
    /// let other = executor.make_policy(Policy::builder().rule(no))?;
    /// assert_eq!(executor.explain_by(&other, &call)?.because(), ["no"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the policy has a mistake, or has `four_eyes` although the approver of this process has no name. The error
    /// lists every problem.
    pub fn make_policy(&self, policy: PolicyBuilder) -> Result<Policy, PolicyError> {
        let core = &self.state.core;
        core.rules.another(policy, &core.registry.catalog(), core.has_named_approver())
    }

    /// Lists the tools that need approval under the current policy because they do not declare which files they touch.
    /// Use it in a test that there are no such tools.
    ///
    /// ```
    /// use toolwright::{Executor, Registry, tool};
    ///
    /// /// Adds an entry to the account.
    /// #[tool(effect = once)]
    /// async fn add_entry() {}
    ///
    /// /// Closes the account.
    /// #[tool(effect = once, writes())]
    /// async fn close_account() {}
    ///
    /// let executor = Executor::builder(Registry::of([ADD_ENTRY, CLOSE_ACCOUNT])?).build()?;
    /// let found: Vec<String> = executor.lint().iter().map(ToString::to_string).collect();
    /// assert_eq!(
    ///     found,
    ///     ["`add_entry` does not say what it writes: add `writes()`, or list it under `touches_no_files` of the policy"]
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn lint(&self) -> Vec<UndeclaredTool> {
        self.policy().lint(&self.catalog())
    }

    /// Returns the current policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.state.core.rules.current()
    }

    /// Reloads the files of the policy. The new policy applies to every call that is evaluated from now on. A call that
    /// a person has approved is evaluated again before it runs.
    ///
    /// The executor never reloads the files by itself, because then an agent that can write them could change the
    /// policy.
    ///
    /// # Errors
    /// When the files have a mistake, a protected file lies in a folder in which tools work, the new policy would plan
    /// calls although there is no journal, or it has `four_eyes` although the approver of this process has no name. The
    /// old policy then stays in use.
    pub fn reload_policy(&self) -> Result<(), PolicyError> {
        let core = &self.state.core;
        let can_plan = core.journal.is_some();
        core.rules.reload(&core.registry.catalog(), can_plan, core.has_named_approver())
    }

    /// Returns the facts that the policy would receive for a call, without running the call: its danger, whether it
    /// needs approval, and what it touches.
    ///
    /// # Errors
    /// When the call would be refused before the policy evaluates it: an unknown tool, wrong input. No resolver is
    /// asked.
    pub fn examine(&self, call: &Call<'_>) -> Result<Facts, ToolError> {
        self.state.examine(call)
    }

    /// Checks a call by its tool's validation (`validate = |…| …`), without running the call and without asking a
    /// person. A tool without a validation accepts every call whose input is valid.
    ///
    /// ```
    /// use toolwright::{Call, Executor, Registry, ToolError, tool};
    ///
    /// /// Order articles from the supplier.
    /// #[tool(validate = |article| match article.as_str() {
    ///     "tea" => Ok(()),
    ///     _ => Err(ToolError::invalid(format!("the supplier has no `{article}`"))),
    /// })]
    /// async fn order(
    ///     /// The article, such as `tea`.
    ///     article: String,
    /// ) -> String {
    ///     format!("ordered {article}")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([ORDER])?).build()?;
    /// let refused = executor.validate(&Call::new("order", r#"{"article":"gold"}"#)).await.unwrap_err();
    /// assert_eq!(refused.message(), "the supplier has no `gold`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`examine`](Self::examine), and the error of the validation.
    pub async fn validate(&self, call: &Call<'_>) -> Result<(), ToolError> {
        self.state.validate(call).await
    }
}
