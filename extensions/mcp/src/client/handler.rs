//! What a server asks of this side, and what it notifies it of. Requests for samples and answers of people are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

/// One connection, as its server sees it.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    /// Whether the server has changed its tools since they were read.
    pub(super) changed: Arc<AtomicBool>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        // Neither sampling nor elicitation nor roots: a server must not ask for them, and is refused where it does.
        let us = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), us);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::SeqCst);
    }
}
