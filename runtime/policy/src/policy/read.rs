//! Reads a policy from TOML. Reading continues after a mistake, so that all mistakes are reported. Unknown keys are
//! mistakes.

mod values;

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::argument::{ArgumentTest, Side, Test};
use super::builder::PolicyBuilder;
use super::mode::Mode;
use super::problem::{At, Problems, SourceLocation};
use super::rule::{CheckedExample, Example, Rule, RuleKind, Touches, WhenUnknown, WrittenSources};
use toolwright_core::tool::{Danger, Effect};

/// The supported version of the format.
const VERSION: &str = "1";
const FILE_KEYS: [&str; 12] = [
    "version",
    "mode",
    "plan",
    "four_eyes",
    "roots",
    "protections_off",
    "touches_no_files",
    "arriving",
    "deny",
    "always_ask",
    "ask",
    "allow",
];
const RULE_KEYS: [&str; 19] = [
    "name",
    "reason",
    "tool",
    "group",
    "tag",
    "principal",
    "danger",
    "danger_at_least",
    "effect",
    "arguments",
    "reads",
    "writes",
    "outside",
    "touches",
    "after_untrusted",
    "sends",
    "when_unknown",
    "matches",
    "does_not_match",
];
const TEST_KEYS: [&str; 14] = [
    "equals",
    "one_of",
    "contains",
    "within",
    "begins",
    "flags",
    "only_flags",
    "program",
    "under",
    "glob",
    "at_least",
    "more_than",
    "at_most",
    "less_than",
];
const EXAMPLE_KEYS: [&str; 7] =
    ["tool", "arguments", "principal", "danger", "reads", "writes", "untrusted"];
const DANGERS: [&str; 4] = {
    let [safe, moderate, dangerous, critical] = Danger::ALL;
    [safe.as_str(), moderate.as_str(), dangerous.as_str(), critical.as_str()]
};
const EFFECTS: [&str; 4] = ["read", "idempotent", "keyed", "once"];

type Written<'t> = Spanned<DeValue<'t>>;

/// Adds the rules and settings of a policy file to a builder, and the problems of the file as well.
pub(super) fn read(mut builder: PolicyBuilder, file: &Arc<str>, text: &str) -> PolicyBuilder {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { file, text, problems: std::mem::take(&mut builder.problems) };
    for error in &errors {
        let place = error.span().map(|span| reader.place(&span));
        reader.problems.add(place.as_ref(), format!("it is no TOML: {}", error.message()));
    }
    if errors.is_empty() {
        builder = reader.file(table.get_ref(), builder);
    }
    builder.problems = reader.problems;
    builder
}

