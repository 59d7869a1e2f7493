//! A guard that forbids words and patterns.

use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, LazyLock};

use regex::{Regex, RegexBuilder};

use super::{AfterDecision, BeforeDecision, Guard, IntoGuards};

/// A guard that forbids words and patterns in the user's messages and the model's answers. Unless set otherwise, a
/// message of the user with a forbidden text ends the run, and an answer with a forbidden text is sent back to the
/// model.
///
/// Words match only whole words, ignoring case. The guard checks the text of an answer and the arguments of its calls.
///
/// ```
/// use toolwright_agent::{Agent, ForbiddenText, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let rivals = ForbiddenText::new("no-rivals").words(["Acme", "Umbrella"]).replacing("[a shop]");
/// let codes = ForbiddenText::new("no-codes").pattern(r"\bSHOP-\d{6}\b")?.only_answers();
/// let model = ScriptedModel::new().says("Better than ACME.");
/// let agent = Agent::builder(model).guard(rivals).guard(codes).build()?;
/// assert_eq!(agent.run("How is the tea?").await?.to_string(), "Better than [a shop].");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ForbiddenText {
    name: String,
    patterns: Vec<(String, Regex)>,
    replacement: Option<String>,
    stops: bool,
    prompts: bool,
    answers: bool,
}

/// The maximum number of passes of replacement, each of which may form new matches; after that, the whole text is
/// replaced.
const TIMES: usize = 10;

/// Find a word character at the beginning and at the end of a text. Only `\w` knows which characters `\b` counts as such:
/// `²` is alphanumeric, but no word character.
static EDGES: LazyLock<(Regex, Regex)> = LazyLock::new(|| {
    let pattern = |pattern| Regex::new(pattern).expect("it is a pattern; a test reads it");
    (pattern(r"\A\w"), pattern(r"\w\z"))
});

/// A pattern that is not a valid regular expression.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} cannot be read: {why}")]
#[non_exhaustive]
pub struct PatternError {
    /// The pattern that is not valid.
    pub pattern: String,
    /// Why the pattern is not a valid regular expression.
    pub why: String,
}
toolwright::unstable::debug_as_sentence!(PatternError);

impl ForbiddenText {
    /// Makes a guard with this name. It forbids nothing until words or patterns are added.
    pub fn new(name: impl Into<String>) -> Self {
        let (patterns, replacement) = (Vec::new(), None);
        Self {
            name: name.into(),
            patterns,
            replacement,
            stops: false,
            prompts: true,
            answers: true,
        }
    }

    /// Forbids these words, or groups of words. Empty words are ignored.
    #[must_use]
    pub fn words(mut self, words: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        for word in words {
            let word = word.as_ref().trim();
            if !word.is_empty() {
                self.patterns.push((word.to_owned(), whole(word)));
            }
        }
        self
    }

    /// Forbids text that matches a regular expression.
    ///
    /// # Errors
    /// When the regular expression is not valid, or matches the empty text.
    pub fn pattern(mut self, pattern: &str) -> Result<Self, PatternError> {
        let problem = |why: String| PatternError { pattern: pattern.to_owned(), why };
        let read = Regex::new(pattern).map_err(|error| problem(error.to_string()))?;
        if read.is_match("") {
            return Err(problem("it matches the empty text, and so every text".to_owned()));
        }
        self.patterns.push((pattern.to_owned(), read));
        Ok(self)
    }

    /// Replaces each match by this text, and lets the rest through.
    #[must_use]
    pub fn replacing(mut self, with: impl Into<String>) -> Self {
        self.replacement = Some(with.into());
        self
    }

    /// Makes the guard end the run when an answer has a match, even if a replacement is set.
    #[must_use]
    pub fn stopping(mut self) -> Self {
        self.stops = true;
        self
    }

    /// Makes the guard look only at messages of the user.
    #[must_use]
    pub fn only_prompts(mut self) -> Self {
        self.answers = false;
        self
    }

    /// Makes the guard look only at answers of the model.
    #[must_use]
    pub fn only_answers(mut self) -> Self {
        self.prompts = false;
        self
    }

