//! Why an executor cannot be built.

use std::fmt;
use std::panic::Location;
use std::path::PathBuf;
use std::time::Duration;

use crate::registry::RegistryError;
use toolwright_policy::policy::PolicyError;

/// Why an executor cannot be built. The error lists every problem.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildError {
    /// The problems, at least one.
    pub problems: Vec<BuildProblem>,
}
toolwright_core::debug_as_sentence!(BuildError);

/// One reason why an executor cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildProblem {
    /// The policy is invalid.
    Policy(PolicyError),
    /// The builder received both `.unrestricted()` and `.policy(…)`, which exclude each other.
    TwoPolicies,
    /// The policy puts calls into a plan, but the executor has no journal to store the plan.
    NoPlan,
    /// The executor is limited to 0 concurrent calls, so that no call could ever run.
    NoCalls,
    /// A tool needs a capability that is not provided.
    Missing {
        /// The name of the tool.
        tool: String,
        /// The location in the source where the tool is declared.
        location: toolwright_core::spec::Location,
        /// The service or resource that the tool needs.
        requirement: toolwright_core::tool::Requirement,
    },
    /// The approver has no stored key. The key that is made for the process would be lost with it, but the journal
    /// outlives the process.
    ProcessKey,
    /// A tool is carried out elsewhere, and no stored key is set to sign the tokens of its calls. The journal outlives
    /// the key that is made for the process.
    NoHandOverKey {
        /// The name of the tool.
        tool: String,
        /// The location in the source where the tool is declared.
        location: toolwright_core::spec::Location,
    },
    /// The executor has a journal, but neither an approver nor a setting by `on_no_approver`.
    NoApprover,
    /// The lease is so short that it would expire before it could be renewed.
    ShortLease {
        /// The shortest lease that is allowed.
        shortest: Duration,
    },
    /// The system provides no random numbers.
    NoRandomness {
        /// The error of the operating system.
        why: String,
    },
    /// An approver cannot be trusted.
    Approver {
        /// The name of the approver.
        name: String,
        /// Why the approver cannot be trusted.
        why: String,
    },
    /// The policy needs an approver other than the user, but the approver has no name.
    UnnamedApprover,
    /// A file that tools must not access is in a folder in which tools work.
    InWorkspace {
        /// The kind of the file, in words.
        what: &'static str,
        /// The path of the file.
        file: PathBuf,
        /// The path of the folder.
        root: PathBuf,
    },
    /// The settings of retries or circuit breaker are invalid.
    Retry {
        /// Which setting is invalid, and why.
        why: &'static str,
    },
    /// A type is provided twice, so that it is unclear which of the values a tool receives.
    GivenTwice {
        /// The name of the type.
        type_name: &'static str,
    },
    /// Tools do not fit together: two have the same name, or one is invalid.
    Registry(RegistryError),
    /// An adaptation matches no tool.
    AdaptsNothing {
        /// The pattern, and the names of tools that are similar to the pattern.
        problem: String,
    },
    /// Two bundles have the same name.
    BundleTwice {
        /// The name of both bundles.
        name: String,
        /// The location in the source where the first bundle is added.
        first: &'static Location<'static>,
        /// The location in the source where the second bundle is added.
        second: &'static Location<'static>,
    },
    /// Something that the application asks for, such as a sandbox, is not available on this machine.
    Unavailable {
        /// The feature that is not available.
        what: String,
        /// Why the feature is not available.
        why: String,
    },
}

impl BuildError {
    /// Makes the error of one problem, for libraries that build the parts of an executor.
    ///
    /// ```
    /// use toolwright::{BuildError, BuildProblem};
    ///
    /// let (what, why) = ("bubblewrap".to_owned(), "it is not installed".to_owned());
    /// let error = BuildError::of(BuildProblem::Unavailable { what, why });
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the executor cannot be built\n- `bubblewrap` cannot be used: it is not installed"
    /// );
    /// ```
    #[must_use]
    pub fn of(problem: BuildProblem) -> Self {
        Self { problems: vec![problem] }
    }

