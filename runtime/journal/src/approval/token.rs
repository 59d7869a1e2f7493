//! Tokens of calls that another process carries out. The holder of a token may supply the result of its call.
//!
//! - A token contains a signature over the id, generation, digest, deadline, journal and project of the call. The
//!   signature is verified against the record, so that the token is valid for no other call.
//! - A key always makes the same signature for the same text. So a process with the same key makes the same token after
//!   a restart.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::Serialize;

use super::key::{ApproverKey, PublicKey};
use crate::journal::CallRecord;
use toolwright_core::context::CallId;

/// The prefix of each signed text, so that a token cannot be used as a statement, nor a statement as a token.
const DOMAIN: &str = "toolwright hand-over 1\n";

/// The separator between the parts of a token.
const BETWEEN: char = '.';

/// The number of digits of the public key that a token contains.
const NAMED: usize = 16;

/// A token with which its holder may supply the result of one call. Its [`Display`](fmt::Display) is the text to hand
/// on.
#[derive(Clone, PartialEq, Eq)]
pub struct HandOverToken {
    call: CallId,
    generation: u32,
    /// The first digits of the public key.
    key: String,
    signature: String,
}

/// The facts that the signature of a token covers.
#[derive(Serialize)]
struct HandOver<'a> {
    call: CallId,
    generation: u32,
    digest: &'a str,
    until: Timestamp,
    journal: Option<&'a str>,
    project: Option<&'a str>,
}

impl HandOverToken {
    /// Makes the token of a call that was handed over. Returns `None` for any other call.
    #[must_use]
    pub fn of(record: &CallRecord, key: &ApproverKey) -> Option<Self> {
        let signature = key.sign_text(DOMAIN, &text(record)?);
        let (call, generation) = (record.id, record.generation);
        Some(Self { call, generation, key: named(key.public()), signature })
    }

    /// Returns the id of the call that the token names.
    #[must_use]
    pub fn call(&self) -> CallId {
        self.call
    }

    /// Checks that this key signed the token for the call of this record.
    ///
    /// # Errors
    /// When the key did not sign the token for this call. The error says what differs.
    pub fn verify(&self, record: &CallRecord, key: PublicKey) -> Result<(), InvalidToken> {
        if self.call != record.id {
            return Err(InvalidToken::OtherCall { of: self.call, call: record.id });
        }
        let Some(text) = text(record) else {
            return Err(InvalidToken::NotHandedOver { call: record.id });
        };
        if self.generation != record.generation {
            let (of, generation) = (self.generation, record.generation);
            return Err(InvalidToken::OtherGeneration { of, generation });
        }
        if self.key != named(key) {
            return Err(InvalidToken::OtherKey { of: self.key.clone(), key: named(key) });
        }
        match key.has_signed_text(DOMAIN, &text, &self.signature) {
            Some(true) => Ok(()),
            Some(false) | None => Err(InvalidToken::Altered { call: record.id }),
        }
    }
}

/// Returns the text that the signature of a token covers; `None` if the call was not handed over.
fn text(record: &CallRecord) -> Option<String> {
    let hand_over = HandOver {
        call: record.id,
        generation: record.generation,
        digest: &record.digest,
        until: record.handed_over_until?,
        journal: record.journal.as_deref(),
        project: record.project.as_deref(),
    };
    serde_json::to_string(&hand_over).ok()
}

fn named(key: PublicKey) -> String {
    let text = key.to_string();
    text.rsplit(':').next().unwrap_or_default().chars().take(NAMED).collect()
}

impl fmt::Display for HandOverToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, generation, key, signature } = self;
        write!(formatter, "{call}{BETWEEN}{generation}{BETWEEN}{key}{BETWEEN}{signature}")
    }
}

/// Omits the signature, because a reader of the log could supply a result with it.
impl fmt::Debug for HandOverToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HandOverToken({}, generation {})", self.call, self.generation)
    }
}

impl FromStr for HandOverToken {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let parts: Vec<&str> = text.split(BETWEEN).collect();
        let [call, generation, key, signature] = parts[..] else {
            return Err(InvalidToken::Unreadable);
        };
        let (call, generation) = (call.parse(), generation.parse());
        match (call, generation) {
            (Ok(call), Ok(generation)) => {
                Ok(Self { call, generation, key: key.to_owned(), signature: signature.to_owned() })
            }
            _ => Err(InvalidToken::Unreadable),
        }
    }
}

