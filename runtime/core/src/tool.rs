//! What a tool declares: the options of its attribute, and the definition that is built from them.

mod adapted;
mod metadata;
mod summary;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::spec::{ApprovalSpec, DangerSpec, Location, ParamSpec, Spec, TimeoutSpec};

#[doc(hidden)]
pub use adapted::{Adapted, PresetArgument};
pub use metadata::Metadata;
pub use summary::{Summary, first_sentence};

/// How carefully a person should look at a call before it runs. The mode of the policy decides by this level which
/// calls need approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Danger {
    /// A person need not look at the call.
    Safe,
    /// A person should look at the call.
    Moderate,
    /// The effects of the call are hard to undo.
    Dangerous,
    /// The call reaches beyond the task: it affects the machine, other people or money.
    Critical,
}

impl Danger {
    /// Every level, from the lowest to the highest.
    pub const ALL: [Self; 4] = [Self::Safe, Self::Moderate, Self::Dangerous, Self::Critical];

    /// Returns the level as attributes, policies, command lines and JSON spell it.
    ///
    /// ```
    /// use toolwright::Danger;
    ///
    /// assert_eq!(Danger::Safe.as_str(), "safe");
    /// assert_eq!(serde_json::to_string(&Danger::Critical)?, "\"critical\"");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Moderate => "moderate",
            Self::Dangerous => "dangerous",
            Self::Critical => "critical",
        }
    }
}

/// What a call changes, which decides whether it may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The call changes nothing, so it may be repeated.
    Read,
    /// The call may be repeated: a repetition leaves the end state unchanged.
    Idempotent,
    /// The call may be repeated with the same idempotency key.
    Keyed,
    /// The call must not be repeated.
    Once,
}

/// How a model gets to know the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    /// The tool is listed with its full schema.
    Direct,
    /// The model finds the tool by a search. Afterwards the tool is listed.
    Deferred,
    /// Only programs call the tool; models do not see it.
    Hidden,
}

/// How far the executor repairs wrong input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The executor repairs nothing.
    Off,
    /// The executor repairs without loss, and only if the schema leaves one reading.
    Standard,
    /// The executor repairs wherever the schema leaves one reading.
    Lenient,
}

/// What a definition declares about the danger of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredDanger {
    /// Every call has this level.
    Level(Danger),
    /// The tool computes the level from the input of each call.
    Computed,
}

/// What a definition declares about approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredApproval {
    /// Only the policy decides whether a call needs approval.
    Never,
    /// Every call needs approval, for this reason.
    Always(&'static str),
    /// The tool computes from the input of each call whether it needs approval.
    Computed,
}

/// How often and after which delays a failed call is tried again. The executor's settings fill in what the tool leaves
/// out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retry {
    /// The number of attempts, including the first one.
    pub attempts: Option<u32>,
    /// The delay before the second attempt.
    pub delay: Option<Duration>,
    /// The longest delay between two attempts.
    pub max_delay: Option<Duration>,
}

/// How long each attempt of a call may take, or the whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// The timeout that the executor sets.
    Default,
    /// No timeout.
    None,
    /// This much time, for each attempt.
    After(Duration),
}

impl From<TimeoutSpec> for Timeout {
    fn from(spec: TimeoutSpec) -> Self {
        match spec {
            TimeoutSpec::Default => Self::Default,
            TimeoutSpec::None => Self::None,
            TimeoutSpec::Milliseconds(milliseconds) => {
                Self::After(Duration::from_millis(milliseconds))
            }
        }
    }
}

impl Timeout {
    /// Returns the time limit. `executors` is the limit for tools that set none.
    #[doc(hidden)]
    pub fn or(self, executors: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Default => executors,
            Self::None => None,
            Self::After(time) => Some(time),
        }
    }
}

/// A service or a resource that a tool needs besides its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// The Rust type, as `std::any::type_name` writes it.
    pub type_name: &'static str,
    /// Whether the tool needs a resource (`&mut T`), which is opened for the call and closed after it; otherwise it
    /// needs a service.
    pub exclusive: bool,
}

