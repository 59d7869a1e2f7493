//! A guard that finds secrets by their patterns.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::{AfterDecision, BeforeDecision, Guard, IntoGuards};

/// Patterns of secrets that have a recognizable form, each with its name. The first line of a private key is no secret
/// alone: if it is a string of its own in JSON, the lines of the key are in other strings, and all have to be removed.
const SHAPES: [(&str, &str); 13] = [
    (
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s*\S[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    ("AWS access key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("key of a model provider", r"\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}"),
    ("Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("signed web token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}"),
    ("password in an address", r#"(?i)\b[a-z][a-z0-9+.-]*://[^\s/:@"'`<>\\]*:[^\s/:@"'`<>\\]+@"#),
];

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let pattern = |(name, pattern): &(&'static str, &str)| {
        (*name, Regex::new(pattern).expect("each shape is a pattern; a test reads them all"))
    };
    SHAPES.iter().map(pattern).collect()
});

/// A guard that removes secrets from requests to models. It finds secrets of known forms, such as `AKIA…`, `ghp_…` or
/// `-----BEGIN PRIVATE KEY-----`, in the instructions, messages, calls and answers of a request, and puts a note such
/// as `[a GitHub token was removed]` in their place. The history of the run is unchanged. If an answer of the model has
/// a secret, for instance in the arguments of a call, the answer is sent back.
///
/// The guard does not find secrets without a recognizable form, such as most passwords. For these, mark the parameter
/// of the tool as secret (`#[arg(secret)]`), and let the policy deny tools the access to files with secrets.
///
/// ```
/// use std::sync::Arc;
///
/// use toolwright_agent::{Agent, Message, ScriptedModel, Secrets};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = Arc::new(ScriptedModel::new().says("Revoke it."));
/// let agent = Agent::builder(Arc::clone(&model)).guard(Secrets::new()).build()?;
/// let key = format!("AKIA{}", "A1".repeat(8));
/// agent.run(format!("Is {key} a good key?")).await?;
/// let sent = &model.requests()[0].history[0];
/// assert!(matches!(sent, Message::User { text, .. } if text == "Is [an AWS access key was removed] a good key?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    stops: bool,
}

impl Secrets {
    /// Makes a guard that replaces each secret that it finds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the guard end the run when it finds a secret, instead of removing the secret from the request or sending
    /// the answer back.
    #[must_use]
    pub fn stopping(mut self) -> Self {
        self.stops = true;
        self
    }
}

/// The name of the guards that look for secrets.
const NAME: &str = "secrets";

/// Lists the names of the patterns that a text matches.
fn found(text: &str) -> impl Iterator<Item = &'static str> {
    let is_in =
        move |(name, pattern): &(&'static str, Regex)| pattern.is_match(text).then_some(*name);
    PATTERNS.iter().filter_map(is_in)
}

/// Replaces the secrets in a text; `None` if the text has none.
fn removed(text: &str) -> Option<String> {
    found(text).next()?;
    let remove = |text: String, (name, pattern): &(&str, Regex)| {
        let article = if name.starts_with(['A', 'a']) { "an" } else { "a" };
        let words = format!("[{article} {name} was removed]");
        pattern.replace_all(&text, regex::NoExpand(&words)).into_owned()
    };
    Some(PATTERNS.iter().fold(text.to_owned(), remove))
}

/// Replaces the secrets in a text, and notes the names of their patterns.
fn noted(text: &str, names: &RefCell<BTreeSet<&'static str>>) -> Option<String> {
    names.borrow_mut().extend(found(text));
    removed(text)
}

fn words(names: &BTreeSet<&str>) -> String {
    format!("it has a secret: {}", names.iter().copied().collect::<Vec<_>>().join(", "))
}

impl IntoGuards for Secrets {
    fn into_guards(self) -> Vec<Guard> {
        let Self { stops } = self;
        let requests = Guard::before_model(NAME, move |request| async move {
            let names = RefCell::default();
            let change = request.map_texts(|text| noted(text, &names));
            let names = names.into_inner();
            match change {
                _ if names.is_empty() => BeforeDecision::Continue,
                Some(change) if !stops => BeforeDecision::change(change, words(&names)),
                _ => BeforeDecision::stop(words(&names)),
            }
        });
        let answers = Guard::after_model(NAME, move |answer| async move {
            let names = RefCell::default();
            let _ = answer.map_texts(|text| noted(text, &names));
            let names = names.into_inner();
            match names.is_empty() {
                true => AfterDecision::Continue,
                false if stops => AfterDecision::stop(words(&names)),
                false => AfterDecision::ask_again(format!(
                    "{}; write no secret into a text or a call",
                    words(&names)
                )),
            }
        });
        vec![requests, answers]
    }
}

#[cfg(test)]
mod tests {
    use toolwright::Content;

    use super::super::texts;
    use super::*;

    #[test]
    fn each_shape_is_found_and_removed_and_plain_text_is_not() {
        let letters = |times: usize| "aB3".repeat(times);
        let secrets = [
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
                letters(9)
            ),
            format!("-----BEGIN PRIVATE KEY-----\n{}", letters(9)),
            format!("AKIA{}", "A1".repeat(8)),
            format!("ghp_{}", letters(12)),
            format!("github_pat_{}", letters(24)),
            format!("glpat-{}", letters(7)),
            format!("xoxb-{}", letters(5)),
            format!("sk-ant-{}", letters(10)),
            format!("AIza{}", &letters(12)[..35]),
            format!("sk_live_{}", letters(8)),
            format!("npm_{}", letters(12)),
            format!("pypi-{}", letters(20)),
            format!("hf_{}", letters(12)),
            format!("eyJ{}.eyJ{}.{}", letters(4), letters(4), letters(8)),
            "postgres://shop:hunter2@db.example/shop".to_owned(),
            "redis://:hunter2@cache.example/0".to_owned(),
            "AMQP://shop:hunter2@queue.example".to_owned(),
        ];
        for secret in &secrets {
            let text = format!("before {secret} after");
            let removed = removed(&text).unwrap_or_else(|| panic!("{secret} is not found"));
            assert!(
                removed.starts_with("before [a") && removed.contains(" was removed]"),
                "{removed}"
            );
            assert!(super::removed(&removed).is_none(), "{removed} has one still");
        }
        let plain = "-----BEGIN PRIVATE KEY-----";
        assert_eq!(removed(plain), None, "the first line of a key has nothing secret");
        let plain = "sk-learn and task-runner, https://shop.example:8080/a@b, AKIA, eyJ, a 40 digit hash \
                     da39a3ee5e6b4b0d3255bfef95601890afd80709";
        assert_eq!(removed(plain), None);
        // The end of one JSON string and the beginning of the next must not be read together as a name and a password.
        let addresses =
            r#"{"page":"https://tea.example","to":"eve@tea.example"} [a](<http://a>: b@c)"#;
        assert_eq!(removed(addresses), None);
    }
    #[test]
    fn a_private_key_without_its_end_in_a_list_of_lines_is_removed() {
        let line = "MIIEvQIBADANBgkqhkiG";
        for json in [
            format!(r#"{{"lines":["-----BEGIN PRIVATE KEY-----","{line}"],"more":true}}"#),
            format!(
                r#"[{{"n":1,"line":"-----BEGIN PRIVATE KEY-----\n"}},{{"n":2,"line":"{line}"}}]"#
            ),
        ] {
            let blocks = texts::blocks(&[Content::json(json)], &removed).expect("a change");
            let [Content::Text(text)] = &blocks[..] else { panic!("{blocks:?}") };
            assert!(text.ends_with("[a private key was removed]"), "{text}");
        }
    }
}
