//! What a call hands down to the calls that it makes.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::family::{Family, Recorded};
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
}

impl Lineage {
    pub(super) fn new(family: &Family, context: &ToolContext) -> Self {
        Self {
            tool: Arc::clone(&family.tool),
            depth: family.depth,
            recorded: family.recorded.clone(),
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