/// A parameter of a tool, as command lines and people see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// The key of the parameter in the input.
    pub name: String,
    /// The doc comment of the parameter, unwrapped.
    pub description: String,
    /// The JSON Schema of the parameter.
    pub schema: Value,
    /// Whether a call must give the parameter.
    pub required: bool,
    /// Other names that models may use for the parameter.
    pub aliases: &'static [&'static str],
    /// Whether the value is a command line: rules of a policy examine the programs in it.
    pub command: bool,
    /// Whether the value is secret: logs, events and pages do not show it.
    pub secret: bool,
    /// Whether the value leaves the machine: rules of a policy can select calls that send such values (`sends`).
    pub sink: bool,
    /// The one-letter flag of the parameter on a command line.
    pub short: Option<char>,
    /// Whether a command line gives the parameter by its position, without a flag.
    pub positional: bool,
}

impl Parameter {
    /// Describes the parameter of a function, with its schema.
    #[doc(hidden)]
    #[must_use]
    pub fn of(spec: &ParamSpec, mut schema: Value, required: bool) -> Self {
        schema.sort_all_objects();
        Self {
            name: spec.name.to_owned(),
            description: crate::schema::unwrap_docs(spec.docs),
            schema,
            required,
            aliases: spec.aliases,
            command: spec.command,
            secret: spec.secret,
            sink: spec.sink,
            short: spec.short,
            positional: spec.positional,
        }
    }

    /// Describes a key of the input of a tool that has a schema instead of function parameters.
    #[doc(hidden)]
    #[must_use]
    pub fn of_schema(name: String, description: String, mut schema: Value, required: bool) -> Self {
        schema.sort_all_objects();
        let (aliases, short) = (&[] as &[_], None);
        Self {
            name,
            description,
            schema,
            required,
            aliases,
            command: false,
            secret: false,
            sink: false,
            short,
            positional: false,
        }
    }
}

/// The definition of a tool, for models, command lines and policies.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Definition {
    /// The name that models call.
    pub name: String,
    /// The name that people read, if the tool has one.
    pub title: Option<String>,
    /// What the tool does, from its doc comment.
    pub description: String,
    /// The group of the tool, which is its namespace on a command line and in profiles.
    pub group: Option<String>,
    /// Tags that profiles and policies can select.
    pub tags: Vec<String>,
    /// Whether an agent's run ends when a call of the tool succeeds.
    pub terminal: bool,
    /// Whether calls of the tool are handed over and carried out elsewhere.
    pub is_external: bool,
    /// Whether an agent's run continues while a call of the tool is carried out elsewhere. The model then reads the
    /// result as a message when it comes.
    pub is_background: bool,
    /// How carefully a person should look at calls of the tool.
    pub danger: DeclaredDanger,
    /// What the calls of the tool change.
    pub effect: Effect,
    /// Whether calls of the tool need approval.
    pub approval: DeclaredApproval,
    /// Whether the tool validates its input before a person is asked.
    pub validates: bool,
    /// Whether the tool can show an approver what a call would do.
    pub previews: bool,
    /// Whether the tool can find out the outcome of an interrupted call.
    pub reconciles: bool,
    /// Whether the tool declares the resources that a call touches. A function declares them by `reads(…)` if its
    /// effect is `read`, and by `writes(…)` otherwise; a `DynamicTool` does by `footprint_by`. Without a declaration a
    /// call may touch any resource.
    pub declares_footprint: bool,
    /// Whether the tool declares which values leave the machine. A function does: it marks their parameters with
    /// `#[arg(sink)]`. It cannot if its whole input is one type. A `DynamicTool` does by `sinks`. Without a declaration
    /// every value may leave the machine.
    pub declares_sinks: bool,
    /// Whether the tool was made at run time: it is a `DynamicTool`, or a `Resolver` brought it.
    pub came_at_run_time: bool,
    /// How often a failed call is tried.
    pub retry: Retry,
    /// How long each attempt of a call may take.
    pub timeout: Timeout,
    /// How long a whole call may take: all its attempts and the time between them.
    pub total_timeout: Timeout,
    /// How many calls of the tool may run at once.
    pub limit: Option<u32>,
    /// How far the executor repairs wrong input; `None` if the executor's own setting applies.
    pub repair: Option<Repair>,
    /// How a model gets to know the tool.
    pub exposure: Exposure,
    /// The JSON Schema of the tool's input: a closed object.
    pub input_schema: Value,
    /// The JSON Schema of the tool's output, if the output type has one.
    pub output_schema: Option<Value>,
    /// The parameters in order; empty if the whole input is one type.
    pub parameters: Vec<Parameter>,
    /// The services and resources that the tool needs besides its input.
    pub requires: Vec<Requirement>,
    /// Where the tool is declared.
    pub location: Location,
    /// The values that the application attached to the tool, by their type.
    #[doc(hidden)]
    pub metadata: Metadata,
    /// The changes that the application made to the tool when it registered it.
    #[doc(hidden)]
    pub adapted: Adapted,
}

