//! Reads the input of a call as the types of the tool, and collects the facts that the policy needs.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::call::Plan;
use crate::catalog::Form;
use toolwright_core::capability::Scope;
use toolwright_core::error::{Done, ToolError};
use toolwright_core::footprint::Facts;
use toolwright_core::input::{Changes, Problem, Problems, Rule, words};
use toolwright_core::json::pointer::unescape;
use toolwright_core::output::Answer;
use toolwright_core::repairs::{Change, Repairs};
use toolwright_core::spec::Start;
use toolwright_core::tool::{Danger, DeclaredDanger, Definition, Repair};
use toolwright_schema::repair::{Refusal, RepairedInput, Repairer, TruncatedInput, replay};

/// Reads the input, and makes the future of the call without polling it, so that the tool's function does not run yet.
/// Adds to the facts what the input shows.
#[inline]
pub(crate) fn read<'a>(
    plan: &Plan,
    scope: Scope<'a>,
    arguments: &str,
    form: Form,
    facts: &mut Facts,
) -> Result<BoxFuture<'a, Answer>, ToolError> {
    match read_in_place(plan, scope, arguments, form, facts) {
        Ok((future, None)) => Ok(future),
        Ok((future, Some(changes))) => Ok(with_repairs(plan, future, facts, changes, false)),
        Err(problems) if form == Form::Final && plan.entry.is_adapted() => {
            let definition = &plan.entry.definition;
            Err(refused(definition, &unless_secret(definition, problems)))
        }
        Err(problems) => repair(plan, scope, arguments, facts, problems).map(|(future, _)| future),
    }
}

/// Returns the text that [`read`] reads: the text that was sent, or the repaired text.
pub(super) fn read_text<'t>(
    plan: &Plan,
    scope: Scope<'_>,
    arguments: &'t str,
    form: Form,
    facts: &mut Facts,
) -> Result<Cow<'t, str>, ToolError> {
    match read_in_place(plan, scope, arguments, form, facts) {
        Ok((_unpolled, None)) => Ok(Cow::Borrowed(arguments)),
        Ok((unpolled, Some(changes))) => {
            let text = replay(arguments, &changes).ok_or_else(|| {
                ToolError::internal(format!(
                    "the repairs of the arguments of `{}` cannot be written into their text",
                    plan.entry.definition.name
                ))
            })?;
            drop(with_repairs(plan, unpolled, facts, changes, false));
            Ok(Cow::Owned(text))
        }
        Err(problems) if form == Form::Final && plan.entry.is_adapted() => {
            let definition = &plan.entry.definition;
            Err(refused(definition, &unless_secret(definition, problems)))
        }
        Err(problems) => {
            repair(plan, scope, arguments, facts, problems).map(|(_unpolled, text)| text.into())
        }
    }
}

/// Reads the input. The reader itself repairs scalars of the wrong kind.
#[inline]
fn read_in_place<'a>(
    plan: &Plan,
    scope: Scope<'a>,
    arguments: &str,
    form: Form,
    facts: &mut Facts,
) -> Result<(BoxFuture<'a, Answer>, Option<Vec<Change>>), Problems> {
    if plan.entry.is_adapted() {
        return read_adapted(plan, scope, arguments, form, facts).map(|future| (future, None));
    }
    let changes = Changes::default();
    let room = if plan.repair == Repair::Off { None } else { Some(&changes) };
    let keys = &plan.entry.keys;
    let start = Start { scope, text: arguments, keys, facts, changes: room };
    let future = (plan.entry.spec.start)(start)?;
    Ok((future, changes.into_inner()))
}

/// Reads the input of a tool whose arguments the application has adapted. Errors have the adapted names, which models
/// know.
#[cold]
fn read_adapted<'a>(
    plan: &Plan,
    scope: Scope<'a>,
    arguments: &str,
    form: Form,
    facts: &mut Facts,
) -> Result<BoxFuture<'a, Answer>, Problems> {
    let text = &plan.entry.own_text(arguments, form)?;
    let keys = &plan.entry.keys;
    let start = Start { scope, text, keys, facts, changes: None };
    (plan.entry.spec.start)(start).map_err(|problems| plan.entry.said(problems))
}

/// Repairs the input and reads it again, once. Returns the future and the repaired text.
#[cold]
fn repair<'a>(
    plan: &Plan,
    scope: Scope<'a>,
    arguments: &str,
    facts: &mut Facts,
    problems: Problems,
) -> Result<(BoxFuture<'a, Answer>, String), ToolError> {
    let definition = &plan.entry.definition;
    let Some(repairer) = plan.entry.ladder() else {
        return Err(refused(definition, &unless_secret(definition, problems)));
    };
    let (found, lenient) = match repair_least(repairer, arguments, plan) {
        Ok(found) => found,
        Err(mut refusal) => {
            add_what_types_say(plan, scope, &mut refusal);
            return Err(refused(definition, &refusal_unless_secret(definition, refusal)));
        }
    };
    let RepairedInput { text, changes } = found;
    if changes.is_empty() {
        // The tool's type refuses a value that the schema accepts, so a repair cannot help.
        return Err(refused(definition, &unless_secret(definition, problems)));
    }
    let future = read_once(plan, scope, &text, facts)
        .map_err(|problems| refused(definition, &unless_secret(definition, problems)))?;
    Ok((with_repairs(plan, future, facts, changes, lenient), text))
}

