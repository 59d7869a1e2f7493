//! Tools that are made at run time from values and a function, because they are not known when the program is compiled.
//!
//! - The rest of the runtime treats a run-time tool like any other tool. Its `Spec` has a start function that finds the
//!   handler in the registry's entry.
//! - Its input is read strictly and checked against its schema before its function runs.

mod options;
#[doc(hidden)]
pub mod properties;
mod schema;
mod work;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use toolwright_core::calls::Calls;
use toolwright_core::context::ToolContext;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::input::Keys;
use toolwright_core::output::{Reconciled, ToolOutput};
use toolwright_core::registration::{Registration, Source};
use toolwright_core::schema::SchemaProblem;
use toolwright_core::spec::{Location, Spec};
use toolwright_core::tool::{
    Danger, DeclaredApproval, DeclaredDanger, Definition, Effect, Exposure, Metadata, Repair,
    Retry, Timeout,
};

use crate::dynamic::work::{Companion, Judge, Work};
pub(crate) use work::Body;

/// A tool that is made at run time, for example from the description of a remote server or from configuration.
///
/// The handler gets the input and the [`ToolContext`], and returns a `Result`. If it is a closure, it captures whatever
/// else it needs. An option that is not set has the default of the attribute `#[tool]`: effect `once`, danger
/// `moderate` (`safe` for effect `read`), the executor's timeouts, and no limit of concurrent calls.
///
/// ```
/// use serde_json::json;
/// use toolwright::{Call, DynamicTool, Effect, Executor, Registry};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let schema = json!({
///     "type": "object",
///     "properties": {"name": {"type": "string", "description": "Whom."}},
///     "required": ["name"],
///     "additionalProperties": false,
/// });
/// let greet = DynamicTool::new("greet", "Greets a person.", schema, |input, _| async move {
///     Ok(format!("Hello, {}!", input["name"].as_str().unwrap_or_default()))
/// })
/// .effect(Effect::Read);
///
/// let executor = Executor::builder(Registry::of([greet])?).unrestricted().build()?;
/// let answer = executor.call(&Call::new("greet", r#"{"name":"Ada"}"#)).await;
/// assert_eq!(answer.text(), "Hello, Ada!");
/// let answer = executor.call(&Call::new("greet", r#"{"person":7}"#)).await;
/// assert_eq!(answer.error().expect("refused").kind(), "invalid_input");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a tool does nothing until it is registered"]
pub struct DynamicTool {
    pub(crate) name: String,
    pub(crate) location: Location,
    title: Option<String>,
    description: String,
    input: Input,
    output_schema: Option<Output>,
    group: Option<String>,
    tags: Vec<String>,
    terminal: bool,
    external: bool,
    background: bool,
    danger: Option<Danger>,
    effect: Effect,
    approval: Option<&'static str>,
    exposure: Exposure,
    timeout: Timeout,
    total_timeout: Timeout,
    limit: Option<u32>,
    retry: Retry,
    repair: Option<Repair>,
    /// What calls do beyond the definition; see [`implementation`](Self::implementation).
    implementation: Option<String>,
    metadata: Metadata,
    /// The parameters whose values leave the machine; `None` if that is not known.
    sinks: Option<Vec<String>>,
    judge: Judge,
    asks: Option<Box<Companion<Option<Cow<'static, str>>>>>,
    validate: Option<Box<Companion<()>>>,
    preview: Option<Box<Companion<String>>>,
    reconcile: Option<Box<Companion<Reconciled>>>,
    work: Box<dyn Work>,
}

/// The origin of the input's schema: JSON Schema from the application, or a Rust type.
enum Input {
    Schema(Value),
    /// The spec of a tool whose whole input is one Rust type.
    Type(&'static Spec),
}

enum Output {
    Schema(Value),
    Type(&'static Spec),
}

/// A run-time tool whose schemas were checked.
pub(crate) struct PreparedTool {
    pub(crate) spec: &'static Spec,
    pub(crate) definition: Definition,
    pub(crate) keys: Keys,
    pub(crate) body: Body,
}

impl DynamicTool {
    /// Makes a tool from the JSON Schema of its input. Its handler gets the input as a JSON value.
    ///
    /// The schema is taken literally: an object without `"additionalProperties": false` accepts further keys. A key
    /// that is `writeOnly` or has the format `password` is secret, as a parameter with `#[arg(secret)]` is. If any part
    /// of a key's value is secret, the whole key is. The registry refuses a schema with a secret outside its
    /// `properties`.
    #[track_caller]
    pub fn new<R, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: F,
    ) -> Self
    where
        R: ToolOutput + 'static,
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let work = work::of::<Value, R, F, Fut>(handler);
        Self::of(name.into(), description.into(), Input::Schema(input_schema), work)
    }

