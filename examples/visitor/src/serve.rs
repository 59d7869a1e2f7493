//! Connections, each served until it ends.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::page::{Page, router};

/// The maximum number of open connections.
const CONNECTIONS: usize = 64;

/// How long a browser may take to send the head of a request, and how long one request may take.
const TIME: Duration = Duration::from_secs(10);

/// Serves the page until the future is dropped.
pub async fn serve(page: Arc<Page>, listener: TcpListener) {
    let (router, room) = (router(page), Arc::new(Semaphore::new(CONNECTIONS)));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // No file descriptors are left. Wait until some are free again.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let router = router.clone();
        let answer =
            hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                router.clone().oneshot(request.map(axum::body::Body::new))
            });
        tokio::spawn(async move {
            let mut served = http1::Builder::new();
            served.timer(TokioTimer::new()).header_read_timeout(TIME).keep_alive(false);
            // A browser may disconnect.
            let _ =
                tokio::time::timeout(TIME, served.serve_connection(TokioIo::new(stream), answer))
                    .await;
            drop(place);
        });
    }
}
