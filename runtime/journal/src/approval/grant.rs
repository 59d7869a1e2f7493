//! The terms on which a person allows calls in advance.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The terms of a grant, as the person who gives the grant signs them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantTerms {
    /// Where the grant is valid: in one run, session or project, or everywhere.
    pub scope: Scope,
    /// The name of the tool whose calls the grant covers.
    pub tool: String,
    /// The fingerprint of the tool's definition. If the definition changes, the grant covers no calls any more.
    pub fingerprint: String,
    /// The conditions on the arguments, all of which must hold. An empty list covers only a call without arguments.
    pub arguments: Vec<Clause>,
    /// When the grant expires; `None` if it does not expire.
    pub until: Option<Timestamp>,
    /// How many calls may use the grant; `None` for no limit. Without a limit, uses are not counted, so that calls need
    /// not wait for each other.
    pub uses: Option<u32>,
}

/// Where a grant is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scope {
    /// The grant is valid in the run with this id.
    Run(String),
    /// The grant is valid in all runs of this session.
    Session(String),
    /// The grant is valid in all runs of this project.
    Project(String),
    /// The grant is valid in all runs, in every project.
    Forever,
}

/// A condition on the arguments.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// The place of an argument, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The values that the terms accept at that place, each as JSON text.
    pub is_one_of: Vec<String>,
}

/// Omits the values, which may be secret.
impl fmt::Debug for Clause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Clause").field("pointer", &self.pointer).finish_non_exhaustive()
    }
}