/// Why a token is not valid for a call. The errors do not repeat the token's text, because it may be valid for another
/// call.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidToken {
    /// The text is not a token.
    #[error(
        "the text is no token: a token is the text that came with the call that was handed over, unchanged"
    )]
    Unreadable,
    /// The token belongs to another call.
    #[error("the token is of call {of}, and the result is supplied for call {call}")]
    OtherCall {
        /// The call that the token belongs to.
        of: CallId,
        /// The call that the result is supplied for.
        call: CallId,
    },
    /// The token is for another generation of the call.
    #[error("the token is of generation {of} of the call, which is of generation {generation} now")]
    OtherGeneration {
        /// The generation of the token.
        of: u32,
        /// The generation of the call.
        generation: u32,
    },
    /// The token was signed with another key, for example before a restart of an executor without a stored key.
    #[error(
        "the token was signed with key {of}…, and this executor signs with {key}…: give its journal a stored key by `Journal::hand_over_key`"
    )]
    OtherKey {
        /// The first digits of the key that signed the token.
        of: String,
        /// The first digits of the executor's key.
        key: String,
    },
    /// The signature of the token does not match the call's record.
    #[error(
        "the token or the record of call {call} was altered: its signature does not fit the call as it is"
    )]
    Altered {
        /// The id of the call.
        call: CallId,
    },
    /// The call has not been handed over.
    #[error("call {call} was never handed over")]
    NotHandedOver {
        /// The id of the call.
        call: CallId,
    },
}
toolwright_core::debug_as_sentence!(InvalidToken);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::CallSlot;

    fn record(id: u8) -> CallRecord {
        let slot = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
        let now = Timestamp::UNIX_EPOCH;
        CallRecord::draft(CallId::from_bytes([id; 16]), slot, "ask", now).with(|it| {
            it.digest = "d1".to_owned();
            it.handed_over_until = Some(now);
        })
    }

    fn key(seed: u8) -> ApproverKey {
        ApproverKey::from_seed("executor", [seed; 32]).expect("a name")
    }

    #[test]
    fn a_token_counts_for_its_call_and_is_equal_when_it_is_made_again() {
        let (record, key) = (record(1), key(1));
        let token = HandOverToken::of(&record, &key).expect("handed over").to_string();
        assert_eq!(Some(token.clone()), HandOverToken::of(&record, &key).map(|it| it.to_string()));
        let token: HandOverToken = token.parse().expect("a token");
        assert_eq!(token.verify(&record, key.public()), Ok(()));
        assert!(!format!("{token:?}").contains(&token.signature));
    }

    #[test]
    fn a_token_counts_for_nothing_else_and_the_error_says_what_it_is_of() {
        let (call, key, other) = (record(1), key(1), key(2));
        let token = HandOverToken::of(&call, &key).expect("handed over");
        let (of, to) = (call.id, record(2).id);
        let found = token.verify(&record(2), key.public());
        assert_eq!(found, Err(InvalidToken::OtherCall { of, call: to }));
        let found = token.verify(&call.clone().with(|it| it.generation = 2), key.public());
        assert_eq!(found, Err(InvalidToken::OtherGeneration { of: 1, generation: 2 }));
        let found = token.verify(&call, other.public());
        assert!(matches!(found, Err(InvalidToken::OtherKey { .. })), "{found:?}");
        for altered in [
            call.clone().with(|it| it.digest = "d2".to_owned()),
            call.clone().with(|it| it.handed_over_until = Some(Timestamp::MAX)),
            call.clone().with(|it| it.journal = Some("another".to_owned())),
            call.clone().with(|it| it.project = Some("another".to_owned())),
        ] {
            let found = token.verify(&altered, key.public());
            assert_eq!(found, Err(InvalidToken::Altered { call: of }));
        }
        let found = token.verify(&call.with(|it| it.handed_over_until = None), key.public());
        assert_eq!(found, Err(InvalidToken::NotHandedOver { call: of }));
    }

    #[test]
    fn what_is_no_token_is_not_read_and_a_statement_is_none() {
        let call = record(1);
        let token = HandOverToken::of(&call, &key(1)).expect("handed over");
        for text in ["", "a.b.c", "1.2.3.4", &format!("{token}.5")] {
            assert_eq!(text.parse::<HandOverToken>(), Err(InvalidToken::Unreadable), "{text}");
        }
        let signature = key(1).sign_text("toolwright statement 1\n", &text(&call).expect("a text"));
        let statement = HandOverToken { signature, ..token };
        assert_eq!(
            statement.verify(&call, key(1).public()),
            Err(InvalidToken::Altered { call: call.id })
        );
    }
}
