//! The options of a run-time tool, as methods named after the options of `#[tool]`.

use std::borrow::Cow;
use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use super::{DynamicTool, Output, work};
use toolwright_core::adaptation::Adaptation;
use toolwright_core::context::ToolContext;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Footprint;
use toolwright_core::output::Reconciled;
use toolwright_core::registration::Registration;
use toolwright_core::tool::{Danger, Effect, Exposure, Repair, Retry, Timeout};

impl DynamicTool {
    /// Sets the name that people see.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the group of the tool, which is its namespace on a command line and in profiles.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Adds a tag that profiles and policies can select.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Declares the effect of the tool's calls: what a call changes.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Declares the danger of the tool's calls: how carefully a person should look at a call.
    pub fn danger(mut self, danger: Danger) -> Self {
        self.danger = Some(danger);
        self
    }

    /// Computes the danger of each call from the input of the call.
    pub fn danger_by(mut self, judge: impl Fn(&Value) -> Danger + Send + Sync + 'static) -> Self {
        self.judge.danger = Some(Box::new(judge));
        self
    }

    /// Requires a person's approval for every call, for this reason.
    pub fn approval(mut self, reason: &'static str) -> Self {
        self.approval = Some(reason);
        self
    }

    /// Computes from the input of each call whether the call needs approval, and for which reason.
    pub fn approval_by(
        mut self,
        judge: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.judge.approval = Some(Box::new(move |input| judge(input).map(Cow::Owned)));
        self
    }

    /// Sets an async function that decides from the final input of a call whether the call needs approval, and for
    /// which reason. The function is called before the policy evaluates the call. For a call that has waited in a
    /// journal, it is called again before the call is claimed. If the function fails, panics or takes longer than ten
    /// seconds, the call needs approval. The function must not change anything.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{Call, DynamicTool, Executor, Registry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let schema = json!({"type": "object", "properties": {"amount": {"type": "integer"}}});
    /// let pay = DynamicTool::new("pay", "Pays.", schema, |_, _| async { Ok("paid") })
    ///     .approval_awaited_by(|input, _| async move {
    ///         let is_large = input["amount"].as_u64().is_none_or(|amount| amount > 100);
    ///         Ok(is_large.then(|| "it is more than 100".to_owned()))
    ///     });
    ///
    /// let executor = Executor::builder(Registry::of([pay])?).unrestricted().build()?;
    /// assert_eq!(executor.call(&Call::new("pay", r#"{"amount":7}"#)).await.text(), "paid");
    /// let refused = executor.call(&Call::new("pay", r#"{"amount":700}"#)).await;
    /// assert_eq!(refused.error().expect("no person can be asked").kind(), "approval_required");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn approval_awaited_by<F, Fut>(mut self, asks: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<String>, ToolError>> + Send + 'static,
    {
        self.asks = Some(Box::new(move |input, context| {
            let asked = asks(input, context);
            Box::pin(async move { Ok(asked.await?.map(Cow::Owned)) })
        }));
        self
    }

    /// Computes from the input which resources a call touches. Without such a function, a tool with effect `read` reads
    /// everything, and any other tool writes everything.
    pub fn footprint_by(
        mut self,
        footprint: impl Fn(&Value) -> Footprint + Send + Sync + 'static,
    ) -> Self {
        self.judge.footprint = Some(Box::new(footprint));
        self
    }

    /// Names the parameters whose values leave the machine, as `#[arg(sink)]` does for an annotated function. An empty
    /// list says that no value leaves the machine. Without this option, it is unknown whether a call sends something. A
    /// policy rule about such calls (`Rule::sends`) that asks or denies then also applies to the calls of this tool.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{DynamicTool, Registry};
    ///
    /// let schema = json!({"type": "object", "properties": {"to": {"type": "string"}, "folder": {"type": "string"}}});
    /// let send = DynamicTool::new("send_mail", "Sends a mail.", schema, |_, _| async { Ok(()) }).sinks(["to"]);
    ///
    /// let registry = Registry::of([send])?;
    /// assert!(registry.get("send_mail").expect("registered").sinks().eq(["to"]));
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn sinks(mut self, parameters: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let sinks = self.sinks.get_or_insert_default();
        sinks.extend(parameters.into_iter().map(Into::into));
        self
    }

    /// Sets how far invalid input of this tool is repaired; without it, the executor's setting applies.
    pub fn repair(mut self, repair: Repair) -> Self {
        self.repair = Some(repair);
        self
    }