    /// Returns the problems of the policy, if there are no other problems.
    #[doc(hidden)]
    pub fn policy(&self) -> Option<&PolicyError> {
        match self.problems.as_slice() {
            [BuildProblem::Policy(error)] => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the executor cannot be built")?;
        self.problems.iter().try_for_each(|problem| write!(formatter, "\n- {problem}"))
    }
}

impl fmt::Display for BuildProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(error) => write!(formatter, "{error}"),
            Self::AdaptsNothing { problem } => write!(formatter, "`.adapt(…)`: {problem}"),
            Self::TwoPolicies => formatter.write_str(
                "`.unrestricted()` runs everything and `.policy(…)` says what may run; keep one",
            ),
            Self::NoPlan => formatter.write_str(
                "the policy plans what changes something, and there is no journal to store the plan in; give one with `.journal(…)`",
            ),
            Self::NoCalls => {
                formatter.write_str("a limit of 0 calls at once lets none run; set at least 1")
            }
            Self::Missing { tool, location, requirement } if requirement.exclusive => write!(
                formatter,
                "the tool `{tool}` at {location} needs `&mut {0}`, which is not provided; register an opener: `.resource(|opening| …)` giving a `{0}`",
                requirement.type_name
            ),
            Self::Missing { tool, location, requirement }
                if requirement.type_name.starts_with("dyn ") =>
            {
                write!(
                    formatter,
                    "the tool `{tool}` at {location} needs `&{0}`, which is not provided; register it as the trait, `.service_arc(Arc::new(…) as Arc<{0}>)`, because `.service(…)` registers a value under its own type; or declare it with `.per_run::<{0}>()` or `.per_call::<{0}>()`",
                    requirement.type_name
                )
            }
            Self::Missing { tool, location, requirement } => write!(
                formatter,
                "the tool `{tool}` at {location} needs `&{0}`, which is not provided; register it with `.service(…)`, or with `.service_arc(…)` what is in an `Arc`, or declare it with `.per_run::<{0}>()` or `.per_call::<{0}>()`",
                requirement.type_name
            ),
            Self::ProcessKey => formatter.write_str(
                "`.ask(…)` signs with a key that is lost when the process ends, but the journal outlives the process; give `.approver(key, …)`, or accept with `Journal::trust_process_key` that approved calls are asked about again after a restart",
            ),
            Self::NoHandOverKey { tool, location } => write!(
                formatter,
                "the tool `{tool}` at {location} is carried out elsewhere, and the journal outlives the key of this process: a token from before a restart would not count; give the journal a stored key with `Journal::hand_over_key(ApproverKey::load(…)?)`; `toolwright keys new` makes one"
            ),
            Self::NoApprover => formatter.write_str(
                "calls may have to be approved, and there is no approver: give `.ask(…)` or `.approver(key, …)`, or say with `Journal::on_no_approver` whether to deny, park or fail them",
            ),
            Self::ShortLease { shortest } => {
                write!(formatter, "the lease is too short to be renewed in time; make it at least {shortest:?}")
            }
            Self::NoRandomness { why } => {
                write!(formatter, "no key could be made for the digests of secrets: {why}")
            }
            Self::Approver { name, why } => {
                write!(formatter, "the approver `{name}` cannot be trusted: {why}")
            }
            Self::UnnamedApprover => formatter.write_str(
                "the policy wants four eyes, and `.ask(…)` does not say who approves; give `.approver(key, …)`",
            ),
            Self::InWorkspace { what, file, root } => write!(
                formatter,
                "the {what} {} lies in the workspace {}, where tools could change it; move it outside",
                file.display(),
                root.display()
            ),
            Self::Retry { why } => formatter.write_str(why),
            Self::GivenTwice { type_name } => {
                write!(formatter, "`{type_name}` is given twice; keep one")
            }
            Self::Registry(error) => write!(formatter, "{error}"),
            Self::BundleTwice { name, first, second } => write!(
                formatter,
                "the bundle `{name}` is given twice, at {first} and at {second}; keep one"
            ),
            Self::Unavailable { what, why } => {
                write!(formatter, "`{what}` cannot be used: {why}")
            }
        }
    }
}

impl std::error::Error for BuildError {}
