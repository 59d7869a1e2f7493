//! A key, which nothing shows.

use std::fmt;

use reqwest::header::HeaderValue;

/// The key of an account.
#[derive(Clone)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a header, marked so that no log of a library shows it. Nothing where a header cannot hold it.
    pub(super) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Whatever a server said, without the key.
    pub(super) fn removed_from(&self, text: String) -> String {
        let is_in_it = !self.0.is_empty() && text.contains(&self.0);
        if is_in_it { text.replace(&self.0, "[key]") } else { text }
    }

    /// Where the end of a text begins that may be the begin of the key; the length of the text where none may.
    pub(super) fn may_begin_in(&self, text: &str) -> usize {
        let begins = self.0.char_indices().map(|(end, _)| end).skip(1);
        let longest = begins.filter(|end| text.ends_with(&self.0[..*end])).last();
        text.len() - longest.unwrap_or_default()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(…)")
    }
}
