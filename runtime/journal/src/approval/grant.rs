//! The terms on which a person allows calls in advance.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How far a grant goes, as its granter signed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantTerms {
    /// Where the grant counts.
    pub scope: Scope,
    /// For which tool.
    pub tool: String,
    /// The tool's definition, which must not have changed since.
    pub fingerprint: String,
    /// What the arguments must be: all of it holds. None at all match only an empty input.
    pub arguments: Vec<Clause>,
    /// Until when.
    pub until: Option<Timestamp>,
    /// How many calls may use it. Without a limit uses are not counted, so that calls do not wait for each other.
    pub uses: Option<u32>,
}

/// Where a grant counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scope {
    /// In this run.
    Run(String),
    /// In runs of this session.
    Session(String),
    /// In runs of this project.
    Project(String),
    /// In every project and run.
    Forever,
}

/// Something that must hold of the arguments.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// A place, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The value there is one of these, each as JSON text.
    pub is_one_of: Vec<String>,
}

/// Without the values, which may be secret.
impl fmt::Debug for Clause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Clause").field("pointer", &self.pointer).finish_non_exhaustive()
    }
}
