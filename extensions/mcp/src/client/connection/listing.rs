//! Lists the tools of a server at its start, and again when the server notifies a change. Calls do not depend on a new
//! list: they use the earlier list until the new one arrives.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::Peer;
use rmcp::{RoleClient, ServiceError};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use toolwright::{CancellationToken, ToolError};

use super::Server;
use crate::client::definition::{Definitions, ListedTool};
use crate::client::pages::{self, Endless, Pages};

/// How long calls wait for a new list before they use the earlier one.
const PATIENCE: Duration = Duration::from_secs(3);

/// A list that was requested, and that calls may wait for.
#[derive(Clone)]
pub(super) struct Listing {
    /// Until when calls wait for the new list.
    until: Instant,
    /// The token that is cancelled once the list has come or failed.
    over: CancellationToken,
}

impl Server {
    /// Waits for a current list of tools, but no longer than [`PATIENCE`].
    pub(super) async fn wait_for_list(self: &Arc<Self>) {
        if let Some(listing) = self.listing() {
            let _ = timeout_at(listing.until, listing.over.cancelled()).await;
        }
    }

    /// Returns the request for a list that is in progress, if there is one. Begins a request if the server has changed
    /// its tools, or if the last list is old.
    fn listing(self: &Arc<Self>) -> Option<Listing> {
        let mut state = self.state();
        let live = state.live.as_mut()?;
        let is_needed = live.listing.is_none()
            && (live.changed.swap(false, Ordering::SeqCst) || live.is_stale());
        if is_needed {
            let (until, over) = (Instant::now() + PATIENCE, CancellationToken::new());
            let peer = live.running.peer().clone();
            tokio::spawn(Arc::clone(self).list_anew(peer, over.clone()));
            live.listing = Some(Listing { until, over });
        }
        live.listing.clone()
    }

    async fn list_anew(self: Arc<Self>, peer: Peer<RoleClient>, over: CancellationToken) {
        let listed = timeout(self.config.start_timeout, self.list(&peer)).await;
        let listed = listed.unwrap_or_else(|_| Err(self.unreachable("it does not list its tools")));
        {
            let mut state = self.state();
            // The server may have been restarted since.
            let is_same = |listing: &Option<Listing>| {
                listing.as_ref().is_some_and(|listing| listing.over == over)
            };
            if let Some(live) = state.live.as_mut().filter(|live| is_same(&live.listing)) {
                live.listing = None;
                match listed {
                    Ok(definitions) => {
                        live.definitions = Arc::clone(&definitions);
                        live.listed = Instant::now();
                        state.last_list = Some(definitions);
                    }
                    Err(error) => {
                        let server = &self.name;
                        tracing::warn!(%server, %error, "the earlier list of tools stays in use");
                        live.changed.store(true, Ordering::SeqCst);
                    }
                }
            }
        }
        over.cancel();
    }

    /// Requests every page of the list of tools.
    pub(super) async fn list(
        &self,
        peer: &Peer<RoleClient>,
    ) -> Result<Arc<Definitions>, ToolError> {
        let mut tools: Vec<ListedTool> = Vec::new();
        let mut pages = Pages::within(self.config.start_timeout);
        while let Some(params) = pages.next() {
            let page = self.page(peer, params).await?;
            let noted = pages.add(page.tools.len(), page.bytes, page.next);
            noted.map_err(|Endless| self.unreachable("its list of tools has no end"))?;
            let filter = &self.config.filter;
            tools.extend(page.tools.into_iter().filter(|tool| filter.lets(tool.name())));
        }
        Ok(Arc::new(Definitions::of(&self.name, tools)))
    }

    async fn page(
        &self,
        peer: &Peer<RoleClient>,
        params: PaginatedRequestParams,
    ) -> Result<PageOfTools, ToolError> {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let failed = |why: String| self.unreachable("it does not list its tools").caused_by(why);
        let answer = match peer.send_request(request).await {
            // The server has no tools, but may offer resources or prompts.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok(PageOfTools { tools: Vec::new(), bytes: 0, next: None });
            }
            answer => answer.map_err(|error| failed(error.to_string()))?,
        };
        match answer {
            ServerResult::ListToolsResult(page) => {
                let bytes = pages::bytes(&page);
                let tools = page.tools.into_iter().map(ListedTool::from).collect();
                Ok(PageOfTools { tools, bytes, next: page.next_cursor })
            }
            // The library `rmcp` rejects a whole page if one tool on it is wrong, so this code reads each tool
            // separately.
            ServerResult::CustomResult(page) => PageOfTools::read(page.0)
                .ok_or_else(|| failed("it does not answer with a list".to_owned())),
            _ => Err(failed("it does not answer with a list".to_owned())),
        }
    }
}

struct PageOfTools {
    tools: Vec<ListedTool>,
    bytes: usize,
    next: Option<String>,
}

impl PageOfTools {
    /// Reads a page, and each tool on it separately.
    fn read(mut page: Value) -> Option<Self> {
        let bytes = pages::bytes(&page);
        let Value::Array(tools) = page.get_mut("tools")?.take() else { return None };
        let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        Some(Self { tools: tools.into_iter().map(ListedTool::read).collect(), bytes, next })
    }
}
