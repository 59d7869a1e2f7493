//! What a call hands down to the calls that it makes.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::family::{Family, Recorded};
use toolwright_core::call::Call;
use toolwright_core::context::ToolContext;
use toolwright_core::footprint::Footprint;

/// What a call hands down to the calls that it makes: part of the run in which these are made.
pub(crate) struct Lineage {
    /// The name of its tool.
    pub(crate) tool: Arc<str>,
    /// How deep the calls lie that it makes.
    pub(crate) depth: u32,
    /// What is recorded of it, where a journal records it.
    pub(crate) recorded: Option<Recorded>,
    /// What it touches; known once its input has been read, which is before it can make a call.
    footprint: OnceLock<Footprint>,
    /// Cancelled when its attempt has ended.
    ended: CancellationToken,
    /// The token that its caller gave it.
    cancelled: Option<CancellationToken>,
}

impl Lineage {
    pub(super) fn new(family: &Family, context: &ToolContext, call: &Call<'_>) -> Self {
        Self {
            tool: Arc::clone(&family.tool),
            depth: family.depth,
            recorded: family.recorded.clone(),
            footprint: OnceLock::new(),
            ended: context.ended().clone(),
            cancelled: call.cancellation().cloned(),
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

    /// The tokens whose cancellation ends the calls that it makes.
    pub(crate) fn cancellations(&self) -> impl Iterator<Item = &CancellationToken> {
        std::iter::once(&self.ended).chain(&self.cancelled)
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.cancellations().any(CancellationToken::is_cancelled)
    }
}