    /// Makes a tool that calls other tools, from the JSON Schema of its input. Besides the input and the context, its
    /// handler gets the [`Calls`] through which it calls tools, as an annotated function with a parameter `&Calls`
    /// does.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{Call, DynamicTool, Effect, Executor, Registry, tool};
    ///
    /// /// Tells the time.
    /// #[tool(effect = read)]
    /// async fn tell_time() -> &'static str {
    ///     "noon"
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let greet = DynamicTool::calling("greet", "Greets.", json!({"type": "object"}), |_, _, calls| async move {
    ///     let time = calls.call(&Call::new("tell_time", "{}")).await;
    ///     Ok(format!("Hello, it is {}.", time.text()))
    /// })
    /// .effect(Effect::Read);
    /// let registry = Registry::of([TELL_TIME])?;
    /// registry.register(greet)?;
    /// let executor = Executor::builder(registry).build()?;
    /// let answer = executor.call(&Call::new("greet", "{}")).await;
    /// assert_eq!(answer.text(), "Hello, it is noon.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn calling<R, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: F,
    ) -> Self
    where
        R: ToolOutput + 'static,
        F: Fn(Value, ToolContext, Calls) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let work = work::calling::<Value, R, F, Fut>(handler);
        Self::of(name.into(), description.into(), Input::Schema(input_schema), work)
    }

    /// Makes a tool that is carried out elsewhere, by a browser or another service. It has schemas and no function. A
    /// call passes the policy and approvals like a call of any other tool. The executor then hands the call over with a
    /// token ([`HandedOver`](crate::executor::HandedOver)). The result must be supplied with
    /// [`Executor::supply`](crate::executor::Executor::supply), within the tool's [`timeout`](Self::timeout) or, if
    /// there is none, within the time that an approval may take. Without an [`output_schema`](Self::output_schema), any
    /// JSON is accepted as a result.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{DynamicTool, Registry};
    ///
    /// let schema = json!({"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]});
    /// let pick = DynamicTool::external("pick_colour", "Lets the visitor pick a colour.", schema)
    ///     .output_schema(json!({"enum": ["red", "blue"]}));
    ///
    /// let registry = Registry::of([pick])?;
    /// assert!(registry.get("pick_colour").expect("registered").is_external);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    #[track_caller]
    pub fn external(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        let work = work::external();
        let made = Self::of(name.into(), description.into(), Input::Schema(input_schema), work);
        Self { external: true, ..made }
    }

