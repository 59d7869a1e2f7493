//! The key that requests send. `Debug` does not show its text.

use std::fmt;
use std::sync::Arc;

use reqwest::header::HeaderValue;

use super::shown::{ShownPrefix, shown_at};

/// The minimum length of a real key, in bytes. The keys of vendors have forty bytes and more.
const SHORTEST: usize = 7;

/// The text of a key.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::http) struct Secret(Arc<str>);

impl Secret {
    /// Makes a key; `None` if the text is empty.
    pub(in crate::http) fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.into()))
    }

    /// Returns a header value that is marked as sensitive, so that libraries do not log it; `None` if a header cannot
    /// hold the key.
    pub(in crate::http) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Reports whether a text contains the key, unchanged or escaped.
    pub(in crate::http) fn is_in(&self, text: &str) -> bool {
        self.is_secret() && self.first_in(text).is_some()
    }

    /// Removes the key from a server's text, even if the server has escaped it. A short key, such as `test`, is a
    /// placeholder for a local server and not a secret; removing it would change the text of the model.
    pub(in crate::http) fn removed_from(&self, text: String) -> String {
        if !self.is_in(&text) {
            return text;
        }
        let (mut removed, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some((begin, end)) = self.first_in(rest) {
            removed.push_str(&rest[..begin]);
            removed.push_str("[key]");
            rest = &rest[end..];
        }
        removed + rest
    }

    /// Returns the position and the length of the key's first occurrence.
    fn first_in(&self, text: &str) -> Option<(usize, usize)> {
        let mut places = text.char_indices().map(|(begin, _)| begin);
        places.find_map(|begin| match shown_at(self.0.as_bytes(), &text.as_bytes()[begin..]) {
            // A match must not end within a character.
            ShownPrefix::Whole(length) if text.is_char_boundary(begin + length) => {
                Some((begin, begin + length))
            }
            _ => None,
        })
    }

    fn is_secret(&self) -> bool {
        self.0.len() >= SHORTEST
    }

    /// Returns the position from which the end of a text could be the beginning of the key. Returns the length of the
    /// text if there is no such position.
    pub(in crate::http) fn may_begin_in(&self, text: &str) -> usize {
        if !self.is_secret() {
            return text.len();
        }
        let is_begin = |begin: &usize| {
            shown_at(self.0.as_bytes(), &text.as_bytes()[*begin..]) == ShownPrefix::Begun
        };
        text.char_indices().map(|(begin, _)| begin).find(is_begin).unwrap_or(text.len())
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

    #[test]
    fn a_key_is_removed_however_a_server_escapes_it() {
        let key = Secret::new("sk/a+b=1\"&2").expect("it is not empty");
        for shown in [
            r#"sk/a+b=1"&2"#,
            r#"sk\/a+b=1\"&2"#,
            r#"sk\\\/a+b=1\\\"&2"#,
            r"\u0073k\u002fa\u002Bb=1\u0022\u00262",
            r#"sk%2Fa%2bb%3D1%22%262"#,
            r#"sk%252Fa%252Bb%253d1%2522%25262"#,
            r#"sk&#47;a&#x2B;b&#61;1&quot;&amp;2"#,
            r#"sk&#x2f;a+b=1&#34;&amp;2"#,
        ] {
            let text = |key: &str| format!("the key {key}, \\n of é");
            assert!(key.is_in(&text(shown)), "{shown}");
            assert_eq!(key.removed_from(text(shown)), text("[key]"), "{shown}");
            for end in 1..shown.len() {
                let begun = format!("é {}", &shown[..end]);
                assert_eq!(key.may_begin_in(&begun), 3, "{begun}");
            }
        }
        for other in ["sk%2Ga+b=1\"&2", "sk&47;a+b=1\"&2", "s\\k/a+b=1\"&2", "sk\\u002f"] {
            assert!(!key.is_in(other), "{other}");
        }
    }
}
