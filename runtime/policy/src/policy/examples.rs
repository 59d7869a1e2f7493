//! Tests each rule with its own examples.

use super::compile::{Scope, keys};
use super::compiled::CompiledRule;
use super::holds::Holds;
use super::problem::{At, Problems, suggestion};
use super::question::{Asking, Question};
use super::rule::{CheckedExample, Rule};
use toolwright_core::footprint::{File, Footprint};
use toolwright_core::json::read;
use toolwright_core::json::tree::Node;
use toolwright_core::tool::{Danger, DeclaredDanger, Definition, Effect};

/// Reports the examples that contradict their own rule.
pub(super) fn check(
    rule: &Rule,
    compiled: &CompiledRule,
    scope: &Scope<'_>,
    problems: &mut Problems,
) {
    for (index, example) in rule.examples.iter().enumerate() {
        let of_kind = |it: &&At<CheckedExample>| it.value.matches == example.value.matches;
        let number = rule.examples[..index].iter().filter(of_kind).count() + 1;
        let key = if example.value.matches { "matches" } else { "does_not_match" };
        if let Err(error) = attempt(&example.value, compiled, scope) {
            let message = format!("rule `{}`, example {number} of `{key}`: {error}", compiled.name);
            problems.add(example.place.as_ref(), message);
        }
    }
}

fn attempt(checked: &CheckedExample, rule: &CompiledRule, scope: &Scope<'_>) -> Result<(), String> {
    let example = &checked.example;
    let definition = scope.catalog.get(&example.tool);
    if definition.is_none() && !scope.arrives(&example.tool) {
        let names: Vec<&str> = scope.catalog.names().collect();
        let near = suggestion(&example.tool, names.into_iter());
        return Err(format!("no tool is called `{}`{near}", example.tool));
    }
    let arguments =
        read(&example.arguments).map_err(|error| format!("its arguments are no JSON: {error}"))?;
    let Node::Object(entries) = &arguments else {
        return Err("its arguments are no object".to_owned());
    };
    if let Some(known) = definition.and_then(keys) {
        let known: Vec<&str> = known.map(String::as_str).collect();
        if let Some((key, _)) = entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            let near = suggestion(key, known.iter().copied());
            return Err(format!("`{}` has no argument `{key}`{near}", example.tool));
        }
    }
    let asks_files = rule.reads.is_some() || rule.writes.is_some() || rule.outside.is_some();
    if asks_files && example.reads.is_none() && example.writes.is_none() {
        return Err(
            "the rule asks for files, so the example has to say which it `reads` or `writes`"
                .to_owned(),
        );
    }
    let danger = match (example.danger, definition.map(|it| it.danger)) {
        (Some(danger), _) => danger,
        (None, Some(DeclaredDanger::Level(danger))) => danger,
        (None, None) => Danger::Moderate,
        (None, Some(DeclaredDanger::Computed))
            if rule.dangers.is_none() && rule.danger_at_least.is_none() =>
        {
            Danger::Moderate
        }
        (None, Some(DeclaredDanger::Computed)) => {
            return Err(format!(
                "the danger of `{}` depends on the call, so the example has to say its `danger`",
                example.tool
            ));
        }
    };
    let footprint = footprint(example.reads.as_deref(), example.writes.as_deref());
    let question = Question {
        definition,
        tool: &example.tool,
        group: definition.and_then(|it| it.group.as_deref()),
        tags: definition.map_or(&[], |it| it.tags.as_slice()),
        danger,
        effect: definition.map_or(Effect::Once, |it: &Definition| it.effect),
        principal: example.principal.as_deref(),
        arguments: &example.arguments,
        input_schema: definition.map(Definition::final_schema),
        footprint: Some(&footprint),
        approval: None,
        came_at_run_time: definition.is_some_and(|it| it.came_at_run_time),
        untrusted: Some(&example.untrusted),
        accepted: false,
    };
    let asking = Asking::new(&question, scope.base).with_reader(scope.reader.map(|it| &**it));
    let holds = match rule.selects_name(&example.tool) {
        true => rule.holds(&asking),
        false => Holds::No,
    };
    match (holds, checked.matches) {
        (Holds::Yes, true) | (Holds::No, false) => Ok(()),
        (Holds::No, true) => Err("the rule does not match it".to_owned()),
        (Holds::Yes, false) => Err("the rule matches it".to_owned()),
        (Holds::Unknown, _) => Err("it is unknown whether the rule matches it".to_owned()),
    }
}

fn footprint(reads: Option<&[String]>, writes: Option<&[String]>) -> Footprint {
    let nothing = Footprint::nothing();
    let read = reads
        .unwrap_or_default()
        .iter()
        .fold(nothing, |it, name| it.reading::<File>(name.as_str()));
    writes.unwrap_or_default().iter().fold(read, |it, name| it.writing::<File>(name.as_str()))
}
