//! Subscriptions of clients to resources and to the list of tools.
#![expect(
    deprecated,
    reason = "clients of the revisions before 2026-07-28 subscribe to single resources"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{
    ClientConfig, ProtocolVersion, ResourceUpdatedNotificationParam, ServerNotification,
    SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{ClientLifecycleMode, NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;
use tokio::sync::{broadcast, mpsc};
use toolwright::{DynamicTool, Effect, Executor, Registry, ToolError};
use toolwright_mcp::{McpServer, Resource, ResourceContent, Resources};

/// Has every resource, as long as the user may read it.
#[derive(Clone)]
struct Library {
    changes: broadcast::Sender<String>,
    is_closed: Arc<AtomicBool>,
}

impl Library {
    fn with_room_for(changes: usize) -> Self {
        Self { changes: broadcast::channel(changes).0, is_closed: Arc::default() }
    }

    fn change(&self, uri: &str) {
        self.changes.send(uri.to_owned()).unwrap();
    }

    /// Waits until a client is notified of changes.
    async fn has_listener(&self) {
        while self.changes.receiver_count() == 0 {
            tokio::task::yield_now().await;
        }
    }
}

impl Resources for Library {
    fn list<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        Some(self.changes.subscribe())
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<ResourceContent>, ToolError>> {
        let text = ResourceContent::Text { media_type: None, text: uri.to_owned() };
        let is_closed = self.is_closed.load(Ordering::SeqCst) && uri == "a";
        Box::pin(async move { Ok((!is_closed).then_some(text)) })
    }
}

/// A client that passes on which resources have changed.
struct Reader(mpsc::UnboundedSender<String>);

impl ClientHandler for Reader {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(updated.uri).unwrap();
    }
}

/// A client of this revision, and the resources whose changes it hears of.
async fn client(
    library: &Library,
    registry: &Registry,
    mode: ClientLifecycleMode,
) -> (RunningService<RoleClient, Reader>, mpsc::UnboundedReceiver<String>) {
    let executor = Executor::builder(registry.clone()).build().unwrap();
    let server = McpServer::new(executor).resources(library.clone());
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve(read, write).await.unwrap();
    });
    let (sender, updated) = mpsc::unbounded_channel();
    let client = rmcp::service::serve_client_with_lifecycle(Reader(sender), ours, mode).await;
    (client.unwrap(), updated)
}

fn later() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("it happens soon")
}

fn filter(uris: impl IntoIterator<Item = String>) -> SubscriptionFilter {
    SubscriptionFilter::builder().resource_subscriptions(uris).build()
}

#[tokio::test]
async fn a_subscription_to_a_resource_goes_on_when_the_list_of_tools_changes() {
    let (library, registry) = (Library::with_room_for(4), Registry::empty());
    let (client, _updated) = client(&library, &registry, later()).await;
    let mut subscription = client.peer().listen(filter(["a".to_owned()])).await.unwrap();
    library.has_listener().await;
    let schema = json!({"type": "object"});
    let late = DynamicTool::new("late", "Came later.", schema, |_, _| async { Ok("late") });
    registry.register(late.effect(Effect::Read)).unwrap();
    // The server has looked at the change once it has answered.
    client.list_all_tools().await.unwrap();
    library.change("a");
    let heard = soon(subscription.next()).await.unwrap();
    let Some(ServerNotification::ResourceUpdatedNotification(heard)) = heard else {
        panic!("{heard:?}");
    };
    assert_eq!(heard.params.uri, "a");
}

#[tokio::test]
async fn a_client_hears_of_the_changes_that_were_lost_because_many_came_at_once() {
    let library = Library::with_room_for(1);
    let mode = ClientLifecycleMode::Initialize;
    let (client, mut updated) = client(&library, &Registry::empty(), mode).await;
    client.peer().subscribe(SubscribeRequestParams::new("a")).await.unwrap();
    library.has_listener().await;
    library.change("a");
    library.change("b");
    assert_eq!(soon(updated.recv()).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_user_who_may_no_longer_read_a_resource_is_not_notified_of_its_changes() {
    let library = Library::with_room_for(4);
    let mode = ClientLifecycleMode::Initialize;
    let (client, mut updated) = client(&library, &Registry::empty(), mode).await;
    for uri in ["a", "b"] {
        client.peer().subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
    }
    library.has_listener().await;
    library.is_closed.store(true, Ordering::SeqCst);
    library.change("a");
    library.change("b");
    assert_eq!(soon(updated.recv()).await.as_deref(), Some("b"));
}

#[tokio::test]
async fn a_client_subscribes_to_1024_resources_at_most_in_one_request() {
    let library = Library::with_room_for(4);
    let (client, _updated) = client(&library, &Registry::empty(), later()).await;
    let many = filter((0..1025).map(|number| number.to_string()));
    let mut subscription = client.peer().listen(many).await.unwrap();
    library.has_listener().await;
    library.change("1024");
    library.change("1023");
    let heard = soon(subscription.next()).await.unwrap();
    let Some(ServerNotification::ResourceUpdatedNotification(heard)) = heard else {
        panic!("{heard:?}");
    };
    assert_eq!(heard.params.uri, "1023");
}