    /// Makes a tool whose input is a Rust type. The schema is derived from the type, and input is read as strictly as
    /// for an annotated function.
    ///
    /// ```
    /// use toolwright::{DynamicTool, Registry, ToolContext, ToolError};
    ///
    /// #[toolwright::data]
    /// struct Numbers {
    ///     /// What is added.
    ///     numbers: Vec<i64>,
    /// }
    ///
    /// async fn add(numbers: Numbers, _: ToolContext) -> Result<i64, ToolError> {
    ///     Ok(numbers.numbers.iter().sum())
    /// }
    ///
    /// let add = DynamicTool::typed("add", "Adds numbers.", add);
    /// let registry = Registry::of([add])?;
    /// assert_eq!(registry.get("add").expect("registered").input_schema["required"][0], "numbers");
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    #[track_caller]
    pub fn typed<A, R, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: ToolOutput + 'static,
        F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let work = work::of::<A, R, F, Fut>(handler);
        Self::of(name.into(), description.into(), Input::Type(work::TypeOf::<A>::INPUT), work)
    }

    #[track_caller]
    fn of(name: String, description: String, input: Input, work: Box<dyn Work>) -> Self {
        Self {
            name,
            location: Location::of_caller(),
            title: None,
            description,
            input,
            output_schema: None,
            group: None,
            tags: Vec::new(),
            terminal: false,
            external: false,
            background: false,
            danger: None,
            effect: Effect::Once,
            approval: None,
            exposure: Exposure::Direct,
            timeout: Timeout::Default,
            total_timeout: Timeout::Default,
            limit: None,
            retry: Retry::default(),
            repair: None,
            implementation: None,
            metadata: Metadata::default(),
            sinks: None,
            judge: Judge::default(),
            asks: None,
            validate: None,
            preview: None,
            reconcile: None,
            work,
        }
    }

    /// Returns the name that models call.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks the schemas of the tool, and makes its definition.
    pub(crate) fn prepare(self) -> Result<PreparedTool, SchemaProblem> {
        let spec = work::spec(work::Has {
            asks: self.asks.is_some(),
            validate: self.validate.is_some(),
            preview: self.preview.is_some(),
            reconcile: self.reconcile.is_some(),
            calls: self.work.makes_calls(),
        });
        let (mut definition, keys) = match self.input {
            Input::Schema(written) => {
                let (input_schema, keys) = schema::input(&self.name, &written)?;
                let mut definition = Definition::of(spec);
                definition.input_schema = input_schema;
                (definition, keys)
            }
            Input::Type(described) => toolwright_schema::schema::describe(described)?,
        };
        schema::defaults_end(&definition.input_schema)?;
        schema::secrets_have_names(&definition.input_schema)?;
        definition.parameters = schema::parameters(&definition.input_schema);
        schema::mark_sinks(&mut definition.parameters, self.sinks.as_deref())?;
        definition.declares_sinks = self.sinks.is_some();
        definition.output_schema = match self.output_schema {
            Some(Output::Schema(written)) => Some(schema::output(written)?),
            Some(Output::Type(described)) => {
                toolwright_schema::schema::describe(described)?.0.output_schema
            }
            None => None,
        };
        definition.name = self.name;
        definition.title = self.title;
        definition.description = self.description;
        definition.group = self.group;
        definition.tags = self.tags;
        definition.terminal = self.terminal;
        definition.is_external = self.external;
        definition.is_background = self.background;
        definition.effect = self.effect;
        let undeclared = if self.effect == Effect::Read { Danger::Safe } else { Danger::Moderate };
        definition.danger = match (&self.judge.danger, self.danger) {
            (Some(_), _) => DeclaredDanger::Computed,
            (None, level) => DeclaredDanger::Level(level.unwrap_or(undeclared)),
        };
        definition.approval = match (&self.judge.approval, self.approval) {
            (Some(_), _) => DeclaredApproval::Computed,
            (None, _) if self.asks.is_some() => DeclaredApproval::Computed,
            (None, Some(reason)) => DeclaredApproval::Always(reason),
            (None, None) => DeclaredApproval::Never,
        };
        definition.validates = self.validate.is_some();
        definition.previews = self.preview.is_some();
        definition.reconciles = self.reconcile.is_some();
        definition.declares_footprint = self.judge.footprint.is_some();
        definition.exposure = self.exposure;
        definition.timeout = self.timeout;
        definition.total_timeout = self.total_timeout;
        definition.limit = self.limit;
        definition.retry = self.retry;
        definition.repair = self.repair;
        // Every executor provides the context and the calls, so they are not listed as requirements.
        definition.requires = Vec::new();
        definition.location = self.location;
        definition.implementation = self.implementation;
        definition.metadata = self.metadata;
        let body = Body {
            judge: self.judge,
            asks: self.asks,
            validate: self.validate,
            preview: self.preview,
            reconcile: self.reconcile,
            work: Arc::from(self.work),
        };
        Ok(PreparedTool { spec, definition, keys, body })
    }
}

impl Judge {
    /// Adds the facts that the tool computes from this input: danger, approval and footprint.
    fn judge(&self, input: &Value, facts: &mut Facts) {
        if let Some(danger) = &self.danger {
            facts.danger = danger(input);
        }
        if let Some(reason) = self.approval.as_ref().and_then(|approval| approval(input)) {
            facts.approval = Some(reason);
        }
        if let (Some(footprint), Some(touched)) = (&self.footprint, facts.footprint()) {
            *touched = footprint(input);
        }
    }
}

impl fmt::Debug for DynamicTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DynamicTool({} at {})", self.name, self.location)
    }
}

impl From<DynamicTool> for Registration {
    fn from(tool: DynamicTool) -> Self {
        Self::new(tool.name.clone(), Source::Made(tool.location, Box::new(tool)))
    }
}
