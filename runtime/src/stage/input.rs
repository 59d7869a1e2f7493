//! Reads a call's input into the tool's own types, and learns what policy must know of it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::call::Call;
use crate::capability::{Opening, Scope, Value};
use crate::context::{CallId, ToolContext};
use crate::error::{Class, ToolError};
use crate::executor::{Plan, Run};
use crate::footprint::Facts;
use crate::input::Problems;
use crate::output::Answer;
use crate::registry::Entry;
use crate::spec::Start;
use crate::stage::invoke::panicked;
use crate::stage::record::Watch;

/// A call whose input has been read. Nothing of the tool has run.
pub(crate) struct Prepared<'a> {
    pub(crate) future: BoxFuture<'a, Answer>,
    pub(crate) facts: Facts,
}

/// What this call may be given, held for as long as it runs.
pub(crate) struct Given<'a> {
    run: &'a Run,
    call: &'a Call<'a>,
    context: Option<(Value, ToolContext)>,
    opening: Option<Opening>,
}

impl<'a> Given<'a> {
    #[inline]
    pub(crate) fn new(
        run: &'a Arc<Run>,
        plan: &Plan,
        call: &'a Call<'a>,
        watch: Option<&Watch<'_>>,
    ) -> Result<Self, ToolError> {
        if plan.needs_run && run.values.is_empty() {
            return Err(no_run(&call.name));
        }
        let context = plan.needs_context.then(|| {
            let id = watch.map_or_else(CallId::new, Watch::id);
            let context =
                ToolContext::new(id, call.id.as_deref(), &call.name, run, call.cancelled.as_ref());
            let service: Value = Box::new(Arc::new(context.clone()));
            (service, context)
        });
        let opening = context
            .as_ref()
            .filter(|_| plan.needs_opening)
            .map(|(_, context)| Opening { run: Arc::clone(run), context: context.clone() });
        Ok(Self { run, call, context, opening })
    }

    #[inline]
    pub(crate) fn scope(&'a self, entry: &'a Entry, plan: &'a Plan) -> Scope<'a> {
        Scope {
            sources: &plan.sources,
            requirements: entry.spec.capabilities,
            services: &self.run.core.services,
            run: &self.run.values,
            call: &self.call.values,
            openers: &self.run.core.openers,
            context: self.context.as_ref().map(|(service, _)| service),
            opening: self.opening.as_ref(),
        }
    }

    /// The first of the capabilities of this call that it does not bring.
    fn missing(&self, entry: &Entry, plan: &Plan) -> Option<&'static str> {
        let brings = |index: &usize| {
            let wanted = entry.spec.capabilities.get(*index).map(|capability| (capability.id)());
            self.call.values.iter().any(|(id, _)| Some(*id) == wanted)
        };
        let index = plan.from_call.iter().find(|index| !brings(index))?;
        entry.definition.requires.get(*index).map(|requirement| requirement.type_name)
    }

    /// Sees to it that the call brings what its tool takes from calls.
    pub(crate) fn complete(&self, entry: &Entry, plan: &Plan) -> Result<(), ToolError> {
        match self.missing(entry, plan) {
            Some(type_name) => Err(not_brought(&entry.definition.name, type_name)),
            None => Ok(()),
        }
    }
}

/// A blocking tool may outlive its call; it learns here that nobody waits for it any more.
impl Drop for Given<'_> {
    fn drop(&mut self) {
        if let Some((_, context)) = &self.context {
            context.end();
        }
    }
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

#[cold]
fn no_run(tool: &str) -> ToolError {
    let cause =
        format!("`{tool}` needs services of a run; call it on `executor.run(id).with(…).start()?`");
    ToolError::new("no_run", "this tool cannot be used outside a run")
        .class(Class::Final)
        .caused_by(cause)
}

#[cold]
fn not_brought(tool: &str, type_name: &str) -> ToolError {
    let cause = format!("`{tool}` needs `&{type_name}`, which every call brings: `Call::with(…)`");
    ToolError::new("missing_service", "this tool cannot be used in this call")
        .class(Class::Final)
        .caused_by(cause)
}
