//! The facts about a parent that its children need.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::claim::{By, Claim};
use toolwright_core::context::{CallId, ToolContext};
use toolwright_core::footprint::Footprint;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::CallRecord;

/// The facts about a parent that its children need; the run of the children contains them.
pub(crate) struct Lineage {
    /// The name of the parent's tool.
    pub(crate) tool: Arc<str>,
    /// The nesting depth of the children.
    pub(crate) depth: u32,
    /// The parent's record in the journal; `None` if the parent is not journalled.
    pub(crate) recorded: Option<RecordedParent>,
    /// The resources that the parent touches. Set when the parent's input has been read, before the parent can make a
    /// call.
    footprint: OnceLock<Footprint>,
    /// The token that is cancelled when the parent's attempt has ended.
    ended: CancellationToken,
}

/// The facts from a parent's record in the journal.
#[derive(Debug, Clone)]
pub(crate) struct RecordedParent {
    /// The id of the parent.
    pub(crate) call: CallId,
    /// The run of the parent, which may differ from the run that a worker uses to carry the parent out.
    pub(crate) run: Arc<str>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) session: Option<Arc<str>>,
    /// The names of the tools that the parent's run could call; `None` if it could call all tools.
    pub(crate) may_call: Option<Arc<[String]>>,
    /// Whether the parent begins for the first time, so that it has no children yet.
    pub(crate) is_first: bool,
    /// Whether the parent may be begun again. It can then be suspended while its children wait for people or for
    /// results from outside.
    pub(crate) may_be_put_back: bool,
    /// Whether the caller or a worker runs the parent.
    pub(crate) by: By,
    /// The lease of the parent.
    pub(crate) claim: Arc<Claim>,
    /// Whether another process may continue the parent from now on.
    is_left: Arc<AtomicBool>,
}

impl Lineage {
    pub(crate) fn new(
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

    /// Records what the parent touches.
    pub(crate) fn touches(&self, footprint: Footprint) {
        // The footprint was not set before, because each attempt has a lineage of its own.
        let _is_known = self.footprint.set(footprint);
    }

    /// Returns what the parent touches; `None` before the parent's input has been read.
    pub(crate) fn footprint(&self) -> Option<&Footprint> {
        self.footprint.get()
    }

    /// Returns the token that is cancelled when the parent's attempt has ended. It cancels the children.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl RecordedParent {
    /// Records that another process may run the parent, and its children with it, from now on.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Returns who would continue the children if they were dropped now.
    pub(crate) fn runs(&self) -> By {
        if self.is_left.load(Ordering::Relaxed) { By::Worker } else { self.by }
    }

    /// Takes the facts about a claimed parent from the parent's record.
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
