//! Compiles rules, and finds mistakes in them: names of things that do not exist, rules that match nothing or
//! everything by accident, examples that contradict their rule.

use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use super::command_tests;
use super::commands::ReadCommands;
use super::compiled::CompiledRule;
use super::examples::check;
use super::foreign::AfterUntrusted;
use super::glob;
use super::later::Arriving;
use super::paths::Base;
use super::possible;
use super::problem::{At, Problems, suggestion};
use super::programs::runs_programs;
use super::protection::Protection;
use super::reachable;
use super::rule::{Rule, RuleKind, Touches, WhenUnknown, WrittenSources};
use super::tools::Tools;
use super::values::ValueTest;
use toolwright_core::json::pointer::segments;
use toolwright_core::tool::{DeclaredDanger, Definition, Effect};

/// Compiles rules, and returns them with the strongest first. Reports a wrong rule in `problems`, and may leave it out.
pub(super) fn compile<'r>(
    rules: impl Iterator<Item = &'r Rule>,
    scope: &Scope<'_>,
    problems: &mut Problems,
) -> Vec<CompiledRule> {
    let mut ready: Vec<CompiledRule> =
        rules.filter_map(|rule| scope.compile(rule, problems)).collect();
    ready.sort_by(|one, other| {
        (one.kind, &one.reason, &one.name).cmp(&(other.kind, &other.reason, &other.name))
    });
    ready
}