struct Reader<'t> {
    file: &'t Arc<str>,
    text: &'t str,
    problems: Problems,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>) -> SourceLocation {
        SourceLocation::of(Some(self.file), self.text, span)
    }

    fn wrong(&mut self, span: &Range<usize>, message: impl Into<String>) {
        let place = self.place(span);
        self.problems.add(Some(&place), message);
    }

    fn file(&mut self, table: &DeTable<'_>, mut builder: PolicyBuilder) -> PolicyBuilder {
        self.keys(table, &FILE_KEYS, "a policy");
        match find(table, "version") {
            None => {
                let message = format!("the key `version` is missing: say `version = {VERSION}`");
                self.wrong(&(0..0), message);
            }
            Some(version) => match version.get_ref() {
                DeValue::Integer(number) if number.as_str() == VERSION && number.radix() == 10 => {}
                _ => self.wrong(
                    &version.span(),
                    format!("only version {VERSION} of the format is known here"),
                ),
            },
        }
        if let Some(value) = find(table, "mode") {
            let names: Vec<&str> = Mode::ALL.iter().map(|it| it.name()).collect();
            if let Some(mode) = self.word(value, "mode", &names) {
                // `set_mode` adds to the problems of the builder, so the problems of this reader are moved there for
                // the call.
                builder.problems = std::mem::take(&mut self.problems);
                builder = builder.set_mode(mode);
                self.problems = std::mem::take(&mut builder.problems);
            }
        }
        if let Some(value) = find(table, "plan") {
            match value.get_ref().as_bool() {
                Some(plan) => builder = builder.plan(plan),
                None => self.report_kind(value, "plan", "`true` or `false`"),
            }
        }
        if let Some(value) = find(table, "four_eyes") {
            match value.get_ref().as_bool() {
                Some(four_eyes) => builder = builder.four_eyes(four_eyes),
                None => self.report_kind(value, "four_eyes", "`true` or `false`"),
            }
        }
        if let Some(roots) = find(table, "roots") {
            for root in self.texts(roots, "roots") {
                builder = builder.add_root(root);
            }
        }
        if let Some(names) = find(table, "protections_off") {
            let names = self.texts(names, "protections_off");
            builder.problems = std::mem::take(&mut self.problems);
            builder.protections_off(names);
            self.problems = std::mem::take(&mut builder.problems);
        }
        if let Some(tools) = find(table, "touches_no_files") {
            builder.no_files.extend(self.texts(tools, "touches_no_files"));
        }
        if let Some(value) = find(table, "arriving") {
            match value.get_ref().as_table() {
                None => self.report_kind(value, "arriving", "a table"),
                Some(arriving) => {
                    self.keys(arriving, &["tools", "groups", "tags"], "`arriving`");
                    let mut take =
                        |key| find(arriving, key).map(|it| self.texts(it, key)).unwrap_or_default();
                    builder.arriving.tools.extend(take("tools"));
                    builder.arriving.groups.extend(take("groups"));
                    builder.arriving.tags.extend(take("tags"));
                }
            }
        }
        for kind in RuleKind::ALL {
            let Some(value) = find(table, kind.name()) else { continue };
            let Some(rules) = value.get_ref().as_array() else {
                let expected = format!("a list of rules, each as `[[{}]]`", kind.name());
                self.report_kind(value, kind.name(), &expected);
                continue;
            };
            for rule in rules.iter() {
                match rule.get_ref().as_table() {
                    Some(table) => builder = builder.rule(self.rule(kind, table, &rule.span())),
                    None => self.report_kind(rule, kind.name(), "a table"),
                }
            }
        }
        builder
    }

    fn rule(&mut self, kind: RuleKind, table: &DeTable<'_>, span: &Range<usize>) -> Rule {
        let before = self.problems.len();
        self.keys(table, &RULE_KEYS, "a rule");
        let reason = match find(table, "reason") {
            Some(reason) => self.text(reason, "reason"),
            None => {
                self.wrong(
                    span,
                    format!(
                        "this rule, {} `{}`, has no `reason`: say why it is there",
                        article(kind),
                        kind.name()
                    ),
                );
                None
            }
        };
        // The missing reason is already reported, so the rule gets a placeholder.
        let reason = reason.unwrap_or_else(|| At::code("not given".to_owned()));
        let mut rule = Rule::new(kind, reason);
        rule.place = Some(self.place(span));
        rule.name = find(table, "name").and_then(|it| self.text(it, "name"));
        let mut some = |key| find(table, key).map(|it| self.texts(it, key));
        rule.tools = some("tool");
        rule.groups = some("group");
        rule.tags = some("tag");
        rule.principals = some("principal");
        rule.reads = some("reads");
        rule.writes = some("writes");
        rule.outside = some("outside");
        rule.dangers = find(table, "danger").map(|it| self.words::<Danger>(it, "danger", &DANGERS));
        rule.danger_at_least = find(table, "danger_at_least")
            .and_then(|it| Some(self.word::<Danger>(it, "danger_at_least", &DANGERS)?.value));
        rule.effects = find(table, "effect").map(|it| self.words::<Effect>(it, "effect", &EFFECTS));
        rule.touches = find(table, "touches").and_then(|it| self.touches(it));
        if let Some(value) = find(table, "after_untrusted") {
            rule.after_untrusted = self.after_untrusted(value);
        }
        if let Some(value) = find(table, "sends") {
            match value.get_ref().as_bool() {
                Some(true) => rule.sends = true,
                _ => self.report_kind(value, "sends", "`true`; leave it out for all calls"),
            }
        }
        if let Some(value) = find(table, "when_unknown") {
            let place = Some(self.place(&value.span()));
            match value.get_ref().as_str() {
                Some("count") => rule.when_unknown = At { value: WhenUnknown::Count, place },
                Some("ask") => rule.when_unknown = At { value: WhenUnknown::Ask, place },
                _ => self.report_kind(value, "when_unknown", "`count` or `ask`"),
            }
        }
        if let Some(value) = find(table, "arguments") {
            match value.get_ref().as_table() {
                None => self.report_kind(
                    value,
                    "arguments",
                    "a table of tests by JSON pointer, as `\"/path\" = { under = \"src\" }`",
                ),
                Some(arguments) => {
                    if arguments.is_empty() {
                        let message = "`arguments` asks for nothing: name a test by JSON pointer, as `\"/path\" = { under = \"src\" }`, or leave the key out";
                        self.wrong(&value.span(), message);
                    }
                    for (pointer, test) in arguments.iter() {
                        let place = Some(self.place(&pointer.span()));
                        let pointer = At { value: pointer.get_ref().to_string(), place };
                        self.tests(&pointer, test, &mut rule);
                    }
                }
            }
        }
        rule.is_partial = self.problems.len() > before;
        for (key, matches) in [("matches", true), ("does_not_match", false)] {
            let Some(value) = find(table, key) else { continue };
            let Some(examples) = value.get_ref().as_array() else {
                self.report_kind(value, key, "a list of examples, each as `{ tool = \"…\" }`");
                continue;
            };
            for example in examples.iter() {
                let place = Some(self.place(&example.span()));
                if let Some(example) = self.example(example) {
                    rule.examples.push(At { value: CheckedExample { matches, example }, place });
                }
            }
        }
        rule
    }

    /// Reads `true`, or the patterns that sources have to match.
    fn after_untrusted(&mut self, value: &Written<'_>) -> Option<WrittenSources> {
        if value.get_ref().as_bool() == Some(true) {
            return Some(WrittenSources::Any);
        }
        if value.get_ref().is_array() || value.get_ref().is_str() {
            return Some(WrittenSources::From(self.texts(value, "after_untrusted")));
        }
        let expected = "`true`, or patterns for sources, such as `[\"web page of *\"]`";
        self.report_kind(value, "after_untrusted", expected);
        None
    }

    fn touches(&mut self, value: &Written<'_>) -> Option<Touches> {
        let place = Some(self.place(&value.span()));
        let expected = "a table, as `{ reads = [\"src\"], writes = [] }`";
        let Some(table) = value.get_ref().as_table() else {
            self.report_kind(value, "touches", expected);
            return None;
        };
        self.keys(table, &["reads", "writes"], "`touches`");
        let (Some(reads), Some(writes)) = (find(table, "reads"), find(table, "writes")) else {
            let message =
                "`touches` says both what is read and what is written; `[]` is for nothing";
            self.wrong(&value.span(), message);
            return None;
        };
        let (reads, writes) = (self.texts(reads, "reads"), self.texts(writes, "writes"));
        Some(Touches { reads, writes, place })
    }

    fn tests(&mut self, pointer: &At<String>, value: &Written<'_>, rule: &mut Rule) {
        let Some(table) = value.get_ref().as_table() else {
            self.report_kind(value, &pointer.value, "a table of tests, as `{ equals = 1 }`");
            return;
        };
        self.keys(table, &TEST_KEYS, "a test of an argument");
        if table.is_empty() {
            self.wrong(
                &value.span(),
                format!("nothing is asked of `{}`: name a test, as `equals = 1`", pointer.value),
            );
        }
        for (key, value) in table.iter() {
            let before = self.problems.len();
            let side = match key.get_ref().as_ref() {
                "at_least" => Side::AtLeast,
                "more_than" => Side::MoreThan,
                "at_most" => Side::AtMost,
                "less_than" => Side::LessThan,
                other => {
                    let test = match other {
                        "equals" => Test::OneOf(self.json(value).into_iter().collect()),
                        "one_of" => Test::OneOf(self.jsons(value, other)),
                        "contains" => Test::Contains(self.jsons(value, other)),
                        "within" => Test::Within(self.jsons(value, other)),
                        "begins" => Test::Begins(self.jsons(value, other)),
                        "flags" => Test::Flags(self.texts(value, other)),
                        "only_flags" => Test::OnlyFlags(self.texts(value, other)),
                        "program" => Test::Program(self.texts(value, other)),
                        "under" => Test::Under(self.texts(value, other)),
                        "glob" => Test::Glob(self.texts(value, other)),
                        // `keys` has already reported the unknown key.
                        _ => continue,
                    };
                    if self.problems.len() == before {
                        rule.arguments.push((pointer.clone(), ArgumentTest(test)));
                    }
                    continue;
                }
            };
            match (value.get_ref(), self.json(value)) {
                (DeValue::Integer(_) | DeValue::Float(_), Some(limit)) => {
                    rule.arguments.push((pointer.clone(), ArgumentTest(Test::Limit(side, limit))));
                }
                (DeValue::Integer(_) | DeValue::Float(_), None) => {}
                _ => self.report_kind(value, key.get_ref(), "a number"),
            }
        }
    }

    fn example(&mut self, value: &Written<'_>) -> Option<Example> {
        let Some(table) = value.get_ref().as_table() else {
            self.report_kind(
                value,
                "an example",
                "a table, as `{ tool = \"…\", arguments = { … } }`",
            );
            return None;
        };
        let before = self.problems.len();
        self.keys(table, &EXAMPLE_KEYS, "an example");
        let Some(tool) = find(table, "tool") else {
            self.wrong(&value.span(), "this example names no `tool`");
            return None;
        };
        let tool = self.text(tool, "tool")?.value;
        let arguments = match find(table, "arguments") {
            None => "{}".to_owned(),
            Some(arguments) if arguments.get_ref().is_table() => self.json(arguments)?.value,
            Some(other) => {
                self.report_kind(other, "arguments", "a table");
                return None;
            }
        };
        let mut example = Example::new(tool, arguments);
        example.principal = match find(table, "principal") {
            Some(user) => Some(self.text(user, "principal")?.value),
            None => None,
        };
        example.danger = match find(table, "danger") {
            Some(danger) => Some(self.word(danger, "danger", &DANGERS)?.value),
            None => None,
        };
        example.untrusted = find(table, "untrusted")
            .map(|it| self.texts(it, "untrusted").into_iter().map(|it| it.value).collect())
            .unwrap_or_default();
        let mut files = |key| {
            let files = find(table, key).map(|it| self.texts(it, key));
            files.map(|it| it.into_iter().map(|file| file.value).collect())
        };
        example.reads = files("reads");
        example.writes = files("writes");
        (self.problems.len() == before).then_some(example)
    }
}

fn find<'t, 'v>(table: &'t DeTable<'v>, key: &str) -> Option<&'t Written<'v>> {
    table.iter().find(|(it, _)| it.get_ref() == key).map(|(_, value)| value)
}

fn article(kind: RuleKind) -> &'static str {
    if kind == RuleKind::Deny { "a" } else { "an" }
}