    /// Returns the first pattern that a text matches.
    fn found(&self, text: &str) -> Option<&str> {
        let (what, _) = self.patterns.iter().find(|(_, pattern)| pattern.is_match(text))?;
        Some(what)
    }

    /// Replaces the matches in a text; `None` if the text has no match, or the guard does not replace.
    fn replaced(&self, text: &str) -> Option<String> {
        let with = self.replacement.as_deref()?;
        self.found(text)?;
        let replace = |text: String, pattern: &Regex| {
            pattern.replace_all(&text, regex::NoExpand(with)).into_owned()
        };
        let mut text = text.to_owned();
        for _ in 0..TIMES {
            let patterns = self.patterns.iter().map(|(_, pattern)| pattern);
            text = patterns.fold(text, replace);
            // A replacement may form a new match with the text around it.
            if self.found(&text).is_none() || self.found(with).is_some() {
                return Some(text);
            }
        }
        Some(with.to_owned())
    }

    /// Replaces the matches in a text, and notes in `first` the first pattern found in any text.
    fn noted<'f>(&'f self, text: &str, first: &Cell<Option<&'f str>>) -> Option<String> {
        first.set(first.get().or_else(|| self.found(text)));
        self.replaced(text)
    }
}

/// Makes the pattern of a word or a group of words.
fn whole(word: &str) -> Regex {
    // Next to a character that is not a word character, `\b` would require a word character on the other side, so it is
    // left out there.
    let edge = |it: &Regex| if it.is_match(word) { r"\b" } else { "" };
    let (first, last) = (edge(&EDGES.0), edge(&EDGES.1));
    let pattern = format!("(?i){first}{}{last}", regex::escape(word));
    // Without a limit on its size, the pattern of a long text can be compiled too.
    let pattern = RegexBuilder::new(&pattern).size_limit(usize::MAX).build();
    pattern.expect("a text without special characters is a pattern")
}

/// The reason why a text is changed or refused: the pattern that it matches.
struct Found<'a>(&'a str);

impl fmt::Display for Found<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not to be in it", self.0)
    }
}

impl IntoGuards for ForbiddenText {
    fn into_guards(self) -> Vec<Guard> {
        let forbidden = Arc::new(self);
        let (heard, said) = (Arc::clone(&forbidden), Arc::clone(&forbidden));
        let prompts = Guard::before_run(forbidden.name.clone(), move |prompt| {
            let forbidden = Arc::clone(&heard);
            async move {
                let first = Cell::new(None);
                let changed = prompt.map_texts(|text| forbidden.noted(text, &first));
                let Some(found) = first.get() else {
                    return BeforeDecision::Continue;
                };
                match changed {
                    Some(changed) => BeforeDecision::change(changed, Found(found).to_string()),
                    None => BeforeDecision::stop(Found(found).to_string()),
                }
            }
        });
        let answers = Guard::after_model(forbidden.name.clone(), move |answer| {
            let forbidden = Arc::clone(&said);
            async move {
                let first = Cell::new(None);
                let changed = answer.map_texts(|text| forbidden.noted(text, &first));
                let Some(found) = first.get() else {
                    return AfterDecision::Continue;
                };
                let found = Found(found).to_string();
                match changed {
                    _ if forbidden.stops => AfterDecision::stop(found),
                    Some(changed) => AfterDecision::change(changed, found),
                    None => AfterDecision::ask_again(format!("{found}; say it without")),
                }
            }
        });
        let prompts = forbidden.prompts.then_some(prompts);
        let answers = forbidden.answers.then_some(answers);
        prompts.into_iter().chain(answers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_end_in_a_raised_digit_and_long_texts_are_found() {
        let guard = ForbiddenText::new("g").words(["CO\u{2082}", "m\u{b2}", "cafe\u{301}"]);
        for text in ["The CO\u{2082} price", "12 m\u{b2}.", "a cafe\u{301}"] {
            assert!(guard.found(text).is_some(), "{text}");
        }
        assert!(guard.found("cafe\u{301}s").is_none(), "only whole words");
        let long = ForbiddenText::new("g").words(["ks".repeat(40_000)]);
        assert_eq!(long.patterns.len(), 1, "a long text is forbidden too");
    }
}