impl Definition {
    /// Lists the parameters whose values are secret, by name.
    #[doc(hidden)]
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.all_parameters().filter(|it| it.secret).map(|it| it.name.as_str())
    }

    /// Lists the parameters whose values leave the machine, by name.
    ///
    /// ```
    /// use toolwright::{Registry, tool};
    ///
    /// /// Sends a mail.
    /// #[tool]
    /// async fn send_mail(
    ///     /// To whom.
    ///     #[arg(sink)]
    ///     to: String,
    ///     /// In which of our folders a copy is kept.
    ///     folder: String,
    /// ) {
    /// }
    ///
    /// let registry = Registry::of([SEND_MAIL])?;
    /// assert!(registry.get("send_mail").expect("registered").sinks().eq(["to"]));
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn sinks(&self) -> impl Iterator<Item = &str> {
        self.all_parameters().filter(|it| it.sink).map(|it| it.name.as_str())
    }

    /// Lists the parameters whose values are command lines, as JSON pointers.
    #[doc(hidden)]
    pub fn command_lines(&self) -> impl Iterator<Item = String> {
        let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
        self.all_parameters()
            .filter(|it| it.command)
            .map(move |it| format!("/{}", escaped(&it.name)))
    }

    /// Returns the value of a type that the application attached to the tool when it registered the tool.
    ///
    /// ```
    /// use toolwright::{Registry, tool};
    ///
    /// /// Says hello.
    /// #[tool(effect = read)]
    /// async fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// struct Owner(&'static str);
    ///
    /// let registry = Registry::of([HELLO.with(Owner("the team of greetings"))])?;
    /// let definition = registry.get("hello").expect("registered");
    /// assert_eq!(definition.metadata::<Owner>().expect("given").0, "the team of greetings");
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn metadata<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.metadata.get()
    }

    /// Makes the definition of a tool, except for what needs its schema.
    #[doc(hidden)]
    pub fn of(spec: &'static Spec) -> Self {
        Self {
            name: spec.name.to_owned(),
            title: spec.title.map(str::to_owned),
            description: crate::schema::unwrap_docs(spec.description),
            group: spec.group.map(str::to_owned),
            tags: spec.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            terminal: spec.terminal,
            is_external: spec.external,
            is_background: spec.background,
            danger: match spec.danger {
                DangerSpec::Undeclared if spec.effect == Effect::Read => {
                    DeclaredDanger::Level(Danger::Safe)
                }
                DangerSpec::Undeclared => DeclaredDanger::Level(Danger::Moderate),
                DangerSpec::Level(level) => DeclaredDanger::Level(level),
                DangerSpec::Computed => DeclaredDanger::Computed,
            },
            effect: spec.effect,
            approval: match spec.approval {
                ApprovalSpec::Never => DeclaredApproval::Never,
                ApprovalSpec::Always(reason) => DeclaredApproval::Always(reason),
                ApprovalSpec::Computed => DeclaredApproval::Computed,
            },
            validates: spec.validate.is_some(),
            previews: spec.preview.is_some(),
            reconciles: spec.reconcile.is_some(),
            declares_footprint: spec.declares_footprint,
            declares_sinks: !spec.whole,
            came_at_run_time: false,
            retry: Retry {
                attempts: spec.retry.attempts,
                delay: spec.retry.delay.map(Duration::from_millis),
                max_delay: spec.retry.max_delay.map(Duration::from_millis),
            },
            timeout: spec.timeout.into(),
            total_timeout: spec.total_timeout.into(),
            limit: spec.limit,
            repair: spec.repair,
            exposure: spec.exposure,
            input_schema: Value::Null,
            output_schema: None,
            parameters: Vec::new(),
            requires: spec.capabilities.iter().map(|it| it.requirement()).collect(),
            location: spec.location,
            metadata: Metadata::default(),
            adapted: Adapted::default(),
        }
    }
}

/// A set of definitions, such as a catalog.
pub trait ToolSet {
    /// Visits each tool once.
    fn definitions(&self) -> Vec<&Definition>;
}

impl<const COUNT: usize> ToolSet for [Definition; COUNT] {
    fn definitions(&self) -> Vec<&Definition> {
        self.iter().collect()
    }
}
