//! The static description of a tool, which generated code makes. It consists of constants and function pointers, so
//! that a program with a thousand tools does not build a thousand objects when it starts.

use std::fmt;

use futures::future::BoxFuture;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use crate::capability::{CapabilitySpec, Scope};
use crate::footprint::Facts;
use crate::input::{
    Bounds, Changes, Fault, IsKnown, Keys, NoSlots, Param, Problems, Reader, Slots,
};
use crate::output::{Answer, Asking, Preview, Reconciling, Validated};
use crate::tool::{Danger, Effect, Exposure, Repair};

/// Identifies a tool, for registration and for calls of other tools. `#[tool]` makes a constant of this type for each
/// function.
///
/// ```
/// use toolwright::{Registry, tool};
///
/// /// Adds two numbers.
/// #[tool(effect = read)]
/// async fn add(
///     /// The first.
///     one: i64,
///     /// The second.
///     other: i64,
/// ) -> i64 {
///     one + other
/// }
///
/// let registry = Registry::of([ADD])?;
/// assert_eq!(registry.get("add").expect("registered").description, "Adds two numbers.");
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Handle(pub(crate) &'static Spec);

impl Handle {
    /// A placeholder for a tool whose declaration has mistakes, so that rustc reports only these mistakes.
    #[doc(hidden)]
    pub const UNUSABLE: Self = Self(&Spec::EMPTY);

    #[doc(hidden)]
    pub const fn new(spec: &'static Spec) -> Self {
        Self(spec)
    }

    #[doc(hidden)]
    pub const fn spec(self) -> &'static Spec {
        self.0
    }

    /// Returns whether this is the handle of the tool that `spec` describes. Compares names and source locations,
    /// because a constant has a different address in each crate that uses it.
    #[doc(hidden)]
    #[must_use]
    pub fn is_of(self, spec: &Spec) -> bool {
        self.0.name == spec.name && self.0.location == spec.location
    }

    /// Returns the name by which models call the tool.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Returns the location in the source where the tool is declared.
    pub fn location(&self) -> Location {
        self.0.location
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Handle({} at {})", self.0.name, self.0.location)
    }
}

/// The location in the source where a tool is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The package in which the tool is declared; empty for a tool that was made at run time.
    pub package: &'static str,
    /// The version of the package; empty for a tool that was made at run time.
    pub version: &'static str,
    /// The path of the source file, as rustc names it.
    pub file: &'static str,
    /// The line of the name of the tool's function; for a tool that was made at run time, the line of the call that
    /// made it.
    pub line: u32,
}

impl Location {
    #[doc(hidden)]
    pub const fn new(
        package: &'static str,
        version: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self { package, version, file, line }
    }

    /// Returns the location of the caller, for a run-time tool. The package is unknown.
    #[track_caller]
    #[doc(hidden)]
    pub fn of_caller() -> Self {
        let caller = std::panic::Location::caller();
        Self { package: "", version: "", file: caller.file(), line: caller.line() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        if self.package.is_empty() {
            return Ok(());
        }
        write!(formatter, " (package {})", self.package)
    }
}

#[derive(Clone, Copy)]
pub struct Spec {
    pub name: &'static str,
    pub title: Option<&'static str>,
    pub description: &'static str,
    pub group: Option<&'static str>,
    pub tags: &'static [&'static str],
    pub terminal: bool,
    /// Whether calls of the tool are handed over to another process, which carries them out.
    pub external: bool,
    /// Whether the run of an agent continues while another process carries out a call of the tool.
    pub background: bool,
    pub danger: DangerSpec,
    pub effect: Effect,
    pub approval: ApprovalSpec,
    pub retry: RetrySpec,
    pub timeout: TimeoutSpec,
    pub total_timeout: TimeoutSpec,
    pub limit: Option<u32>,
    /// Whether the tool declares the resources that its calls touch. For the effect `read` these are the resources that
    /// they read, otherwise the resources that they write.
    pub declares_footprint: bool,
    pub repair: Option<Repair>,
    pub exposure: Exposure,
    pub location: Location,
    /// Whether a single parameter is the whole input of the tool.
    pub whole: bool,
    pub parameters: &'static [ParamSpec],
    pub capabilities: &'static [CapabilitySpec],
    pub output: fn() -> Option<SchemaOf>,
    pub start: StartWith<Answer>,
    /// The asynchronous function that decides whether a call needs approval, and why; `None` if the tool has no such
    /// function.
    pub asks: Option<StartWith<Asking>>,
    pub validate: Option<StartWith<Validated>>,
    /// Whether the tool's validation never waits and sees all final arguments. This is the case if the validation is a
    /// closure that is not async, the tool is not `blocking`, and no parameter has a `fill`.
    pub validates_at_once: bool,
    pub preview: Option<StartWith<Preview>>,
    pub reconcile: Option<StartWith<Reconciling>>,
}

pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Makes the value of a default or an example.
pub type Preset = fn() -> Result<Value, serde_json::Error>;

/// Reads a value of a type and drops it, to test whether the type accepts the value.
pub type Probe = fn(&mut Reader<'_>) -> Result<(), Fault>;

/// A call that is ready to run: the tool does nothing before the future is polled.
pub type Started<'a, A> = Result<BoxFuture<'a, A>, Problems>;

pub type StartWith<A> = for<'a, 'b> fn(Start<'a, 'b>) -> Started<'a, A>;

#[derive(Clone, Copy)]
pub enum DangerSpec {
    Undeclared,
    Level(Danger),
    Computed,
}

#[derive(Clone, Copy)]
pub enum ApprovalSpec {
    Never,
    Always(&'static str),
    Computed,
}

#[derive(Clone, Copy)]
pub enum TimeoutSpec {
    Default,
    None,
    Milliseconds(u64),
}

/// The retry settings of a tool; delays are in milliseconds.
#[derive(Clone, Copy)]
pub struct RetrySpec {
    pub attempts: Option<u32>,
    pub delay: Option<u64>,
    pub max_delay: Option<u64>,
}

impl RetrySpec {
    pub const EMPTY: Self = Self { attempts: None, delay: None, max_delay: None };
}

#[derive(Clone, Copy)]
pub struct ParamSpec {
    pub name: &'static str,
    pub docs: &'static str,
    pub schema: SchemaOf,
    /// Reads a value as a call reads it and drops it, to test whether the type accepts the value.
    pub probe: Probe,
    /// Returns whether the type has a value for an absent key, as `Option` has.
    pub optional: fn() -> bool,
    /// Determines whether the type is known to accept exactly the values that its schema allows. Other types are tested
    /// with sample values.
    pub is_known: IsKnown,
    pub bounds: Bounds,
    pub default: Option<Preset>,
    pub examples: &'static [Preset],
    pub aliases: &'static [&'static str],
    pub command: bool,
    pub secret: bool,
    pub sink: bool,
    pub short: Option<char>,
    pub positional: bool,
}

impl ParamSpec {
    pub const fn default(mut self, default: Preset) -> Self {
        self.default = Some(default);
        self
    }

    pub const fn examples(mut self, examples: &'static [Preset]) -> Self {
        self.examples = examples;
        self
    }

    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    pub const fn sink(mut self) -> Self {
        self.sink = true;
        self
    }

    pub const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    pub const fn positional(mut self) -> Self {
        self.positional = true;
        self
    }
}

impl Spec {
    pub const EMPTY: Self = Self {
        name: "",
        title: None,
        description: "",
        group: None,
        tags: &[],
        terminal: false,
        external: false,
        background: false,
        danger: DangerSpec::Undeclared,
        effect: Effect::Once,
        approval: ApprovalSpec::Never,
        retry: RetrySpec::EMPTY,
        timeout: TimeoutSpec::Default,
        total_timeout: TimeoutSpec::Default,
        limit: None,
        declares_footprint: false,
        repair: None,
        exposure: Exposure::Direct,
        location: Location::new("", "", "", 0),
        whole: false,
        parameters: &[],
        capabilities: &[],
        output: || None,
        start: |_| Err(Problems::of("the tool was declared with mistakes")),
        asks: None,
        validate: None,
        validates_at_once: false,
        preview: None,
        reconcile: None,
    };
}

/// The values with which generated code prepares one call.
pub struct Start<'a, 'b> {
    pub scope: Scope<'a>,
    pub text: &'b str,
    pub keys: &'b Keys,
    pub facts: &'b mut Facts,
    /// Records the repairs that reading makes; `None` if the input must not be repaired.
    #[doc(hidden)]
    pub changes: Option<&'b Changes>,
}

impl Start<'_, '_> {
    /// Reads the input object into the slots, or returns all problems of the input.
    #[inline(always)]
    pub fn read(&self, slots: &mut dyn Slots) -> Result<(), Problems> {
        crate::input::read_repairing(self.text, self.keys, slots, self.changes)
    }

    /// Reads the whole input as one value of type `T`.
    pub fn read_whole<T>(&self, param: &Param<T>) -> Result<T, Problems> {
        param.read_whole(self.text, self.keys)
    }

    /// Checks that the input of a tool without parameters is empty.
    pub fn read_nothing(&self) -> Result<(), Problems> {
        self.read(&mut NoSlots)
    }
}
