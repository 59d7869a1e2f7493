//! The sessions of clients: the user of each, the maximum number of sessions, and the end of idle sessions.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::time::Instant;

use super::gate::User;
use crate::server::session::Session;

/// How long a session lasts without requests, calls in progress, and calls that wait for a person.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// How often idle sessions are searched for and ended.
pub(super) const SWEEP: Duration = Duration::from_secs(60);

/// The maximum number of sessions of one user, so that a single user cannot use up the sessions of all others. A client
/// that never ends its sessions reaches this limit if it begins this many within [`IDLE`].
const MOST_OF_ONE: usize = 256;

pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    begun: Mutex<HashMap<String, SessionEntry>>,
    /// The sessions of the manager that were not begun here at the last sweep.
    abandoned: Mutex<HashSet<String>>,
}

struct SessionEntry {
    user: User,
    session: Weak<Session>,
    /// When the last request arrived, or when a call was last found in progress.
    last: Instant,
}

/// The result of [`Sessions::room`].
pub(super) enum Room {
    Free,
    Full,
    /// This user already has the maximum number of sessions.
    FullOfTheirs,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        // `rmcp` would count only messages, and end a session whose call sends none.
        manager.session_config.keep_alive = None;
        Self { manager: Arc::new(manager), begun: Mutex::default(), abandoned: Mutex::default() }
    }

    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// Notes a request in a session. Returns `false` if the session belongs to another user. Returns `true` for an
    /// unknown session, because `rmcp` refuses its requests.
    pub(super) fn is_used_by(&self, session: &str, user: &User) -> bool {
        let mut begun = self.lock();
        let Some(begun) = begun.get_mut(session) else { return true };
        let is_theirs = begun.user == *user;
        if is_theirs {
            begun.last = Instant::now();
        }
        is_theirs
    }

    pub(super) async fn room(&self, user: &User, most: usize) -> Room {
        let live = self.manager.sessions.read().await;
        if live.len() >= most {
            return Room::Full;
        }
        let begun = self.lock();
        let is_theirs = |(session, begun): &(&String, &SessionEntry)| {
            begun.user == *user && live.contains_key(session.as_str())
        };
        // Without a check of tokens, all sessions have the same (absent) user, so this limit does not apply.
        match user.is_some() && begun.iter().filter(is_theirs).count() >= MOST_OF_ONE {
            true => Room::FullOfTheirs,
            false => Room::Free,
        }
    }

    pub(super) fn add(&self, id: String, user: User, session: Weak<Session>) {
        self.lock().insert(id, SessionEntry { user, session, last: Instant::now() });
    }

    /// Returns the sessions that have not ended yet.
    pub(super) fn drain(&self) -> Vec<Arc<Session>> {
        self.lock().drain().filter_map(|(_, begun)| begun.session.upgrade()).collect()
    }

    /// Ends the sessions that have been idle for longer than [`IDLE`], and forgets the sessions that have ended. Also ends
    /// each session that was abandoned while it began: a client that disconnects at that moment never learns its id.
    pub(super) async fn end_idle(&self) {
        let now = Instant::now();
        let mut idle = Vec::new();
        self.lock().retain(|id, begun| {
            let Some(session) = begun.session.upgrade() else { return false };
            if is_busy(&session) {
                begun.last = now;
            }
            let stays = now.duration_since(begun.last) < IDLE;
            if !stays {
                idle.push(id.clone());
            }
            stays
        });
        idle.extend(self.find_abandoned().await);
        for id in idle {
            if let Err(error) = self.manager.close_session(&id.into()).await {
                tracing::warn!(%error, "an idle session could not be ended");
            }
        }
    }

    /// Returns the sessions of the manager that were begun neither now nor at the last sweep.
    async fn find_abandoned(&self) -> Vec<String> {
        let live: Vec<String> =
            self.manager.sessions.read().await.keys().map(|id| id.to_string()).collect();
        let unknown: HashSet<String> = {
            let begun = self.lock();
            live.into_iter().filter(|id| !begun.contains_key(id)).collect()
        };
        let mut before = self.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        let abandoned = unknown.intersection(&before).cloned().collect();
        *before = unknown;
        abandoned
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, SessionEntry>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports whether the session has a call in progress, or a call that waits for a person.
fn is_busy(session: &Arc<Session>) -> bool {
    /// How many references to a session do not come from calls: one from the session's handler, and one from the caller
    /// of this function.
    const OF_NO_CALL: usize = 2;
    Arc::strong_count(session) > OF_NO_CALL || session.waits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_whose_client_was_gone_while_it_began_ends_at_the_second_sweep() {
        let sessions = Sessions::new();
        let (_id, _transport) = sessions.manager.create_session().await.unwrap();
        let live = async || sessions.manager.sessions.read().await.len();
        sessions.end_idle().await;
        assert_eq!(live().await, 1);
        sessions.end_idle().await;
        assert_eq!(live().await, 0);
    }
}
