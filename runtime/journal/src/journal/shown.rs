//! The arguments that a call's record shows to people, and the digests that decisions are bound to.

use super::record::{CallRecord, StoredText};
use crate::arguments::{DigestInput, DigestMatch, SealingKey, digest, shown_digest};
use toolwright_core::json::canonical;

impl CallRecord {
    /// Reports whether the arguments that the record shows to people are those that would run. An attacker who can
    /// write to the journal could show one call and have another one approved, so this is checked before a person
    /// decides. Returns `None` if the arguments are encrypted or not stored: encrypted ones can only be checked with
    /// the executor's key.
    #[must_use]
    pub fn shows_what_is_judged(&self) -> Option<bool> {
        let StoredText::Plain(arguments) = &self.arguments else { return None };
        let Ok(shown) = canonical(&self.shown) else { return Some(false) };
        // Arguments without secrets are shown as they are, so a difference means that one of the two was changed.
        if canonical(arguments).as_ref() != Ok(&shown) {
            return Some(false);
        }
        Some(self.compare_digest(&self.fingerprint, &shown, None) != DigestMatch::Other)
    }

    /// Computes the digest that the call would have with these arguments, which are canonical and hold no secrets.
    ///
    /// ```
    /// use toolwright::CallId;
    /// use toolwright::journal::{CallRecord, CallSlot};
    ///
    /// let slot = CallSlot { run: "run".to_owned(), turn: None, index: 0 };
    /// let record = CallRecord::draft(CallId::new(), slot, "send_mail", jiff::Timestamp::UNIX_EPOCH);
    /// assert_ne!(record.digest_with(r#"{"to":"ada"}"#), record.digest_with(r#"{"to":"eve"}"#));
    /// ```
    #[must_use]
    pub fn digest_with(&self, canonical: &str) -> String {
        digest(&self.digest_input(&self.fingerprint, canonical), None)
    }

    /// Computes the digest of the arguments that people are shown. A decision names this digest in addition to the
    /// digest of the call. Returns `None` if the shown arguments are not JSON.
    #[must_use]
    pub fn shown_digest(&self) -> Option<String> {
        shown_digest(&self.digest, &self.shown)
    }

    /// Returns the input of the call's digest for a fingerprint of its tool's definition and for canonical arguments.
    #[doc(hidden)]
    #[must_use]
    pub fn digest_input<'a>(&'a self, fingerprint: &'a str, canonical: &'a str) -> DigestInput<'a> {
        DigestInput {
            tool: &self.tool,
            fingerprint,
            arguments: canonical,
            user: self.requester.user.as_deref(),
            session: self.requester.session.as_deref(),
            run: &self.place.run,
        }
    }

    /// Compares the digest in the record with the digest computed from these arguments.
    #[doc(hidden)]
    #[must_use]
    pub fn compare_digest(
        &self,
        fingerprint: &str,
        canonical: &str,
        key: Option<&SealingKey>,
    ) -> DigestMatch {
        DigestMatch::of(&self.digest, &self.digest_input(fingerprint, canonical), key)
    }
}
