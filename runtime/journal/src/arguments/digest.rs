//! The digest of a call, to which a decision is bound.
//!
//! - The texts are framed as a JSON array of strings, in which none can be taken for a part of another. Its first is
//!   what the digest is of, with a version, so that no digest of one kind is one of another.
//! - Arguments that hold secrets are digested with a key: without it nobody can try likely secrets.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::sealing::SealingKey;
use toolwright_core::json::tree::write_quoted;

const CALL: &str = "toolwright call 1";
const CALL_WITH_SECRETS: &str = "toolwright call with secrets 1";

/// The digest of a call, as 64 hexadecimal digits: of the tool's name, the [`fingerprint`](super::fingerprint()) of its
/// definition, its [`canonical`](super::canonical()) arguments, and on whose behalf it is made.
///
/// With a key where the arguments hold secrets ([`FinalArguments::has_secrets`](super::FinalArguments::has_secrets)),
/// and only there: it tells the executor's own calls from others, and a digest without one can be worked out by whoever
/// proposes other arguments.
///
/// ```
/// use toolwright::unstable::arguments::{canonical, digest};
///
/// let of = |arguments| Ok(digest("send", "5af…", &canonical(arguments)?, "agent:7", None));
/// assert_eq!(of(r#"{"to":"ada","copies":2}"#)?, of(r#"{"copies":2.0,"to":"ada"}"#)?);
/// assert_ne!(of(r#"{"to":"ada","copies":2}"#)?, of(r#"{"to":"ada","copies":3}"#)?);
/// # Ok::<(), toolwright::unstable::arguments::ArgumentsError>(())
/// ```
#[must_use]
pub fn digest(
    tool: &str,
    fingerprint: &str,
    canonical: &str,
    principal: &str,
    key: Option<&SealingKey>,
) -> String {
    let of = if key.is_some() { CALL_WITH_SECRETS } else { CALL };
    let framed = framed(&[of, tool, fingerprint, canonical, principal]);
    match key {
        None => hex::encode(Sha256::digest(framed)),
        Some(key) => hex::encode(keyed(&*key.for_digests(), &framed)),
    }
}

/// Texts as one text.
pub(super) fn framed(texts: &[&str]) -> String {
    let mut out = String::from("[");
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_quoted(text, &mut out);
    }
    out.push(']');
    out
}

/// HMAC-SHA-256.
pub(super) fn keyed(key: &[u8], text: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}
