//! Accepts connections, and serves the page until its token is cancelled.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use super::{Page, router};

/// The most connections at once.
const CONNECTIONS: usize = 256;

/// How long a browser may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(10);

/// How long requests may still take after the page has ended.
const GRACE: Duration = Duration::from_secs(2);

/// Serves the page until its token is cancelled.
///
/// # Errors
/// When no connection can be accepted.
pub async fn serve(page: Arc<Page>, listener: TcpListener) -> io::Result<()> {
    let stop = page.stop.clone();
    let router = router(page);
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // The browser has disconnected, or the process has no free file descriptor. Wait until one may be free.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let router = router.clone();
        // Otherwise the system holds back the later pieces of an answer, until the browser acknowledges the first.
        let _ = stream.set_nodelay(true);
        let answer =
            hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                router.clone().oneshot(request.map(axum::body::Body::new))
            });
        connections.spawn(async move {
            let mut served = http1::Builder::new();
            served.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // A browser may disconnect in the middle of a stream, which is no failure.
            let _ = served.serve_connection(TokioIo::new(stream), answer).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
    // Streams end when the token is cancelled.
    let _ = tokio::time::timeout(GRACE, async { while connections.join_next().await.is_some() {} })
        .await;
    connections.shutdown().await;
    Ok(())
}
