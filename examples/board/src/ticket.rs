//! The data of the board: tickets, criteria, comments, documents. Each enum has a fixed text for every value.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;

/// The error for a text that is none of the expected words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found `{found}`, expected one of {expected}")]
pub struct UnknownWord {
    found: String,
    expected: String,
}

/// Makes an enum with a fixed text for each value, which the database, JSON and the terminal use.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        pub enum $name { $($(#[$value_doc])* #[serde(rename = $text)] $value,)+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value,)+];

            /// Returns the text of the value.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $text,)+ }
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                Self::ALL.iter().copied().find(|it| it.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|it| format!("`{it}`")).collect();
                    UnknownWord { found: text.to_owned(), expected: names.join(", ") }
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.name().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_str()?.parse().map_err(|error| FromSqlError::Other(Box::new(error)))
            }
        }
    };
}

words! {
    /// The kind of a ticket.
    TicketKind { Feature = "FEATURE", Bug = "BUG", Chore = "CHORE", }
}

words! {
    /// The column of a ticket. An agent moves its ticket from research to verification. Only people move tickets into
    /// and out of the first and the last column.
    State {
        Backlog = "BACKLOG",
        Research = "RESEARCH",
        InProgress = "IN_PROGRESS",
        Verification = "VERIFICATION",
        Done = "DONE",
    }
}

words! {
    /// The sub-state of a ticket within its column.
    SubState {
        /// A person returned the ticket from verification.
        Returned = "returned",
        /// The ticket's agent asked a question.
        Blocked = "blocked",
        /// A call of the ticket's agent waits for a person's decision.
        Waiting = "waiting",
        /// The ticket's agent ended without the results that the column requires.
        Failed = "failed",
        /// The ticket's agent ended with a completion, and the ticket stays in its column.
        Finished = "finished",
    }
}

words! {
    /// The purpose of a comment.
    CommentKind {
        Question = "question",
        Status = "status",
        Completion = "completion",
        /// A comment of a person to the agent.
        Feedback = "feedback",
    }
}

words! {
    /// The author of a comment.
    Author { Human = "human", Agent = "agent", }
}

words! {
    /// The kind of a document.
    DocumentKind { Research = "RESEARCH", Plan = "IMPLEMENTATION_PLAN", Todo = "TODO", }
}

words! {
    /// The status of a document.
    DocumentStatus { Draft = "DRAFT", Ready = "READY", Approved = "APPROVED", }
}

words! {
    /// How a slice of work on a ticket ended.
    Outcome {
        /// The agent moved the ticket to verification, or posted a completion.
        Completed = "completed",
        /// The agent posted a question.
        Blocked = "blocked",
        /// A call of the agent waits for a person's decision.
        Waiting = "waiting",
        /// The slice ended before the run did.
        Timeout = "timeout",
        /// The slice ended with an error, or without any of these results.
        Error = "error",
    }
}

/// A project, whose tickets are about one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub id: i64,
    pub name: String,
    /// The repository's folder.
    pub repository: String,
    /// The address of the repository on the web, for people and models.
    pub url: Option<String>,
    pub language: Option<String>,
    /// The branch from which the branches of tickets start.
    pub branch: String,
    /// The description of the project's agents in one sentence, for their system prompt.
    pub persona: String,
}

/// A ticket, without its criteria, comments and documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub id: i64,
    pub project: i64,
    pub kind: TicketKind,
    pub state: State,
    pub sub_state: Option<SubState>,
    pub title: String,
    pub description: String,
    /// The name of the profile that selects the agent's tools.
    pub profile: String,
}

/// A new ticket.
#[derive(Debug, Clone)]
pub struct NewTicket {
    pub project: i64,
    pub kind: TicketKind,
    pub state: State,
    pub title: String,
    pub description: String,
    pub profile: String,
    pub criteria: Vec<(Evidence, String)>,
}

/// The evidence which shows that a criterion is met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The test suite passes.
    Tests,
    /// The linter finds nothing.
    Lint,
    /// The file with this path exists.
    File(String),
    /// A person decides.
    Person,
}

impl Evidence {
    /// Parses `tests: …`, `lint: …`, `file PATH: …` or `person: …`, the forms in which people write a criterion.
    ///
    /// # Errors
    /// When the criterion has another form, or no text.
    pub fn read_criterion(written: &str) -> Result<(Self, String), String> {
        let expected = "expected `tests: TEXT`, `lint: TEXT`, `file PATH: TEXT` or `person: TEXT`";
        let Some((evidence, text)) = written.split_once(':') else {
            return Err(format!("found `{written}`, {expected}"));
        };
        let evidence =
            evidence.trim().parse().map_err(|()| format!("found `{written}`, {expected}"))?;
        match text.trim() {
            "" => Err(format!("found no text in `{written}`, {expected}")),
            text => Ok((evidence, text.to_owned())),
        }
    }

    /// Returns whether a program can check the criterion.
    #[must_use]
    pub fn is_checked_by_program(&self) -> bool {
        *self != Self::Person
    }
}

impl FromStr for Evidence {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once(' ') {
            None if text == "tests" => Ok(Self::Tests),
            None if text == "lint" => Ok(Self::Lint),
            None if text == "person" => Ok(Self::Person),
            Some(("file", path)) if !path.trim().is_empty() => {
                Ok(Self::File(path.trim().to_owned()))
            }
            _ => Err(()),
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tests => formatter.write_str("tests"),
            Self::Lint => formatter.write_str("lint"),
            Self::File(path) => write!(formatter, "file {path}"),
            Self::Person => formatter.write_str("person"),
        }
    }
}

impl ToSql for Evidence {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_string().into())
    }
}

impl FromSql for Evidence {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        text.parse().map_err(|()| FromSqlError::Other(format!("`{text}` is not evidence").into()))
    }
}

/// An acceptance criterion, and whether it is met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    pub id: i64,
    pub text: String,
    pub evidence: Evidence,
    pub met: bool,
    /// The git tree of the check that found the criterion met; `None` for a decision of a person.
    pub tree: Option<String>,
    /// What the check found, or what the person said.
    pub finding: Option<String>,
}

impl Criterion {
    /// Returns whether the criterion is met by the worktree's files, whose git tree is `tree`.
    #[must_use]
    pub fn counts_for(&self, tree: &str) -> bool {
        self.met && (!self.evidence.is_checked_by_program() || self.tree.as_deref() == Some(tree))
    }
}

/// A comment on a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub id: i64,
    /// The id of the first comment of the thread; `None` for that comment itself.
    pub parent: Option<i64>,
    pub author: Author,
    pub author_id: String,
    pub author_name: String,
    pub kind: CommentKind,
    pub content: String,
    pub resolved: bool,
    pub created_at: Timestamp,
}

/// A comment to be added.
#[derive(Debug, Clone, Copy)]
pub struct NewComment<'a> {
    pub ticket: i64,
    pub parent: Option<i64>,
    pub author: Author,
    pub author_id: &'a str,
    pub author_name: &'a str,
    pub kind: CommentKind,
    pub content: &'a str,
    /// The idempotency key: a second comment with the same key is not added.
    pub key: Option<&'a str>,
}

/// A document that belongs to a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub kind: DocumentKind,
    pub status: DocumentStatus,
}