/// The names that a rule may use.
pub(super) struct Scope<'a> {
    pub(super) catalog: &'a Tools<'a>,
    arriving: &'a Arriving,
    came: Vec<Regex>,
    pub(super) base: &'a Base,
    pub(super) reader: Option<&'a Arc<dyn ReadCommands>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        catalog: &'a Tools<'a>,
        arriving: &'a Arriving,
        base: &'a Base,
        reader: Option<&'a Arc<dyn ReadCommands>>,
        problems: &mut Problems,
    ) -> Self {
        let came = names(&arriving.tools, "arriving", problems).unwrap_or_default();
        Self { catalog, arriving, came, base, reader }
    }

    fn compile(&self, rule: &Rule, problems: &mut Problems) -> Option<CompiledRule> {
        let name = rule.name.as_ref().map_or("", |it| &it.value);
        if !rule.is_partial {
            self.sense(rule, name, problems);
        }
        let mut is_known = self.tools_known(rule, name, problems);
        let groups = self.catalog.definitions().filter_map(|it| it.group.as_deref());
        is_known &= check_known(
            rule.groups.as_deref(),
            "group",
            groups,
            &self.arriving.groups,
            name,
            problems,
        );
        let tags = self.catalog.definitions().flat_map(|it| it.tags.iter().map(String::as_str));
        is_known &=
            check_known(rule.tags.as_deref(), "tag", tags, &self.arriving.tags, name, problems);
        let is_folded = rule.kind != RuleKind::Allow;
        let files = |written: &Option<Vec<At<String>>>, problems: &mut Problems| {
            written
                .as_ref()
                .map(|it| self.ready(it, name, problems, |it| self.base.pattern(it, is_folded)))
        };
        let (reads, writes) = (files(&rule.reads, problems), files(&rule.writes, problems));
        let outside = rule.outside.as_ref();
        // A file is outside if it is in none of the folders. So the comparisons are swapped: a deny or ask rule
        // compares names exactly, and an allow rule ignores differences such as case.
        let outside =
            outside.map(|it| self.ready(it, name, problems, |it| self.base.folder(it, !is_folded)));
        let tools = rule.tools.as_ref().map(|it| names(it, name, problems));
        let lines = command_tests::compile(rule, name, self, problems);
        let is_line = |pointer: &str| lines.iter().any(|it| it.pointer() == pointer);
        let arguments: Vec<Option<ValueTest>> = rule
            .arguments
            .iter()
            .filter(|(pointer, _)| !is_line(&pointer.value))
            .map(|(pointer, test)| {
                ValueTest::compile(pointer, &test.0, self.base, rule.kind, name, problems)
            })
            .collect();
        let after_untrusted = match &rule.after_untrusted {
            None => Some(None),
            Some(WrittenSources::Any) => Some(Some(AfterUntrusted::Any)),
            Some(WrittenSources::From(patterns)) => {
                let made = self.ready(patterns, name, problems, glob::compile_name);
                made.map(|patterns| Some(AfterUntrusted::From(patterns)))
            }
        };
        let words = |words: &Option<Vec<At<String>>>| {
            words.as_ref().map(|it| it.iter().map(|word| word.value.clone()).collect())
        };
        let compiled = CompiledRule {
            name: Arc::from(name),
            reason: Arc::from(rule.reason.value.as_str()),
            kind: rule.kind,
            protection: Protection::ALL.into_iter().find(|it| it.name() == name),
            when_unknown: rule.when_unknown.value,
            only_certain: rule.only_certain,
            tools: whole(tools)?,
            groups: words(&rule.groups),
            tags: words(&rule.tags),
            principals: words(&rule.principals),
            dangers: rule.dangers.clone(),
            danger_at_least: rule.danger_at_least,
            effects: rule.effects.clone(),
            arguments: arguments.into_iter().collect::<Option<_>>()?,
            lines,
            reads: whole(reads)?,
            writes: whole(writes)?,
            outside: whole(outside)?,
            touches: rule.touches.as_ref().map(Touches::words),
            after_untrusted: after_untrusted?,
            sends: rule.sends,
            examples: rule.examples.len(),
        };
        if is_known {
            self.arguments_known(rule, &compiled, problems);
        }
        if !rule.is_partial {
            check(rule, &compiled, self, problems);
        }
        Some(compiled)
    }

    /// Checks that the rule has a reason, and conditions that a call can meet.
    fn sense(&self, rule: &Rule, name: &str, problems: &mut Problems) {
        if rule.reason.value.trim().is_empty() {
            let place = rule.reason.place.as_ref().or(rule.place.as_ref());
            problems.add(place, format!("rule `{name}` has no reason: say why it is there"));
        }
        let lists = [
            &rule.tools,
            &rule.groups,
            &rule.tags,
            &rule.principals,
            &rule.reads,
            &rule.writes,
            &rule.outside,
        ];
        let is_empty = lists.iter().any(|it| it.as_ref().is_some_and(Vec::is_empty))
            || rule.dangers.as_ref().is_some_and(Vec::is_empty)
            || rule.effects.as_ref().is_some_and(Vec::is_empty)
            || matches!(&rule.after_untrusted, Some(WrittenSources::From(it)) if it.is_empty());
        if is_empty {
            problems.add(rule.place.as_ref(), format!("rule `{name}` has an empty list, which nothing matches: name something, or leave the key out"));
        }
        let selects = lists.iter().any(|it| it.is_some())
            || rule.dangers.is_some()
            || rule.danger_at_least.is_some()
            || rule.effects.is_some()
            || rule.after_untrusted.is_some()
            || rule.sends
            || !rule.arguments.is_empty();
        if !selects {
            problems.add(rule.place.as_ref(), format!("rule `{name}` does not say which calls it is for; if it is for all of them, give it the tool `*`"));
        }
        for user in rule.principals.iter().flatten() {
            if let Some(why) = misspelt(&user.value) {
                let message = format!("rule `{name}`: the user `{}` {why}", user.value);
                problems.add(user.place.as_ref(), message);
            }
        }
        if let Some(touches) = &rule.touches {
            vouches(rule, touches, name, problems);
        }
        if rule.kind != RuleKind::Deny && rule.when_unknown.value != WhenUnknown::Count {
            problems.add(rule.when_unknown.place.as_ref(), format!("rule `{name}` is no deny: only a deny may ask where it is unknown whether it matches"));
        }
    }

    fn tools_known(&self, rule: &Rule, name: &str, problems: &mut Problems) -> bool {
        let mut all = true;
        for tool in rule.tools.iter().flatten() {
            let Ok(glob) = glob::compile_name(&tool.value) else { continue };
            let is_known = tool.value == "*"
                || self.catalog.names().any(|it| glob.is_match(it))
                || self.arrives(&tool.value);
            if !is_known {
                all = false;
                let names: Vec<&str> = self.catalog.names().collect();
                let near = suggestion(&tool.value, names.into_iter());
                let message = format!("rule `{name}`: no tool is called `{}`{near}", tool.value);
                problems.add(tool.place.as_ref(), message);
            }
        }
        all
    }

    /// Whether a tool with this name may be registered after the policy is built.
    pub(super) fn arrives(&self, tool: &str) -> bool {
        self.came.iter().any(|it| it.is_match(tool))
    }

    /// Whether tools that a rule selects may be registered later.
    pub(super) fn is_arriving(&self, rule: &Rule) -> bool {
        !self.came.is_empty()
            && rule.tools.as_ref().is_none_or(|tools| {
                tools.iter().any(|it| it.value == "*" || self.arrives(&it.value))
            })
    }

    /// Whether a tool of this group may be registered after the policy is built.
    pub(super) fn has_arriving_group(&self, group: &str) -> bool {
        self.arriving.groups.iter().any(|it| it.value == group)
    }

    /// Reports a rule about an argument that no tool has. Such a rule would never match, and its author would not
    /// notice.
    fn arguments_known(&self, rule: &Rule, compiled: &CompiledRule, problems: &mut Problems) {
        let selected: Vec<&Definition> =
            self.catalog.definitions().filter(|it| selects(compiled, it)).collect();
        let may_arrive = self.is_arriving(rule);
        let is_empty = rule.is_partial || rule.tools.as_ref().is_some_and(Vec::is_empty);
        let is_for_tools = rule.tools.is_some() || rule.groups.is_some() || rule.tags.is_some();
        if is_for_tools
            && !is_empty
            && selected.is_empty()
            && !may_arrive
            && !self.catalog.is_empty()
        {
            let message = format!("rule `{}`: no tool has all that it selects by", compiled.name);
            problems.add(rule.place.as_ref(), message);
        }
        let writes_nothing = |it: &&Definition| it.effect == Effect::Read && !it.came_at_run_time;
        if rule.writes.is_some()
            && is_for_tools
            && !may_arrive
            && !selected.is_empty()
            && selected.iter().all(writes_nothing)
        {
            let message = format!(
                "rule `{}`: no tool that it is for writes anything: each of them has the effect `read`",
                compiled.name
            );
            problems.add(rule.place.as_ref(), message);
        }
        let sends_nothing = |it: &&Definition| {
            it.declares_sinks && it.sinks().next().is_none() && !runs_programs(it)
        };
        if rule.sends
            && is_for_tools
            && !may_arrive
            && !selected.is_empty()
            && selected.iter().all(sends_nothing)
        {
            let message = format!(
                "rule `{}`: no tool that it is for has a parameter that leaves the machine; mark it with `#[arg(sink)]`",
                compiled.name
            );
            problems.add(rule.place.as_ref(), message);
        }
        for (pointer, test) in &rule.arguments {
            let parts = segments(&pointer.value).unwrap_or_default();
            let Some(first) = parts.first() else { continue };
            let known = || selected.iter().filter_map(|it| keys(it)).flatten();
            let is_open = selected.iter().any(|it| keys(it).is_none());
            if may_arrive || selected.is_empty() {
                continue;
            }
            if is_open || known().any(|it| it == first) {
                if !reachable::check(&compiled.name, pointer, &test.0, &selected, problems) {
                    possible::check(&compiled.name, pointer, &test.0, &selected, problems);
                }
                continue;
            }
            let keys: Vec<&str> = known().map(String::as_str).collect();
            let near = suggestion(first, keys.into_iter());
            let message = format!(
                "rule `{}`: no tool that it is for has an argument `{first}`{near}",
                compiled.name
            );
            problems.add(pointer.place.as_ref(), message);
        }
    }

    fn ready<T>(
        &self,
        values: &[At<String>],
        rule: &str,
        problems: &mut Problems,
        make: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let mut made = Vec::with_capacity(values.len());
        for value in values {
            match make(&value.value) {
                Ok(it) => made.push(it),
                Err(error) => problems.add(value.place.as_ref(), format!("rule `{rule}`: {error}")),
            }
        }
        (made.len() == values.len()).then_some(made)
    }
}

