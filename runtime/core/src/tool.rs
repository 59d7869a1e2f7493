//! What a tool declares: the options of its attribute, and the definition that is made from them.

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

/// How carefully a person should look at a call before it runs. The policy's mode decides from this level which calls
/// need approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Danger {
    /// No person needs to look at the call.
    Safe,
    /// A person should look at the call before it runs.
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

/// What a call changes outside of the tool. The effect decides whether the executor may repeat the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The call changes nothing, so it may be repeated.
    Read,
    /// The call may be repeated, because a repetition does not change the end state.
    Idempotent,
    /// The call may be repeated if every attempt passes the same idempotency key to the service that acts.
    Keyed,
    /// The call must not be repeated.
    Once,
}

/// How models learn about the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    /// Models see the tool with its full schema.
    Direct,
    /// The model finds the tool by a search. Afterwards the tool is listed.
    Deferred,
    /// Models do not see the tool; only programs call it.
    Hidden,
}

/// How far the executor repairs an invalid input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The executor repairs no inputs of the tool.
    Off,
    /// The executor makes repairs that lose no information, if the schema allows exactly one reading.
    Standard,
    /// The executor also makes repairs that lose information or correct spelling, if the schema allows exactly one
    /// reading.
    Lenient,
}

/// The danger of a tool's calls, as its definition declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredDanger {
    /// Every call of the tool has this danger.
    Level(Danger),
    /// The tool computes the level from the input of each call.
    Computed,
}

/// Whether a tool's calls need approval, as its definition declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredApproval {
    /// Only the policy decides whether a call needs approval.
    Never,
    /// Every call of the tool needs approval, for this reason.
    Always(&'static str),
    /// The tool computes from the input of a call whether the call needs approval.
    Computed,
}

/// How often a failed call is tried again, and after which delays. For a setting that the tool leaves out, the
/// executor's setting applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retry {
    /// The number of attempts, including the first one.
    pub attempts: Option<u32>,
    /// The delay before the second attempt.
    pub delay: Option<Duration>,
    /// The longest delay between two attempts.
    pub max_delay: Option<Duration>,
}

/// The time limit of an attempt of a call, or of the whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// The time limit that the executor sets.
    Default,
    /// No time limit.
    None,
    /// This time limit.
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
    /// Returns the time limit. `executors` is the executor's limit, for tools that set none.
    #[doc(hidden)]
    pub fn or(self, executors: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Default => executors,
            Self::None => None,
            Self::After(time) => Some(time),
        }
    }
}

/// A service or resource that a tool needs in addition to its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// The name of the Rust type, as `std::any::type_name` returns it.
    pub type_name: &'static str,
    /// Whether the tool needs a resource (`&mut T`), which is opened for the call and closed after it. If not, it needs
    /// a service (`&T`).
    pub exclusive: bool,
}

/// A parameter of a tool, as it is shown to people and on command lines.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// The key of the parameter in the input.
    pub name: String,
    /// The text of the parameter's doc comment, with the lines of each paragraph joined.
    pub description: String,
    /// The JSON Schema of the parameter.
    pub schema: Value,
    /// Whether a call must contain the parameter.
    pub required: bool,
    /// Other names of the parameter that models may use.
    pub aliases: &'static [&'static str],
    /// Whether the value is a command line. Rules of a policy then examine the programs in it.
    pub command: bool,
    /// Whether the value is secret, so that logs, events and pages do not show it.
    pub secret: bool,
    /// Whether the value leaves the machine. Rules of a policy with the condition `sends` select calls that send such
    /// values.
    pub sink: bool,
    /// The one-letter flag of the parameter on a command line.
    pub short: Option<char>,
    /// Whether a command line gives the parameter by its position, without a flag.
    pub positional: bool,
}

impl Parameter {
    /// Describes a parameter of a tool's function. `schema` is the parameter's schema.
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