    /// Sets the function that refuses calls by a rule that a schema cannot express. It checks the final input before
    /// the policy evaluates the call and a person is asked. It may run again immediately before the call begins. The
    /// model reads the error that the function returns, and the hint of that error. The function has ten seconds, and
    /// must not change anything.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{Call, DynamicTool, Executor, Registry, ToolError};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let schema = json!({"type": "object", "properties": {"article": {"type": "string"}}});
    /// let order = DynamicTool::new("order", "Orders.", schema, |_, _| async { Ok("ordered") })
    ///     .validate_by(|input, _| async move {
    ///         match input["article"].as_str() {
    ///             Some("tea") => Ok(()),
    ///             _ => Err(ToolError::invalid("the supplier has no such article").hint("order `tea`")),
    ///         }
    ///     });
    ///
    /// let executor = Executor::builder(Registry::of([order])?).unrestricted().build()?;
    /// let answer = executor.call(&Call::new("order", r#"{"article":"gold"}"#)).await;
    /// assert_eq!(answer.error().expect("refused").kind(), "invalid_input");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate_by<F, Fut>(mut self, validate: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        self.validate = Some(Box::new(move |input, context| Box::pin(validate(input, context))));
        self
    }

    /// Sets the function that shows an approver what a call would do, from its final input. The function runs before
    /// the approval, so it must not change anything. It has ten seconds. It does not run for a call with a secret among
    /// its arguments.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{DynamicTool, Registry};
    ///
    /// let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    /// let delete = DynamicTool::new("delete", "Deletes a file.", schema, |_, _| async { Ok(()) })
    ///     .approval("it cannot be undone")
    ///     .preview_by(|input, _| async move { Ok(format!("deletes {}", input["path"])) });
    ///
    /// let registry = Registry::of([delete])?;
    /// assert!(registry.get("delete").expect("registered").previews);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn preview_by<F, Fut>(mut self, preview: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        self.preview = Some(Box::new(move |input, context| Box::pin(preview(input, context))));
        self
    }

    /// Names what calls do beyond the definition, such as the server to which they go. An approval of a call is bound
    /// to this text. If the text has changed when an approved call is about to run, for instance after a restart, the
    /// approval is not valid any more, and the policy evaluates the call again. Models and people do not read the text,
    /// but `Debug` of the definition prints it, so give a digest if the text could contain a secret.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::DynamicTool;
    ///
    /// let schema = json!({"type": "object", "properties": {}});
    /// let order = DynamicTool::new("order", "Orders.", schema, |_, _| async { Ok("ordered") })
    ///     .implementation("POST https://shop.example/orders");
    /// # let _ = order;
    /// ```
    pub fn implementation(mut self, implementation: impl Into<String>) -> Self {
        self.implementation = Some(implementation.into());
        self
    }

    /// Sets the function that finds out whether an interrupted call happened, from its final input and the idempotency
    /// key in its [`ToolContext`]. The worker of an executor calls this function for each indeterminate call of the
    /// tool, if the tool was registered when the executor was built. Until the function returns the outcome, a person
    /// can also supply it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{DynamicTool, Reconciled, Registry};
    ///
    /// let ship = DynamicTool::new("ship", "Ships.", json!({"type": "object"}), |_, _| async { Ok(()) })
    ///     .reconcile_by(|_, _| async { Ok(Reconciled::DidNotHappen) });
    ///
    /// let registry = Registry::of([ship])?;
    /// assert!(registry.get("ship").expect("registered").reconciles);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn reconcile_by<F, Fut>(mut self, reconcile: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Reconciled, ToolError>> + Send + 'static,
    {
        self.reconcile = Some(Box::new(move |input, context| Box::pin(reconcile(input, context))));
        self
    }

    /// Sets whether models see the tool.
    pub fn exposure(mut self, exposure: Exposure) -> Self {
        self.exposure = exposure;
        self
    }

    /// Ends the run of an agent when a call of this tool succeeds.
    pub fn terminal(mut self) -> Self {
        self.terminal = true;
        self
    }

    /// Lets the run of an agent continue while another process carries out a call of the tool. As the answer of the
    /// call, the model reads that the call is running; it receives the result as a message when the result comes. The
    /// registry refuses this option for a tool that is [`terminal`](Self::terminal), and for one that is not
    /// [`external`](Self::external).
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{DynamicTool, Registry};
    ///
    /// let render = DynamicTool::external("render", "Renders the film.", json!({"type": "object"})).background();
    /// let registry = Registry::of([render])?;
    /// assert!(registry.get("render").expect("registered").is_background);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Limits how long each attempt of a call may take; `None` sets no limit.
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout.map_or(Timeout::None, Timeout::After);
        self
    }

    /// Limits how long a whole call may take, with all its attempts and the delays between them; `None` sets no limit.
    pub fn total_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.total_timeout = timeout.map_or(Timeout::None, Timeout::After);
        self
    }

    /// Sets how often a failed call is retried. The executor's settings apply to whatever `retry` does not set.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Limits how many calls of the tool run at once.
    pub fn limit(mut self, calls: u32) -> Self {
        self.limit = Some(calls);
        self
    }

    /// Sets the JSON Schema of the tool's result.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(Output::Schema(schema));
        self
    }

    /// Derives the schema of the tool's result from this Rust type.
    pub fn returns<R: JsonSchema + 'static>(mut self) -> Self {
        self.output_schema = Some(Output::Type(work::TypeOf::<R>::OUTPUT));
        self
    }

    /// Attaches a value of the application's own. [`Definition::metadata`](toolwright_core::tool::Definition::metadata)
    /// returns the value by its type.
    pub fn with<T: Send + Sync + 'static>(mut self, metadata: T) -> Self {
        self.metadata.put(metadata);
        self
    }

    /// Returns a registration of the tool with this prefix before its name.
    pub fn prefixed(self, prefix: impl AsRef<str>) -> Registration {
        Registration::from(self).prefixed(prefix)
    }

    /// Returns a registration of the tool with changes to the definition that its author wrote.
    pub fn adapted(self, adaptation: Adaptation) -> Registration {
        Registration::from(self).adapted(adaptation)
    }
}
