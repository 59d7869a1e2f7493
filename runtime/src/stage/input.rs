//! Reads a call's input into the tool's own types, and learns what policy must know of it.

use futures::future::BoxFuture;

use crate::capability::Scope;
use crate::error::ToolError;
use crate::footprint::Facts;
use crate::input::{Problems, Rule};
use crate::output::Answer;
use crate::registry::Entry;
use crate::spec::Start;
use crate::tool::Definition;

/// A call whose input has been read. Nothing of the tool has run.
pub(crate) struct Prepared<'a> {
    pub(crate) future: BoxFuture<'a, Answer>,
    pub(crate) facts: Facts,
}

#[inline]
pub(crate) fn read<'a>(
    entry: &Entry,
    scope: Scope<'a>,
    arguments: &str,
    mut facts: Facts,
) -> Result<Prepared<'a>, ToolError> {
    let start = Start { scope, text: arguments, keys: &entry.keys, facts: &mut facts };
    match (entry.spec.start)(start) {
        Ok(future) => Ok(Prepared { future, facts }),
        Err(problems) => Err(refused(&entry.definition, problems)),
    }
}

#[cold]
fn refused(definition: &Definition, problems: Problems) -> ToolError {
    let tool = &definition.name;
    let problems = unless_secret(definition, problems);
    ToolError::invalid(format!(
        "the input of `{tool}` is not what its schema asks for:\n{problems}"
    ))
    .hint("correct the input and call again")
}

/// The problems without what was found where a secret may have stood: listeners read them too.
fn unless_secret(definition: &Definition, problems: Problems) -> Problems {
    if !definition.parameters.iter().any(|parameter| parameter.secret) {
        return problems;
    }
    let is_secret = |key: &str| {
        definition.parameters.iter().any(|parameter| parameter.secret && parameter.name == key)
    };
    problems.map(|mut problem| {
        let key = problem.pointer.split('/').nth(1);
        if key.is_none_or(is_secret) {
            problem.found.clear();
            if problem.rule == Rule::Other {
                problem.expected = "what its type and its schema ask for".to_owned();
            }
        }
        problem
    })
}
