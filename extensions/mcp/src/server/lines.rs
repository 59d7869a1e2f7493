//! The streams of one client, with one message per line. A page of tools is written from a text that was serialized
//! only once.
//!
//! `rmcp` reads all messages and writes all others, but it would serialize every schema again for each list.

use std::collections::HashMap;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

/// How many pages may wait to be written. `rmcp` writes lists beyond this number.
const MOST_PAGES: usize = 64;

/// The part of the JSON of an empty list where the tools are inserted.
const NO_TOOLS: &str = r#""tools":[]"#;

/// The pages that are about to be written, by the request that each answers.
#[derive(Clone, Default)]
pub(super) struct Pages(Arc<Mutex<HashMap<RequestId, Arc<str>>>>);

impl Pages {
    /// Registers a page to replace the empty list of tools in the answer to this request. Returns `false` if too many
    /// pages wait.
    pub(super) fn stand_in(&self, request: &RequestId, page: &Arc<str>) -> bool {
        let mut pages = lock(&self.0);
        // Cancelled requests leave their pages behind, so the number of pages is limited.
        let has_room = pages.len() < MOST_PAGES || pages.contains_key(request);
        if has_room {
            pages.insert(request.clone(), Arc::clone(page));
        }
        has_room
    }

    fn of(&self, message: &TxJsonRpcMessage<RoleServer>) -> Option<Arc<str>> {
        match message {
            JsonRpcMessage::Response(response)
                if matches!(response.result, ServerResult::ListToolsResult(_)) =>
            {
                lock(&self.0).remove(&response.id)
            }
            _ => None,
        }
    }
}

/// The transport of a server over two streams, with one message on each line.
pub(super) struct Lines<R: AsyncRead, W> {
    read: AsyncRwTransport<RoleServer, R, Replies>,
    replies: Replies,
    write: Arc<tokio::sync::Mutex<Option<W>>>,
    pages: Pages,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, pages: Pages) -> Self {
        let replies = Replies::default();
        let read = AsyncRwTransport::new_server(read, replies.clone());
        Self { read, replies, write: Arc::new(tokio::sync::Mutex::new(Some(write))), pages }
    }

    /// Writes one line in several pieces.
    fn write(
        &self,
        line: io::Result<[Piece; 3]>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<R, W> {
        let write = Arc::clone(&self.write);
        async move {
            let line = line?;
            let mut write = write.lock().await;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the stream is closed");
            let write = write.as_mut().ok_or_else(closed)?;
            for piece in &line {
                write.write_all(piece.bytes()).await?;
            }
            write.flush().await
        }
    }
}

/// A piece of a line to write.
enum Piece {
    Own(Vec<u8>),
    Page(Arc<str>),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Page(page) => page.as_bytes(),
        }
    }
}

/// Returns the line of a message, with the page in place of the empty list.
fn line(message: &TxJsonRpcMessage<RoleServer>, page: Option<Arc<str>>) -> io::Result<[Piece; 3]> {
    let mut head = serde_json::to_vec(message)?;
    head.push(b'\n');
    let nothing = || Piece::Own(Vec::new());
    let Some(page) = page else { return Ok([Piece::Own(head), nothing(), nothing()]) };
    // Quotes are escaped within JSON strings, so the match cannot be inside a text.
    let at = head.windows(NO_TOOLS.len()).position(|it| it == NO_TOOLS.as_bytes());
    let at = at.ok_or_else(|| io::Error::other("a list of tools has no place for its page"))?;
    let tail = head.split_off(at + NO_TOOLS.len());
    head.truncate(at + NO_TOOLS.len() - "[]".len());
    Ok([Piece::Own(head), Piece::Page(page), Piece::Own(tail)])
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let page = self.pages.of(&message);
        self.write(line(&message, page))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let received = {
                let mut receiving = pin!(self.read.receive());
                let replies = &self.replies;
                std::future::poll_fn(|context| match receiving.as_mut().poll(context) {
                    Poll::Pending if !replies.is_empty() => Poll::Ready(None),
                    polled => polled.map(Some),
                })
                .await
            };
            let replies = self.replies.take();
            if !replies.is_empty() {
                let nothing = || Piece::Own(Vec::new());
                let writing = self.write(Ok([Piece::Own(replies), nothing(), nothing()]));
                // The line has to be written completely, even if this future is dropped meanwhile.
                tokio::spawn(writing);
            }
            if let Some(received) = received {
                return received;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let write = self.write.lock().await.take();
        match write {
            Some(mut write) => write.shutdown().await,
            None => Ok(()),
        }
    }
}

/// The replies of `rmcp` to lines that are not valid messages.
#[derive(Clone, Default)]
struct Replies(Arc<Mutex<Vec<u8>>>);

impl Replies {
    fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.0))
    }
}

impl AsyncWrite for Replies {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        lock(&self.0).extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
