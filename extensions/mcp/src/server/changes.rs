//! Notifies clients of changes to the list of tools, and to the resources to which they subscribe.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::watch;

use super::McpServer;
use super::offers::Subscriptions;
use super::session::Session;

/// Notifies a client of a revision with `initialize`, until its session ends.
pub(super) fn notify(
    server: &Arc<McpServer>,
    session: &Arc<Session>,
    peer: Peer<RoleServer>,
    mut tools: watch::Receiver<u64>,
) {
    tools.mark_unchanged();
    let (of_tools, ended) = (peer.clone(), session.ended());
    tokio::spawn(ended.run_until_cancelled_owned(async move {
        while tools.changed().await.is_ok() {
            if of_tools.notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }));
    let Some(mut changes) = resource_changes(server) else { return };
    let (server, ended) = (Arc::clone(server), session.ended());
    let (subscribed, user) = (Arc::clone(&session.subscribed), session.user().map(str::to_owned));
    tokio::spawn(ended.run_until_cancelled_owned(async move {
        while let Some(changed) = next(&mut changes, &subscribed).await {
            for uri in changed {
                // The user may have lost the right to read the resource since the subscription.
                if server.offers.read(&uri, user.as_deref()).await.is_err() {
                    continue;
                }
                let updated = ResourceUpdatedNotificationParam::new(uri);
                if peer.notify_resource_updated(updated).await.is_err() {
                    return;
                }
            }
        }
    }));
}

/// Notifies a client of a revision without `initialize` of changes to the list of tools, if it subscribes to them.
pub(super) async fn notify_of_tools(
    context: &SubscriptionContext,
    mut tools: watch::Receiver<u64>,
) {
    if context.accepted().tools_list_changed != Some(true) {
        return std::future::pending().await;
    }
    tools.mark_unchanged();
    while tools.changed().await.is_ok() {
        if context.sink().notify_tool_list_changed().await.is_err() {
            return;
        }
    }
}

/// Notifies a client of a revision without `initialize` when resources to which it subscribes change, as long as its
/// user may read them.
pub(super) async fn notify_of_resources(
    context: &SubscriptionContext,
    server: &McpServer,
    session: &Session,
) {
    let subscribed = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    let (false, Some(mut changes)) = (subscribed.is_empty(), resource_changes(server)) else {
        return std::future::pending().await;
    };
    let subscribed = Subscriptions::of(subscribed);
    while let Some(changed) = next(&mut changes, &subscribed).await {
        for uri in changed {
            let is_readable = server.offers.read(&uri, session.user()).await.is_ok();
            if is_readable && context.sink().notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
    }
    std::future::pending().await
}

fn resource_changes(server: &McpServer) -> Option<Receiver<String>> {
    server.offers.resources.as_ref().and_then(|resources| resources.changes())
}

/// Waits for the next change, and returns the subscribed resources that may have changed. Returns `None` if no more
/// changes can come.
async fn next(changes: &mut Receiver<String>, subscribed: &Subscriptions) -> Option<Vec<String>> {
    match changes.recv().await {
        Ok(changed) => Some(subscribed.has(&changed).then_some(changed).into_iter().collect()),
        // The channel has dropped the oldest changes, so each resource may have changed.
        Err(RecvError::Lagged(_)) => Some(subscribed.all()),
        Err(RecvError::Closed) => None,
    }
}
