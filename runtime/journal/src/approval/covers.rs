//! Decides whether a grant's terms cover a call. This code does no I/O and reads no clock; the caller passes the time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::grant::{Clause, GrantTerms, Scope};
use toolwright_core::json::pointer::{index, segments};
use toolwright_core::json::{ArgumentsError, canonical};

/// A call that a grant may cover.
#[derive(Debug, Clone, Copy)]
pub struct GrantCandidate<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The fingerprint of the tool's present definition.
    pub fingerprint: &'a str,
    /// The final arguments of the call, as JSON text.
    pub arguments: &'a str,
    /// The call's run.
    pub run: &'a str,
    /// The session that the run belongs to.
    pub session: Option<&'a str>,
    /// The project that the run belongs to.
    pub project: Option<&'a str>,
    /// The present time.
    pub now: Timestamp,
    /// How many calls have used the grant.
    pub used: u32,
}

/// Why the terms of a grant do not cover a call. An argument is named only by its place, because its value may be
/// secret.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCovered {
    /// The terms are for the calls of another tool.
    #[error("the grant is for tool {granted:?}, not for {asked:?}")]
    Tool {
        /// The grant's tool.
        granted: String,
        /// The call's tool.
        asked: String,
    },
    /// The tool's definition has changed since the grant was given.
    #[error("tool {0:?} has changed since the grant was given: grant it again")]
    Fingerprint(String),
    /// The terms are not valid in the run, session or project of the call.
    #[error("the grant counts in another run, session or project")]
    Scope,
    /// The terms have expired.
    #[error("the grant ended at {0}")]
    Ended(Timestamp),
    /// The grant has no uses left.
    #[error("the grant was for {0} calls, which have been made")]
    UsedUp(u32),
    /// The call's arguments cannot be read.
    #[error("the call's arguments cannot be compared")]
    Unreadable(#[from] ArgumentsError),
    /// The terms have no conditions on arguments, so they cover only calls without arguments, and this call has some.
    #[error("the grant says nothing of arguments, so it covers only a call that has none")]
    HasArguments,
    /// The argument at this JSON pointer does not meet a condition of the terms.
    #[error("the grant does not cover what the call gives at {0:?}")]
    Clause(String),
}
toolwright_core::debug_as_sentence!(NotCovered);

/// Why the terms of a grant are useless, so that they should not be signed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UselessTerms {
    /// The time until which the terms are valid has already passed.
    #[error("they ended at {0}, which is past: give a later time, or none")]
    Ended(Timestamp),
    /// The terms allow no call at all.
    #[error("`uses` is 0; leave it out for no limit")]
    NoUses,
    /// The place of a clause is not a JSON pointer.
    #[error("{0:?} is no JSON pointer: it is empty for all of the arguments, or begins with `/`")]
    Pointer(String),
    /// A clause accepts no value.
    #[error("the clause at {0:?} accepts no value: give at least one")]
    NoValues(String),
    /// A value of a clause is not JSON.
    #[error("a value of the clause at {pointer:?} is not JSON: write a text in double quotes")]
    Value {
        /// The place that the clause tests.
        pointer: String,
        /// Why the value is not JSON.
        #[source]
        error: ArgumentsError,
    },
}
toolwright_core::debug_as_sentence!(UselessTerms);

impl GrantTerms {
    /// Checks whether the terms cover a call. Numbers are compared by their exact value, and objects without regard to
    /// the order of their keys. A condition on an argument that is missing does not hold. Arguments without a condition
    /// may have any value, unless the terms have no conditions at all.
    ///
    /// ```
    /// use toolwright::approval::{Clause, GrantTerms, Scope};
    /// use toolwright::unstable::approval::GrantCandidate;
    ///
    /// let terms = GrantTerms {
    ///     scope: Scope::Run("run-1".to_owned()),
    ///     tool: "send_mail".to_owned(),
    ///     fingerprint: "f1".to_owned(),
    ///     arguments: vec![Clause { pointer: "/copies".to_owned(), is_one_of: vec!["2".to_owned()] }],
    ///     until: None,
    ///     uses: Some(3),
    /// };
    /// let asked = GrantCandidate {
    ///     tool: "send_mail",
    ///     fingerprint: "f1",
    ///     arguments: r#"{"copies":2.0}"#,
    ///     run: "run-1",
    ///     session: None,
    ///     project: None,
    ///     now: "2026-01-02T03:04:05Z".parse()?,
    ///     used: 2,
    /// };
    /// assert_eq!(terms.covers(&asked), Ok(()));
    /// assert!(terms.covers(&GrantCandidate { arguments: r#"{"copies":3}"#, ..asked }).is_err());
    /// # Ok::<(), jiff::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the terms do not cover the call; the error says why.
    pub fn covers(&self, asked: &GrantCandidate<'_>) -> Result<(), NotCovered> {
        self.count(asked)?;
        self.take(asked.arguments)
    }

