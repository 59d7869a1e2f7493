//! The data of the board: tickets, criteria, comments, documents. Enums have one text for each value.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;

/// A text that is not one of the expected words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found `{found}`, expected one of {expected}")]
pub struct UnknownWord {
    found: String,
    expected: String,
}

/// Makes an enum with one text for each value: in the database, in JSON and at the terminal.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        pub enum $name { $($(#[$value_doc])* #[serde(rename = $text)] $value,)+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value,)+];

            /// Returns the text.
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
    /// The column of a ticket. An agent moves it from research to verification; only people move it into and out of
    /// the first and the last column.
    State {
        Backlog = "BACKLOG",
        Research = "RESEARCH",
        InProgress = "IN_PROGRESS",
        Verification = "VERIFICATION",
        Done = "DONE",
    }
}

words! {
    /// The sub-state of a ticket in its column.
    SubState {
        /// A person sent the ticket back from verification.
        Returned = "returned",
        /// The agent of the ticket asked a question.
        Blocked = "blocked",
        /// A call of the ticket's agent waits for a person's decision.
        Waiting = "waiting",
        /// The agent of the ticket ended without doing what the ticket needs.
        Failed = "failed",
        /// Its agent ended and posted a completion, and the ticket stays in its column.
        Finished = "finished",
    }
}

words! {
    /// The purpose of a comment.
    CommentKind {
        Question = "question",
        Status = "status",
        Completion = "completion",
        /// Written by a person.
        Feedback = "feedback",
    }
}

words! {
    /// Who wrote a comment.
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
        /// The ticket is in verification, or a completion was posted.
        Completed = "completed",
        /// The agent posted a question.
        Blocked = "blocked",
        /// A call waits for a person's decision.
        Waiting = "waiting",
        /// The slice ended before the run did.
        Timeout = "timeout",
        /// The slice ended in any other way.
        Error = "error",
    }
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub id: i64,
    pub name: String,
    /// The repository's folder.
    pub repository: String,
    /// The repository's address, for people and models.
    pub url: Option<String>,
    pub language: Option<String>,
    /// The branch from which tickets branch off.
    pub branch: String,
    /// Describes the agents of the project, in a sentence.
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
    /// The profile of the ticket's agent.
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

/// The evidence that a criterion is met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The test suite passes.
    Tests,
    /// The linter finds nothing.
    Lint,
    /// A file exists.
    File(String),
    /// A person confirms that the criterion is met.
    Person,
}

impl Evidence {
    /// Reads `tests: …`, `lint: …`, `file PATH: …` or `person: …`, the form in which people write a criterion.
    ///
    /// # Errors
    /// When it has another form, or no text.
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

    /// Returns whether a program can check this evidence.
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
    /// The git tree in which the criterion was found to be met; `None` if a person said so.
    pub tree: Option<String>,
    /// What the last check of the criterion found.
    pub finding: Option<String>,
}

impl Criterion {
    /// Returns whether the criterion is met by the present files of the worktree.
    #[must_use]
    pub fn counts_for(&self, tree: &str) -> bool {
        self.met && (!self.evidence.is_checked_by_program() || self.tree.as_deref() == Some(tree))
    }
}

/// A comment on a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub id: i64,
    /// The first comment of the thread; `None` if this is the first one.
    pub parent: Option<i64>,
    pub author: Author,
    pub author_id: String,
    pub author_name: String,
    pub kind: CommentKind,
    pub content: String,
    pub resolved: bool,
    pub created_at: Timestamp,
}

/// A new comment.
#[derive(Debug, Clone, Copy)]
pub struct NewComment<'a> {
    pub ticket: i64,
    pub parent: Option<i64>,
    pub author: Author,
    pub author_id: &'a str,
    pub author_name: &'a str,
    pub kind: CommentKind,
    pub content: &'a str,
    /// The key of the comment. A second comment with the same key is not written.
    pub key: Option<&'a str>,
}

/// A document that belongs to a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub kind: DocumentKind,
    pub status: DocumentStatus,
}
