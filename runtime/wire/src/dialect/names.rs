//! Maps the names of tools to names that a provider allows, and checks the result.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Dialect;
use super::finding::{Finding, Rule, Severity};
use super::rules::Rules;

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
    let fits = |it: char| it.is_ascii_alphanumeric() || "_-".contains(it) || rule.also.contains(it);
    let begins = |it: char| it.is_ascii_alphabetic() || it == '_';
    // A first character that the provider refuses becomes `_`, with which a name may begin.
    let lacks_letter =
        rule.letter_first && name.chars().next().is_some_and(|it| fits(it) && !begins(it));
    let length = name.chars().count() + usize::from(lacks_letter);
    if length == 0 || length > rule.longest {
        let message =
            format!("the name has {length} characters, the provider takes 1 to {}", rule.longest);
        let fix = "give it another by `#[tool(name = \"…\")]`".to_owned();
        add(Severity::Error, Rule::NameLength, message, fix);
    }
    if name.chars().all(fits) && !lacks_letter {
        return Cow::Borrowed(name);
    }
    let prefix = if lacks_letter { "_" } else { "" };
    let rest = name.chars().map(|it| if fits(it) { it } else { '_' });
    let mapped: String = prefix.chars().chain(rest).collect();
    let message = format!("the provider does not take the name, the model sees `{mapped}`");
    add(Severity::Note, Rule::NameMapped, message, String::new());
    Cow::Owned(mapped)
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
