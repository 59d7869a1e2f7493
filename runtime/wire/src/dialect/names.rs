//! Maps the names of tools to names that a provider allows, and checks the result.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Dialect;
use super::finding::{Finding, Rule, Severity};
use super::rules::{Name, Rules};

/// Returns the name by which a model calls the tool: characters that the provider refuses become `_`.
pub(super) fn map_names<'a>(
    dialect: Dialect,
    name: &'a str,
    findings: &mut Vec<Finding>,
) -> Cow<'a, str> {
    let rule = &Rules::of(dialect).name;
    let mut add = |severity, rule, message: String, fix: String| {
        let (tool, pointer) = (name.to_owned(), "/name".to_owned());
        findings.push(Finding { tool, dialect, severity, rule, pointer, message, fix });
    };
    let lacks_letter = rule.lacks_letter(name);
    let length = name.chars().count() + usize::from(lacks_letter);
    if length == 0 || length > rule.longest {
        let message =
            format!("the name has {length} characters, the provider takes 1 to {}", rule.longest);
        let fix = "give it another by `#[tool(name = \"…\")]`".to_owned();
        add(Severity::Error, Rule::NameLength, message, fix);
    }
    let mapped = rule.mapped(name);
    if let Cow::Owned(mapped) = &mapped {
        let message = format!("the provider does not take the name, the model sees `{mapped}`");
        add(Severity::Note, Rule::NameMapped, message, String::new());
    }
    mapped
}

/// Returns a name that the provider accepts for a tool that is not listed, such as one that a model has made up.
pub(super) fn sendable_name(dialect: Dialect, name: &str) -> Cow<'_, str> {
    let rule = &Rules::of(dialect).name;
    match rule.mapped(if name.is_empty() { "_" } else { name }) {
        Cow::Borrowed(name) if name.len() <= rule.longest => Cow::Borrowed(name),
        name => Cow::Owned(name.chars().take(rule.longest).collect()),
    }
}

impl Name {
    fn allows(&self, it: char) -> bool {
        it.is_ascii_alphanumeric() || "_-".contains(it) || self.also.contains(it)
    }

    /// Returns whether a name begins with an allowed character that may not be the first. A first character that the
    /// provider refuses becomes `_`, with which a name may begin.
    fn lacks_letter(&self, name: &str) -> bool {
        let begins = |it: char| it.is_ascii_alphabetic() || it == '_';
        self.letter_first && name.chars().next().is_some_and(|it| self.allows(it) && !begins(it))
    }

    /// Returns the name with `_` for each character that the provider refuses.
    fn mapped<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let lacks_letter = self.lacks_letter(name);
        if name.chars().all(|it| self.allows(it)) && !lacks_letter {
            return Cow::Borrowed(name);
        }
        let prefix = if lacks_letter { "_" } else { "" };
        let rest = name.chars().map(|it| if self.allows(it) { it } else { '_' });
        Cow::Owned(prefix.chars().chain(rest).collect())
    }
}

/// Checks that no two tools have the same name for models. Each item is the application's name and the mapped name.
pub(super) fn judge_collisions<'a>(
    dialect: Dialect,
    names: impl Iterator<Item = (&'a str, &'a str)>,
    findings: &mut Vec<Finding>,
) {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, mapped) in names {
        let Some(other) = first.insert(mapped, name) else { continue };
        findings.push(Finding {
            tool: name.to_owned(),
            dialect,
            severity: Severity::Error,
            rule: Rule::NameCollision,
            pointer: "/name".to_owned(),
            message: format!("the model would see `{mapped}`, as it does for the tool `{other}`"),
            fix: "rename one of them by `#[tool(name = \"…\")]`".to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_tool_has_becomes_one_that_the_provider_accepts() {
        for (dialect, name, expected) in [
            (Dialect::OpenAiChat, "multi_tool_use.parallel", "multi_tool_use_parallel"),
            (Dialect::Anthropic, "assistant<|channel|>say", "assistant__channel__say"),
            (Dialect::Gemini, "math.add", "math.add"),
            (Dialect::Gemini, "21st", "_21st"),
            (Dialect::OpenAiResponses, "löschen", "l_schen"),
            (Dialect::OpenAiResponses, "plain-1", "plain-1"),
            (Dialect::Gemini, "", "_"),
        ] {
            assert_eq!(sendable_name(dialect, name), expected, "{dialect} {name}");
        }
        let long = "ö".repeat(200);
        assert_eq!(sendable_name(Dialect::OpenAiChat, &long), "_".repeat(64));
        assert_eq!(sendable_name(Dialect::Anthropic, &"a".repeat(200)).len(), 128);
    }
}
