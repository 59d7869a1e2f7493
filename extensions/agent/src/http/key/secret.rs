//! A key as it is sent, which nothing shows.

use std::fmt;
use std::sync::Arc;

use reqwest::header::HeaderValue;

/// The text of a key.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::http) struct Secret(Arc<str>);

impl Secret {
    /// Nothing where the text is empty.
    pub(in crate::http) fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.into()))
    }

    /// The value of a header, marked so that no log of a library shows it. Nothing where a header cannot hold it.
    pub(in crate::http) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    pub(in crate::http) fn is_in(&self, text: &str) -> bool {
        text.contains(&*self.0)
    }

    /// Whatever a server said, without the key.
    pub(in crate::http) fn removed_from(&self, text: String) -> String {
        if self.is_in(&text) { text.replace(&*self.0, "[key]") } else { text }
    }

    /// Where the end of a text begins that may be the begin of the key; the length of the text where none may.
    pub(in crate::http) fn may_begin_in(&self, text: &str) -> usize {
        let begins = self.0.char_indices().map(|(end, _)| end).skip(1);
        let longest = begins.filter(|end| text.ends_with(&self.0[..*end])).last();
        text.len() - longest.unwrap_or_default()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}