/// Reads a text once, without further repairs.
fn read_once<'a>(
    plan: &Plan,
    scope: Scope<'a>,
    text: &str,
    facts: &mut Facts,
) -> Result<BoxFuture<'a, Answer>, Problems> {
    if plan.entry.is_adapted() {
        return read_adapted(plan, scope, text, Form::Sent, facts);
    }
    let keys = &plan.entry.keys;
    (plan.entry.spec.start)(Start { scope, text, keys, facts, changes: None })
}

/// Adds the problems that only the types of the parameters find, and not their schemas, so that one refusal lists all
/// problems.
#[cold]
fn add_what_types_say(plan: &Plan, scope: Scope<'_>, refusal: &mut Refusal) {
    let Some(text) = refusal.attempt.take() else { return };
    if let Err(problems) = read_once(plan, scope, &text, &mut plan.facts()) {
        refusal.add(problems);
    }
}

/// Adds the repairs to the facts, and makes the answer of the call report them.
#[cold]
fn with_repairs<'a>(
    plan: &Plan,
    future: BoxFuture<'a, Answer>,
    facts: &mut Facts,
    changes: Vec<Change>,
    lenient: bool,
) -> BoxFuture<'a, Answer> {
    let changes = changes_unless_secret(&plan.entry.definition, changes);
    let repairs = Arc::new(Repairs::new(changes, lenient));
    facts.record_repairs(Arc::clone(&repairs));
    Box::pin(async move { future.await.with_repairs(repairs) })
}

/// Repairs as little as possible: the lenient repair is tried only if the standard repair fails.
fn repair_least(
    repairer: &Repairer,
    text: &str,
    plan: &Plan,
) -> Result<(RepairedInput, bool), Refusal> {
    let brackets = match plan.entry.definition.danger {
        DeclaredDanger::Level(Danger::Safe) => TruncatedInput::Completed,
        _ => TruncatedInput::Refused,
    };
    repairer.repair_least(text, plan.repair, brackets)
}

#[cold]
fn refused(definition: &Definition, problems: &dyn fmt::Display) -> ToolError {
    let tool = &definition.name;
    ToolError::invalid(format!(
        "the input of `{tool}` is not what its schema asks for:\n{problems}"
    ))
    .by_executor(Done::Refused)
    .hint("correct the input and call again")
}

/// Removes the found values from problems whose places may contain a secret, because the answer of the call may be
/// stored or shown.
fn unless_secret(definition: &Definition, problems: Problems) -> Problems {
    if !has_secrets(definition) {
        return problems;
    }
    problems.map(|problem| match may_be_secret(definition, &problem.pointer) {
        true => without_secret(problem),
        false => problem,
    })
}

/// Removes every value and key that may be secret from a problem, and the suggestion of a similar key.
fn without_secret(mut problem: Problem) -> Problem {
    let inside = outside(&mut problem.pointer);
    problem.found.clear();
    problem.near = None;
    // The text of a type's own error may contain anything, such as the value that was sent.
    let may_repeat = match problem.rule {
        Rule::Other => true,
        Rule::Type => problem.expected.contains('"'),
        _ => false,
    };
    match (problem.rule, inside) {
        _ if may_repeat => problem.expected = "what its type and its schema ask for".to_owned(),
        (_, None) => {}
        // The name of a missing key comes from the schema, so it cannot be a secret.
        (Rule::MissingKey, Some(inside)) => {
            let key = inside.rsplit('/').next().unwrap_or_default();
            problem.rule = Rule::Value;
            problem.expected = format!("inside it the key {}", words::quote(&unescape(key)));
        }
        (_, Some(_)) => problem.expected = format!("inside it {}", problem.expected),
    }
    problem
}

/// Shortens a pointer to the parameter that contains its place, because keys inside a secret may be secret. Returns the
/// part that was cut off.
fn outside(pointer: &mut String) -> Option<String> {
    let (end, _) = pointer.match_indices('/').nth(1)?;
    Some(pointer.split_off(end))
}

fn refusal_unless_secret(definition: &Definition, mut refusal: Refusal) -> Refusal {
    if has_secrets(definition) {
        refusal.example = None;
        refusal.problems = unless_secret(definition, refusal.problems);
    }
    refusal
}

fn changes_unless_secret(definition: &Definition, mut changes: Vec<Change>) -> Vec<Change> {
    if has_secrets(definition) {
        for change in changes.iter_mut().filter(|it| may_be_secret(definition, &it.pointer)) {
            outside(&mut change.pointer);
            change.from.clear();
            change.to.clear();
        }
    }
    changes
}

fn has_secrets(definition: &Definition) -> bool {
    definition.secrets().next().is_some()
}

/// Returns whether a value at this place may be secret: the place is in a secret parameter, or is the whole input.
fn may_be_secret(definition: &Definition, pointer: &str) -> bool {
    let is_secret = |key: &str| definition.secrets().any(|it| it == key);
    pointer.split('/').nth(1).is_none_or(|key| is_secret(&unescape(key)))
}