/// Explains why no user can have this name; `None` if a user can.
fn misspelt(user: &str) -> Option<String> {
    match user.trim() {
        "" => Some("is blank: name a user, as the application names the users of its runs".into()),
        name if name != user => Some(format!("begins or ends with a blank: expected `{name}`")),
        _ => None,
    }
}

/// Returns the names of a tool's arguments; `None` if the tool accepts arguments with any name.
pub(super) fn keys(definition: &Definition) -> Option<impl Iterator<Item = &String>> {
    let schema = definition.final_schema();
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    schema.get("properties").and_then(Value::as_object).filter(|_| is_closed).map(|it| it.keys())
}

/// Whether a rule may match calls of a tool, as far as the tool's definition shows.
fn selects(rule: &CompiledRule, tool: &Definition) -> bool {
    let danger = match tool.danger {
        DeclaredDanger::Level(danger) => Some(danger),
        DeclaredDanger::Computed => None,
    };
    let group = |groups: &Vec<String>| tool.group.as_ref().is_some_and(|it| groups.contains(it));
    rule.selects_name(&tool.name)
        && rule.groups.as_ref().is_none_or(group)
        && rule.tags.as_ref().is_none_or(|tags| tool.tags.iter().any(|it| tags.contains(it)))
        && rule.effects.as_ref().is_none_or(|it| it.contains(&tool.effect))
        && danger.is_none_or(|danger| {
            rule.dangers.as_ref().is_none_or(|it| it.contains(&danger))
                && rule.danger_at_least.is_none_or(|it| danger >= it)
        })
}

