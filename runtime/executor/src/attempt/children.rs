//! The calls that one attempt of a call makes.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;

use super::places::{Out, Places};
use crate::call::{Family, Lineage, Plan, RunState, cancelled, context_of, own_with};
use crate::stage;
use crate::stage::Admission;
use toolwright_core::call::Call;
use toolwright_core::calls::{CallableTool, Calls, MakeCalls};
use toolwright_core::capability::Own;
use toolwright_core::context::{Identity, ToolContext};
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::error_kind;
use toolwright_core::footprint::Footprint;
use toolwright_core::output::Answer;
use toolwright_core::spec::Handle;

/// The interval at which an attempt checks whether its expired lease has been renewed.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// One attempt of a call that makes calls. Dropping this value frees the attempt's places.
pub(crate) struct Attempt {
    places: Arc<Places>,
    lineage: Arc<Lineage>,
    children: Arc<Children>,
}

/// Makes the children of one attempt, and numbers them in the order in which they are first polled.
pub(crate) struct Children {
    /// A copy of the parent's run that contains the parent's lineage.
    run: Arc<RunState>,
    family: Arc<Family>,
    places: Arc<Places>,
    /// The index of the next child. All values that make calls of one attempt share it, so that each child has an index
    /// of its own.
    next: Arc<AtomicU32>,
}

/// Makes the values that a call receives for an attempt, and the attempt's state if the tool makes calls.
pub(super) fn own_to_run(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    identity: Option<Identity<'_>>,
    family: Option<&Arc<Family>>,
) -> Result<(Option<Own>, Option<Attempt>), ToolError> {
    let Some(context) = context_of(run, plan, call, identity)? else { return Ok((None, None)) };
    let attempt = family.map(|family| Attempt::new(family, run, plan, &context));
    let calls = || attempt.as_ref().map_or_else(Calls::none, Attempt::calls);
    Ok((Some(own_with(plan, context, calls)), attempt))
}

impl Attempt {
    fn new(family: &Arc<Family>, run: &Arc<RunState>, plan: &Plan, context: &ToolContext) -> Self {
        let Family { tool, depth, recorded, .. } = &**family;
        let places = Arc::new(Places::new(&run.core, plan));
        let lineage = Arc::new(Lineage::new(tool, *depth, recorded.clone(), context));
        let children = Arc::new(Children {
            run: Arc::new(run.of_children(&lineage)),
            family: Arc::clone(family),
            places: Arc::clone(&places),
            next: Arc::default(),
        });
        Self { places, lineage, children }
    }

    /// Makes the value that a tool borrows as `&Calls` to make calls.
    fn calls(&self) -> Calls {
        Calls::new(Arc::clone(&self.children) as _)
    }

    /// Records what the parent touches, after the parent's input has been read.
    pub(crate) fn touches(&self, footprint: &Footprint) {
        self.lineage.touches(footprint.clone());
    }

    /// Takes over the attempt's places in the gates.
    pub(super) fn take<'p>(&self, admitted: Admission<'p>) -> Admission<'p> {
        self.places.take(admitted)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.places.end();
    }
}

impl MakeCalls for Children {
    fn call<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(async move { for_parent(self.answer(call).await) })
    }

    fn name_of(&self, tool: Handle) -> Result<Arc<str>, ToolError> {
        self.run.name_of(tool)
    }

    fn pass_over(&self) {
        self.next.fetch_add(1, Ordering::Relaxed);
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<CallableTool, ToolError>> {
        Box::pin(async move {
            let call = Call::new(name, "{}");
            let found = stage::seek(&self.run, &call).await?;
            Ok(CallableTool::new(found.definition(), Handle::new(found.plan().entry.spec)))
        })
    }

    fn check(&self, call: &Call<'_>) -> Result<(), ToolError> {
        // The facts that the error carries are about the child, not about its parent.
        self.run.core.nested.check(&self.run, call).map_err(|error| error.with_more(None))
    }
}

impl Children {
    /// Returns the run in which the calls are made.
    pub(crate) fn run(&self) -> &Arc<RunState> {
        &self.run
    }

    /// Makes further children of the same attempt in another run. They are numbered together with those of this value.
    pub(crate) fn of_run(&self, run: &Arc<RunState>) -> Self {
        Self {
            run: Arc::clone(run),
            family: Arc::clone(&self.family),
            places: Arc::clone(&self.places),
            next: Arc::clone(&self.next),
        }
    }

    async fn answer(&self, call: &Call<'_>) -> Answer {
        let Family { tool, depth, .. } = &*self.family;
        let is_ended = || self.run.lineage().is_some_and(|it| it.ended().is_cancelled());
        // Either the executor renews the expired lease late, or another process has claimed the parent, and the
        // executor drops the parent together with this future. Until then, the child gets no answer, because an error
        // could make the parent end.
        while self.has_lost_its_claim() && !is_ended() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        if is_ended() {
            return cancelled(call.name()).into();
        }
        if *depth > Calls::DEPTH {
            return too_deep(tool, call.name()).into();
        }
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let away = Away::new(self);
        let answer = self.run.core.nested.call(&self.run, &self.family, index, call).await;
        away.returns().await;
        answer
    }

    /// Returns whether the lease of the parent has expired, so that another process may run the parent and make its
    /// calls.
    fn has_lost_its_claim(&self) -> bool {
        let recorded = self.family.recorded.as_ref();
        let journal = self.run.core.journal.as_ref();
        recorded.zip(journal).is_some_and(|(it, journal)| it.claim.has_lapsed(journal.now()))
    }
}

/// A running child. Dropping this value lets the parent continue without the child's answer.
struct Away<'a> {
    family: &'a Family,
    /// The child's call; `None` when the child has its answer.
    out: Option<Out<'a>>,
}

impl<'a> Away<'a> {
    fn new(children: &'a Children) -> Self {
        children.family.begins();
        Self { family: &children.family, out: Some(children.places.step_out()) }
    }

    /// Records that the child has its answer. The parent continues when the gates have room for it.
    async fn returns(mut self) {
        let Some(out) = self.out.take() else { return };
        self.family.ends();
        out.step_in().await;
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        if self.out.is_some() {
            self.family.drops();
        }
    }
}

/// Converts the answer of a child to the form that its parent receives. An error is final, because the child gives the
/// same answer if the parent runs again. Remarks of the executor about the child, such as that it did not begin, are
/// removed, because they would be false for the parent.
fn for_parent(answer: Answer) -> Answer {
    match answer.error() {
        Some(error) => error.with_more(None).class(ErrorClass::Final).into(),
        None => answer,
    }
}

#[cold]
fn too_deep(parent: &str, tool: &str) -> ToolError {
    let depth = Calls::DEPTH;
    let message =
        format!("`{tool}` was not called by `{parent}`: calls are nested at most {depth} deep");
    ToolError::new(error_kind::TOO_DEEP, message).hint("go on without it, or call it by itself")
}
