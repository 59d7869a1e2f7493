//! Where requests go whose server a document names.

use std::io;
use std::net::IpAddr;

use futures::future::BoxFuture;
use serde_json::json;
use toolwright::address::HostResolver;
use toolwright_openapi::OpenApi;

use crate::support::{Server, call, document, guarded};

const PATHS: &str = "  /a: {get: {operationId: a}}\n";

/// Gives every name one address.
struct Names(IpAddr);

impl HostResolver for Names {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(vec![self.0]) })
    }
}

fn api(server: &str) -> OpenApi {
    OpenApi::load(document(server, PATHS)).expect("a document")
}

async fn kind(api: OpenApi) -> String {
    let answer = call(&guarded(api), "a", json!({})).await;
    answer.error().map_or_else(|| "ok".to_owned(), |error| error.kind().to_owned())
}

#[tokio::test]
async fn a_server_that_a_document_names_has_a_public_address() {
    let server = Server::start().await;
    let port = server.url.rsplit(':').next().expect("a port").to_owned();
    let inner: IpAddr = "10.0.0.7".parse().expect("an address");
    let here: IpAddr = "127.0.0.1".parse().expect("an address");
    for named in [
        server.url.clone(),
        format!("http://localhost:{port}"),
        format!("http://[::ffff:127.0.0.1]:{port}"),
        format!("http://2130706433:{port}"),
        "http://169.254.169.254/latest".to_owned(),
    ] {
        assert_eq!(kind(api(&named)).await, "address_refused", "{named}");
    }
    assert_eq!(kind(api("http://api.test").resolver(Names(inner))).await, "address_refused");
    assert!(server.arrived().is_empty());

    let error = call(&guarded(api(&server.url)), "a", json!({})).await;
    let text = error.text();
    assert!(text.contains("an address of this machine") && text.contains(".server("), "{text}");

    // The application's word.
    assert_eq!(kind(api("http://169.254.169.254").server(&*server.url)).await, "ok");
    assert_eq!(kind(api(&server.url).permit(here)).await, "ok");
    let named = api(&format!("http://api.test:{port}")).resolver(Names(here));
    assert_eq!(kind(named.clone()).await, "address_refused");
    assert_eq!(kind(named.permit(here)).await, "ok");
    assert_eq!(server.arrived().len(), 3);
}