/// Checks the files that a rule declares for the calls that it matches.
fn vouches(rule: &Rule, touches: &Touches, name: &str, problems: &mut Problems) {
    let mut wrong = |message: &str| {
        problems.add(touches.place.as_ref(), format!("rule `{name}`: {message}"));
    };
    if rule.kind != RuleKind::Allow {
        wrong("only an allow says what its calls touch");
    }
    if rule.tools.is_none() {
        wrong("it says what its calls touch, so it has to name the tool");
    }
    if rule.reads.is_some() || rule.writes.is_some() || rule.outside.is_some() {
        wrong("it says what its calls touch, so it cannot select by the files that they touch");
    }
    for file in touches.reads.iter().chain(&touches.writes) {
        let is_name = !file.value.is_empty() && !file.value.contains(['*', '?', '~']);
        if !is_name {
            let message = format!("rule `{name}`: `{}` is no name of a file or folder", file.value);
            problems.add(file.place.as_ref(), message);
        }
    }
}

fn check_known<'a>(
    words: Option<&[At<String>]>,
    what: &str,
    there: impl Iterator<Item = &'a str> + Clone,
    arriving: &[At<String>],
    rule: &str,
    problems: &mut Problems,
) -> bool {
    let mut all = true;
    for word in words.unwrap_or_default() {
        let is_known = there.clone().any(|it| it == word.value)
            || arriving.iter().any(|it| it.value == word.value);
        if !is_known {
            all = false;
            let near = suggestion(&word.value, there.clone());
            let message = format!("rule `{rule}`: no tool has the {what} `{}`{near}", word.value);
            problems.add(word.place.as_ref(), message);
        }
    }
    all
}

fn names(tools: &[At<String>], rule: &str, problems: &mut Problems) -> Option<Vec<Regex>> {
    let mut made = Vec::with_capacity(tools.len());
    for tool in tools {
        match glob::compile_name(&tool.value) {
            Ok(glob) if !tool.value.is_empty() => made.push(glob),
            Ok(_) => {
                let message = format!("rule `{rule}`: the name of a tool is empty");
                problems.add(tool.place.as_ref(), message);
            }
            Err(error) => problems.add(tool.place.as_ref(), format!("rule `{rule}`: {error}")),
        }
    }
    (made.len() == tools.len()).then_some(made)
}

/// Turns a condition that could not be compiled into `None`, so that the rule is left out.
fn whole<T>(written: Option<Option<T>>) -> Option<Option<T>> {
    match written {
        Some(made) => made.map(Some),
        None => Some(None),
    }
}
