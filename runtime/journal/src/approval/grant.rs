//! The terms on which a person allows calls in advance.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The terms of a grant, as its granter signed them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantTerms {
    /// The runs in which the grant counts.
    pub scope: Scope,
    /// The tool whose calls the grant covers.
    pub tool: String,
    /// The fingerprint of the tool's definition, which must not have changed since.
    pub fingerprint: String,
    /// The conditions on the arguments, all of which must hold. An empty list covers only a call without arguments.
    pub arguments: Vec<Clause>,
    /// When the grant expires, if it does.
    pub until: Option<Timestamp>,
    /// How many calls may use the grant.
    pub uses: Option<u32>,
}

/// The runs in which a grant counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scope {
    /// Only the run with this id.
    Run(String),
    /// All runs of this session.
    Session(String),
    /// All runs of this project.
    Project(String),
    /// All runs, in every project.
    Forever,
}

/// A condition on the arguments.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// The location of an argument, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The accepted values at that location, each as JSON text.
    pub is_one_of: Vec<String>,
}

/// Omits the values, which may be secret.
impl fmt::Debug for Clause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Clause").field("pointer", &self.pointer).finish_non_exhaustive()
    }
}
