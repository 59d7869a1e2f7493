//! The digest of a call. A decision is valid only for a call with the digest that the decision names.
//!
//! - The texts are framed as a JSON array of strings, so that no text can be taken for a part of another one. The first
//!   text names the kind of the digest and its version, so that digests of different kinds are never equal.
//! - Arguments with secrets are digested with a key. Without the key, an attacker cannot find a secret by trying likely
//!   values.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::sealing::SealingKey;
use toolwright_core::json::canonical;
use toolwright_core::json::tree::write_quoted;

const CALL: &str = "toolwright call 2";
const CALL_WITH_SECRETS: &str = "toolwright call with secrets 2";
const SHOWN: &str = "toolwright shown 1";

/// The first text of digests in the previous format version, which did not contain the run and the session.
const FORMER_CALL: &str = "toolwright call 1";
const FORMER_CALL_WITH_SECRETS: &str = "toolwright call with secrets 1";

/// The input of a call's digest.
///
/// ```
/// use toolwright::unstable::arguments::{DigestInput, canonical, digest};
///
/// let of = |arguments, run| {
///     let arguments = &canonical(arguments)?;
///     let (user, session) = (Some("ada"), None);
///     Ok(digest(&DigestInput { tool: "send", fingerprint: "5af…", arguments, user, session, run }, None))
/// };
/// assert_eq!(of(r#"{"to":"ada","copies":2}"#, "run-1")?, of(r#"{"copies":2.0,"to":"ada"}"#, "run-1")?);
/// assert_ne!(of(r#"{"to":"ada","copies":2}"#, "run-1")?, of(r#"{"to":"ada","copies":3}"#, "run-1")?);
/// assert_ne!(of(r#"{"to":"ada","copies":2}"#, "run-1")?, of(r#"{"to":"ada","copies":2}"#, "run-2")?);
/// # Ok::<(), toolwright::unstable::arguments::ArgumentsError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DigestInput<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The [`fingerprint`](super::fingerprint()) of the tool's definition.
    pub fingerprint: &'a str,
    /// The [`canonical`](super::canonical()) arguments.
    pub arguments: &'a str,
    /// The user on whose behalf the call is made.
    pub user: Option<&'a str>,
    /// The session of the call's run.
    pub session: Option<&'a str>,
    /// The call's run.
    pub run: &'a str,
}

/// The result of comparing a digest with the digest of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestMatch {
    /// The digest is that of the call.
    Current,
    /// The digest is that of the call, computed by the rules of the previous format version.
    Former,
    /// The digest is not that of the call.
    Other,
}

impl DigestMatch {
    /// Compares a digest with that of a call.
    #[must_use]
    pub fn of(found: &str, input: &DigestInput<'_>, key: Option<&SealingKey>) -> Self {
        if found == digest(input, key) {
            Self::Current
        } else if found == former_digest(input, key) {
            Self::Former
        } else {
            Self::Other
        }
    }
}

/// Computes the digest of a call, as 64 hexadecimal digits.
///
/// Pass a key if the arguments hold secrets ([`FinalArguments::has_secrets`](super::FinalArguments::has_secrets)), and
/// only then. An approver who allows a call with other arguments computes the digest without the key, so arguments
/// without secrets must be digested without it.
#[must_use]
pub fn digest(input: &DigestInput<'_>, key: Option<&SealingKey>) -> String {
    let DigestInput { tool, fingerprint, arguments, user, session, run } = *input;
    let of = if key.is_some() { CALL_WITH_SECRETS } else { CALL };
    let texts = [of, tool, fingerprint, arguments, run].map(Some);
    hash(&framed_optional(texts.into_iter().chain([user, session])), key)
}

/// Computes the digest of a call by the rules of the previous format version.
fn former_digest(input: &DigestInput<'_>, key: Option<&SealingKey>) -> String {
    let DigestInput { tool, fingerprint, arguments, user, .. } = *input;
    let of = if key.is_some() { FORMER_CALL_WITH_SECRETS } else { FORMER_CALL };
    hash(&frame(&[of, tool, fingerprint, arguments, user.unwrap_or_default()]), key)
}

/// Computes the digest of what a person is shown of a call: the call's own digest, and the arguments with secrets
/// masked. Returns `None` if the shown arguments are not JSON, which no executor shows.
#[must_use]
pub fn shown_digest(digest: &str, shown: &str) -> Option<String> {
    let shown = canonical(shown).ok()?;
    Some(hash(&frame(&[SHOWN, digest, &shown]), None))
}

fn hash(framed: &str, key: Option<&SealingKey>) -> String {
    match key {
        None => hex::encode(Sha256::digest(framed)),
        Some(key) => hex::encode(hmac(&*key.for_digests(), framed)),
    }
}

/// Joins several texts into one, so that different lists never give the same text.
pub(super) fn frame(texts: &[&str]) -> String {
    framed_optional(texts.iter().copied().map(Some))
}

/// Joins texts into one, in which a missing text differs from every present one.
fn framed_optional<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut out = String::from("[");
    for (index, text) in texts.enumerate() {
        if index > 0 {
            out.push(',');
        }
        match text {
            Some(text) => write_quoted(text, &mut out),
            None => out.push_str("null"),
        }
    }
    out.push(']');
    out
}

/// Computes HMAC-SHA-256.
pub(super) fn hmac(key: &[u8], text: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}
