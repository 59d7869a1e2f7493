//! Streams the parts of a page that have changed, as server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt as _, stream};
use serde_json::json;

use super::layout::Part;
use super::posted::SignedIn;
use super::problem::Problem;
use super::sessions::Session;
use super::{Page, columns, ticket};

/// How long the stream waits before it reads the board again, unless the journal reports a change.
const PAUSE: Duration = Duration::from_secs(1);

/// How long the stream waits at least between two reads.
const LEAST: Duration = Duration::from_millis(200);

/// After this many reads without a change the stream sends a comment, so that a broken connection is noticed.
const SILENT: u32 = 15;

pub async fn of_board(State(page): State<Arc<Page>>, SignedIn(session): SignedIn) -> Response {
    stream_of(page, session, None)
}

pub async fn of_ticket(
    State(page): State<Arc<Page>>,
    SignedIn(session): SignedIn,
    Path((_, ticket)): Path<(String, i64)>,
) -> Response {
    stream_of(page, session, Some(ticket))
}

fn stream_of(page: Arc<Page>, session: Arc<Session>, ticket: Option<i64>) -> Response {
    let watched = Watched { page, session, ticket, seen: HashMap::new(), silent: 0 };
    Sse::new(changes(watched)).into_response()
}

struct Watched {
    page: Arc<Page>,
    session: Arc<Session>,
    ticket: Option<i64>,
    /// The version of each part that was sent.
    seen: HashMap<String, u64>,
    silent: u32,
}

fn changes(watched: Watched) -> impl Stream<Item = Result<Event, Infallible>> {
    let looks = stream::unfold((watched, true), |(mut watched, is_first)| async move {
        if !is_first && !watched.pause().await {
            return None;
        }
        let events = watched.look().await;
        Some((stream::iter(events.into_iter().map(Ok)), (watched, false)))
    });
    looks.flatten()
}

impl Watched {
    /// Waits until something may have changed. Returns false if the stream has ended.
    async fn pause(&self) -> bool {
        let changed = async {
            tokio::time::sleep(LEAST).await;
            let _ = tokio::time::timeout(PAUSE, self.page.journal.changed()).await;
        };
        let is_over = tokio::select! {
            () = self.page.stop.cancelled() => true,
            () = changed => false,
        };
        let Session { folder, cookie, .. } = &*self.session;
        !is_over && self.page.sessions.find(folder, cookie).is_some()
    }

    async fn look(&mut self) -> Vec<Event> {
        // If the database fails now, the next iteration reads it again.
        let mut parts = self.parts().await.unwrap_or_default();
        parts.retain(|it| self.seen.insert(it.id.clone(), it.version()) != Some(it.version()));
        self.silent = if parts.is_empty() { self.silent + 1 } else { 0 };
        if self.silent >= SILENT {
            self.silent = 0;
            return vec![Event::default().comment("here")];
        }
        parts.iter().map(event).collect()
    }

    async fn parts(&self) -> Result<Vec<Part>, Problem> {
        match self.ticket {
            None => columns::parts(&self.page, &self.session),
            Some(ticket) => ticket::parts(&self.page, &self.session, ticket).await,
        }
    }
}

fn event(part: &Part) -> Event {
    // The version is text, since JavaScript loses digits of a large number. JSON puts the HTML on one line.
    let version = part.version().to_string();
    let data = json!({"id": part.id, "html": part.html.0, "version": version});
    Event::default().event("part").data(data.to_string())
}
