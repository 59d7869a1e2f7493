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

/// What a call hands down to the calls that it makes: part of the run in which these are made.
pub(crate) struct Lineage {
    /// The name of its tool.
    pub(crate) tool: Arc<str>,
    /// How deep the calls lie that it makes.
    pub(crate) depth: u32,
    /// What is recorded of it, where a journal records it.
    pub(crate) recorded: Option<RecordedParent>,
    /// What it touches; known once its input has been read, which is before it can make a call.
    footprint: OnceLock<Footprint>,
    /// Cancelled when its attempt has ended.
    ended: CancellationToken,
}

/// What a journal says of a parent.
#[derive(Debug, Clone)]
pub(crate) struct RecordedParent {
    /// Its id.
    pub(crate) call: CallId,
    /// Its run, user and session: a worker may carry it out for another run than its own.
    pub(crate) run: Arc<str>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) session: Option<Arc<str>>,
    /// The names of the tools that its run could call, where it was shown a part of them.
    pub(crate) may_call: Option<Arc<[String]>>,
    /// Whether it is begun for the first time, so that it has no children.
    pub(crate) is_first: bool,
    /// Whether it may be begun again, and so be put back until a child has been decided.
    pub(crate) may_be_put_back: bool,
    /// Who runs it.
    pub(crate) by: By,
    /// The right to run it.
    pub(super) claim: Arc<Claim>,
    /// Another may run it from now on.
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
        // A second attempt has a lineage of its own.
        let _is_known = self.footprint.set(footprint);
    }

    /// What it touches, where it runs.
    pub(crate) fn footprint(&self) -> Option<&Footprint> {
        self.footprint.get()
    }

    /// The token that is cancelled when its attempt has ended, and with it the calls that it makes.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl RecordedParent {
    /// Notes that another may run the parent from now on: its children are left to that one.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Who runs the children, where they are dropped now.
    pub(crate) fn runs(&self) -> By {
        if self.is_left.load(Ordering::Relaxed) { By::Worker } else { self.by }
    }

    /// What a journal says of a parent that is claimed.
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