    /// Describes a key of the input of a tool that is defined by a schema and has no function parameters.
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
    /// The name by which models call the tool.
    pub name: String,
    /// A title for people; `None` if the tool has none.
    pub title: Option<String>,
    /// The description of what the tool does, from the tool's doc comment.
    pub description: String,
    /// The group of the tool. It is the tool's namespace on a command line and in profiles.
    pub group: Option<String>,
    /// Tags by which profiles and policies can select the tool.
    pub tags: Vec<String>,
    /// Whether an agent's run ends when a call of the tool succeeds.
    pub terminal: bool,
    /// Whether calls of the tool are handed over to another process, which carries them out.
    pub is_external: bool,
    /// Whether the run of an agent continues while another process carries out a call of the tool. The model then reads
    /// the result as a message when the result arrives.
    pub is_background: bool,
    /// The danger of the tool's calls: how carefully a person should look at them.
    pub danger: DeclaredDanger,
    /// The effect of the tool's calls: what they change.
    pub effect: Effect,
    /// Whether calls of the tool need approval.
    pub approval: DeclaredApproval,
    /// Whether the tool validates the input of a call before a person decides on the call.
    pub validates: bool,
    /// Whether the tool can describe to an approver what a call would do.
    pub previews: bool,
    /// Whether the tool can find out the outcome of an interrupted call.
    pub reconciles: bool,
    /// Whether the tool declares the resources that a call touches. A function declares them with `reads(…)` if its
    /// effect is `read`, and otherwise with `writes(…)`. A `DynamicTool` declares them with `footprint_by`. Without a
    /// declaration, a call may touch any resource.
    pub declares_footprint: bool,
    /// Whether the tool declares which values leave the machine. A function marks the parameters with `#[arg(sink)]`.
    /// If it marks none, it declares that no value leaves the machine. A function whose whole input is one type cannot
    /// declare them. A `DynamicTool` declares them with `sinks`. Without a declaration, every value may leave the
    /// machine.
    pub declares_sinks: bool,
    /// Whether the tool was made at run time, as a `DynamicTool` or by a `Resolver`.
    pub came_at_run_time: bool,
    /// How often a failed call is tried again, and after which delays.
    pub retry: Retry,
    /// How long each attempt of a call may take.
    pub timeout: Timeout,
    /// How long a whole call may take, with all its attempts and the time between them.
    pub total_timeout: Timeout,
    /// How many calls of the tool may run at the same time.
    pub limit: Option<u32>,
    /// How far the executor repairs an invalid input; `None` if the executor's own setting applies.
    pub repair: Option<Repair>,
    /// How models learn about the tool.
    pub exposure: Exposure,
    /// The JSON Schema of the tool's input, which is an object. The object of a function with parameters allows no
    /// other keys than its parameters.
    pub input_schema: Value,
    /// The JSON Schema of the tool's output; `None` if the output type has none.
    pub output_schema: Option<Value>,
    /// The parameters in the order of declaration; empty if the whole input is one type.
    pub parameters: Vec<Parameter>,
    /// The services and resources that the tool needs in addition to its input.
    pub requires: Vec<Requirement>,
    /// The location in the source where the tool is declared.
    pub location: Location,
    /// Describes what determines the effect of a call but is not in the rest of the definition, such as the server that
    /// receives the call. A decision about a call is valid only as long as this text is the same. A `DynamicTool` sets
    /// it with `implementation`.
    #[doc(hidden)]
    pub implementation: Option<String>,
    /// The values that the application attached to the tool, at most one for each type.
    #[doc(hidden)]
    pub metadata: Metadata,
    /// The changes to the tool that the application made when it registered the tool.
    #[doc(hidden)]
    pub adapted: Adapted,
}

impl Definition {
    /// Lists the names of the parameters whose values are secret.
    #[doc(hidden)]
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.all_parameters().filter(|it| it.secret).map(|it| it.name.as_str())
    }

    /// Lists the names of the parameters whose values leave the machine.
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

    /// Lists the JSON pointers of the parameters whose values are command lines.
    #[doc(hidden)]
    pub fn command_lines(&self) -> impl Iterator<Item = String> {
        let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
        self.all_parameters()
            .filter(|it| it.command)
            .map(move |it| format!("/{}", escaped(&it.name)))
    }

    /// Returns the value of type `T` that the application attached to the tool when it registered the tool.
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

    /// Makes the definition of a tool, without its schemas and parameters, which are added later.
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
            implementation: None,
            metadata: Metadata::default(),
            adapted: Adapted::default(),
        }
    }
}

/// A set of tool definitions, such as a catalog.
pub trait ToolSet {
    /// Lists each tool once.
    fn definitions(&self) -> Vec<&Definition>;
}

impl<const COUNT: usize> ToolSet for [Definition; COUNT] {
    fn definitions(&self) -> Vec<&Definition> {
        self.iter().collect()
    }
}