    /// Checks everything but the conditions on arguments.
    #[doc(hidden)]
    pub fn count(&self, asked: &GrantCandidate<'_>) -> Result<(), NotCovered> {
        if self.tool != asked.tool {
            let (granted, asked) = (self.tool.clone(), asked.tool.to_owned());
            return Err(NotCovered::Tool { granted, asked });
        }
        if self.fingerprint != asked.fingerprint {
            return Err(NotCovered::Fingerprint(self.tool.clone()));
        }
        let here = match &self.scope {
            Scope::Run(run) => run == asked.run,
            Scope::Session(session) => Some(session.as_str()) == asked.session,
            Scope::Project(project) => Some(project.as_str()) == asked.project,
            Scope::Forever => true,
        };
        if !here {
            return Err(NotCovered::Scope);
        }
        if let Some(until) = self.until.filter(|until| asked.now >= *until) {
            return Err(NotCovered::Ended(until));
        }
        if let Some(uses) = self.uses.filter(|uses| asked.used >= *uses) {
            return Err(NotCovered::UsedUp(uses));
        }
        Ok(())
    }

    /// Checks whether the terms accept the arguments of a call.
    #[doc(hidden)]
    pub fn take(&self, arguments: &str) -> Result<(), NotCovered> {
        let arguments = canonical(arguments)?;
        if self.arguments.is_empty() && arguments != "{}" {
            return Err(NotCovered::HasArguments);
        }
        let broken = self.arguments.iter().find(|clause| !clause.holds(&arguments));
        broken.map_or(Ok(()), |clause| Err(NotCovered::Clause(clause.pointer.clone())))
    }

    /// Checks whether the terms could cover any call from the time `now` on.
    ///
    /// # Errors
    /// When the terms can cover no call; the error says why.
    pub fn check(&self, now: Timestamp) -> Result<(), UselessTerms> {
        if let Some(until) = self.until.filter(|until| now >= *until) {
            return Err(UselessTerms::Ended(until));
        }
        if self.uses == Some(0) {
            return Err(UselessTerms::NoUses);
        }
        self.arguments.iter().try_for_each(Clause::check)
    }
}

impl Clause {
    fn holds(&self, arguments: &str) -> bool {
        let Some(found) = at(arguments, &self.pointer) else { return false };
        self.is_one_of.iter().any(|value| canonical(value).is_ok_and(|value| value == found))
    }

    fn check(&self) -> Result<(), UselessTerms> {
        let pointer = || self.pointer.clone();
        if segments(&self.pointer).is_none() {
            return Err(UselessTerms::Pointer(pointer()));
        }
        if self.is_one_of.is_empty() {
            return Err(UselessTerms::NoValues(pointer()));
        }
        self.is_one_of.iter().try_for_each(|value| match canonical(value) {
            Ok(_) => Ok(()),
            Err(error) => Err(UselessTerms::Value { pointer: pointer(), error }),
        })
    }
}

/// Returns the value at a JSON pointer in a canonical text. Each part of a canonical text is canonical, so the value is
/// canonical too.
fn at<'a>(text: &'a str, pointer: &str) -> Option<&'a str> {
    segments(pointer)?.into_iter().try_fold(text, |text, segment| {
        let found = match text.as_bytes().first()? {
            b'{' => {
                let object: BTreeMap<Cow<'a, str>, &'a RawValue> =
                    serde_json::from_str(text).ok()?;
                *object.get(segment.as_str())?
            }
            b'[' => {
                let array: Vec<&'a RawValue> = serde_json::from_str(text).ok()?;
                *array.get(index(&segment)?)?
            }
            _ => return None,
        };
        Some(found.get())
    })
}
