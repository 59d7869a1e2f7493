//! What a call hands down to the calls that it makes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::executor::Claim;
use crate::lifecycle::By;
use toolwright_core::context::{CallId, ToolContext};
use toolwright_core::footprint::Footprint;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::CallRecord;

/// The values that a call hands down to the calls that it makes. They are a part of the run in which these calls are
/// made.
pub(crate) struct Lineage {
    /// The name of the call's tool.
    pub(crate) tool: Arc<str>,
    /// How deep the calls that this one makes are nested.
    pub(crate) depth: u32,
    /// The parent as the journal records it; `None` if no journal records it.
    pub(crate) recorded: Option<RecordedParent>,
    /// What the call touches; set once its input has been read, which is before the call can make another.
    footprint: OnceLock<Footprint>,
    /// The token that is cancelled when the call's attempt has ended.
    ended: CancellationToken,
}

/// A parent as the journal records it.
#[derive(Debug, Clone)]
pub(crate) struct RecordedParent {
    /// The id of the parent.
    pub(crate) call: CallId,
    /// The run of the parent: a worker may carry the parent out for another run.
    pub(crate) run: Arc<str>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) session: Option<Arc<str>>,
    /// The names of the tools that the parent's run could call, if the run was shown only some tools.
    pub(crate) may_call: Option<Arc<[String]>>,
    /// Whether the parent begins for the first time, so that it has no children yet.
    pub(crate) is_first: bool,
    /// Whether the parent may begin again, so that it can be suspended until a person has decided on a child.
    pub(crate) may_be_put_back: bool,
    /// Whether the caller or a worker runs the parent.
    pub(crate) by: By,
    /// The lease of the parent.
    pub(super) claim: Arc<Claim>,
    /// Whether another process may run the parent from now on.
    is_left: Arc<AtomicBool>,
}

impl Lineage {
    pub(super) fn new(
        tool: &Arc<str>,
        depth: u32,
        recorded: Option<RecordedParent>,
        context: &ToolContext,
    ) -> Self {
        Self {
            tool: Arc::clone(tool),
            depth,
            recorded,
            footprint: OnceLock::new(),
            ended: context.ended().clone(),
        }
    }

    /// Notes what the call touches.
    pub(super) fn touches(&self, footprint: Footprint) {
        // The cell was never set before: each attempt has a lineage of its own.
        let _is_known = self.footprint.set(footprint);
    }

    /// Returns what the call touches; `None` before its input has been read.
    pub(crate) fn footprint(&self) -> Option<&Footprint> {
        self.footprint.get()
    }

    /// Returns the token that is cancelled when the call's attempt has ended, which cancels the calls that it makes.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl RecordedParent {
    /// Notes that another process may run the parent from now on, and its children with it.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Returns who continues the children if they are dropped now.
    pub(crate) fn runs(&self) -> By {
        if self.is_left.load(Ordering::Relaxed) { By::Worker } else { self.by }
    }

    /// Describes a claimed parent from its record.
    pub(crate) fn of(record: &CallRecord, by: By, claim: &Arc<Claim>) -> Self {
        let text = |text: &Option<String>| text.as_deref().map(Arc::from);
        Self {
            call: record.id,
            run: record.place.run.as_str().into(),
            user: text(&record.requester.user),
            session: text(&record.requester.session),
            may_call: record.may_call.as_deref().map(Arc::from),
            is_first: record.epoch <= 1,
            may_be_put_back: record.effect != Effect::Once,
            by,
            claim: Arc::clone(claim),
            is_left: Arc::default(),
        }
    }
}
