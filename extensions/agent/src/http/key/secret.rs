//! A key as it is sent, which nothing shows.

use std::fmt;
use std::sync::Arc;

use reqwest::header::HeaderValue;

/// The fewest bytes of a key that is one: those of vendors have forty and more.
const SHORTEST: usize = 7;

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

    /// Whether a text shows it.
    pub(in crate::http) fn is_in(&self, text: &str) -> bool {
        self.is_secret() && text.contains(&*self.0)
    }

    /// Whatever a server said, without the key. A short key is no secret but what a local server is given in the place of one,
    /// such as `test`: to remove it would change what the model said.
    pub(in crate::http) fn removed_from(&self, text: String) -> String {
        if self.is_in(&text) { text.replace(&*self.0, "[key]") } else { text }
    }

    fn is_secret(&self) -> bool {
        self.0.len() >= SHORTEST
    }

    /// Where the end of a text begins that may be the begin of the key; the length of the text where none may.
    pub(in crate::http) fn may_begin_in(&self, text: &str) -> usize {
        if !self.is_secret() {
            return text.len();
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_key_at_a_local_server_changes_no_answer() {
        let answer = r#"{"path":"tests/a.rs"}"#;
        for (key, expected) in [("test", answer), ("hunter2", answer)] {
            let key = Secret::new(key).expect("it is not empty");
            assert_eq!(key.removed_from(answer.to_owned()), expected);
            assert_eq!(key.may_begin_in("te"), 2);
        }
        let key = Secret::new("tests/a").expect("it is not empty");
        assert_eq!(key.removed_from(answer.to_owned()), r#"{"path":"[key].rs"}"#);
        assert_eq!(key.may_begin_in("a te"), 2);
    }
}
