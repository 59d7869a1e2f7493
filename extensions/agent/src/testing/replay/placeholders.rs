//! Placeholders for parts that differ between runs.

use std::fmt;

use regex::{Captures, Regex};
use serde_json::Value;

/// The placeholder of a secret argument. A request may have any value in its place.
pub(crate) const SECRET: &str = "{{secret}}";

/// Placeholders for parts that differ between runs: `{{duration}}` in a recording matches any duration.
///
/// | name | matches |
/// | --- | --- |
/// | `{{duration}}` | a time span with decimals, `0.05s`, `12.5 ms` |
/// | `{{time}}` | a date with its time, `2026-01-31T09:30:00Z` |
/// | `{{hash}}` | 16, 40 or 64 hexadecimal digits |
/// | `{{thread}}` | the number of a thread that panicked |
/// | `{{secret}}` | any text; it replaces a secret argument, which is not recorded |
/// | a name of your own | a value of this run, such as the folder in which it works |
///
/// The patterns apply only in the messages of a request. A duration that changes in the description of a tool, for
/// instance, is a difference.
///
/// ```
/// use toolwright_agent::testing::Placeholders;
///
/// let placeholders = Placeholders::standard().value("folder", "/tmp/work-1");
/// let text = "ran in /tmp/work-1, finished in 0.05s";
/// assert_eq!(placeholders.recorded(text), "ran in {{folder}}, finished in {{duration}}");
/// ```
#[derive(Clone)]
pub struct Placeholders {
    patterns: Vec<Pattern>,
    /// Sorted by length, the longest first, so that a folder is replaced before its parent.
    values: Vec<(String, String)>,
}

#[derive(Clone)]
struct Pattern {
    name: &'static str,
    /// The regular expression. Its first group stays, and the rest of the match is replaced.
    regex: Regex,
}

impl Placeholders {
    /// Returns the patterns that every recording may use.
    #[must_use]
    pub fn standard() -> Self {
        let patterns = [
            ("time", r"()\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?\b"),
            ("duration", r"()\b\d+\.\d+ ?(?:ns|µs|us|ms|s|m|h)\b"),
            ("hash", r"()\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{16})\b"),
            ("thread", r"(thread '[^'\n]*' \()\d+\b"),
        ];
        let patterns = patterns.into_iter().map(|(name, pattern)| Pattern {
            name,
            regex: Regex::new(pattern).expect("the patterns are constants that compile"),
        });
        Self { patterns: patterns.collect(), values: Vec::new() }
    }

    /// Adds a name for a value of this run. An empty value is ignored.
    #[must_use]
    pub fn value(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.values.push((format!("{{{{{name}}}}}"), value));
            self.values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        }
        self
    }

    /// Replaces the parts that differ between runs by their placeholders.
    #[must_use]
    pub fn recorded(&self, text: &str) -> String {
        let named = self.named(text);
        self.patterns.iter().fold(named, |text, pattern| {
            let name = |found: &Captures<'_>| format!("{}{{{{{}}}}}", &found[1], pattern.name);
            pattern.regex.replace_all(&text, name).into_owned()
        })
    }

    /// Replaces the values of this run by their placeholders, and nothing else.
    pub(crate) fn named(&self, text: &str) -> String {
        let named = |text: String, (name, value): &(String, String)| text.replace(value, name);
        self.values.iter().fold(text.to_owned(), named)
    }

    /// Replaces the placeholders in a recorded JSON body by the values of this run.
    pub(crate) fn filled_in(&self, json: &str) -> String {
        self.values.iter().fold(json.to_owned(), |json, (name, value)| {
            let quoted = Value::from(value.as_str()).to_string();
            json.replace(name, quoted.trim_matches('"'))
        })
    }

    /// Reports whether a received text matches the recorded text.
    pub(crate) fn fits(&self, recorded: &str, received: &str, has_patterns: bool) -> bool {
        let received = if has_patterns { self.recorded(received) } else { self.named(received) };
        if !recorded.contains(SECRET) {
            return recorded == received;
        }
        let mut parts = recorded.split(SECRET);
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = received.strip_prefix(first) else { return false };
        let mut parts = parts.peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return rest.ends_with(part);
            }
            let Some((_, after)) = rest.split_once(part) else { return false };
            rest = after;
        }
        rest.is_empty()
    }
}

/// Omits the values of the placeholders.
impl fmt::Debug for Placeholders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.patterns.iter().map(|it| it.name);
        let own = self.values.iter().map(|(name, _)| name.trim_matches(['{', '}']));
        formatter.debug_tuple("Placeholders").field(&names.chain(own).collect::<Vec<_>>()).finish()
    }
}
