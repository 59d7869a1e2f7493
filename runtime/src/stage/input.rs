//! Reads a call's input into the tool's own types, and learns what policy must know of it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::future::BoxFuture;

use crate::capability::Scope;
use crate::error::ToolError;
use crate::footprint::Facts;
use crate::input::Problems;
use crate::output::Answer;
use crate::registry::Entry;
use crate::spec::Start;
use crate::stage::invoke::panicked;

/// A call whose input has been read. Nothing of the tool has run.
pub(crate) struct Prepared<'a> {
    pub(crate) future: BoxFuture<'a, Answer>,
    pub(crate) facts: Facts,
}

#[inline]
pub(crate) fn read<'a>(
    entry: &Entry,
    scope: &'a Scope<'a>,
    arguments: &str,
    mut facts: Facts,
) -> Result<Prepared<'a>, ToolError> {
    let start = Start { scope, text: arguments, keys: &entry.keys, facts: &mut facts };
    match catch_unwind(AssertUnwindSafe(|| (entry.spec.start)(start))) {
        Ok(Ok(future)) => Ok(Prepared { future, facts }),
        Ok(Err(problems)) => Err(refused(&entry.definition.name, &problems)),
        Err(panic) => Err(panicked(&entry.definition.name, panic as Box<dyn Any + Send>)),
    }
}

#[cold]
fn refused(tool: &str, problems: &Problems) -> ToolError {
    ToolError::invalid(format!(
        "the input of `{tool}` is not what its schema asks for:\n{problems}"
    ))
    .hint("correct the input and call again")
}
