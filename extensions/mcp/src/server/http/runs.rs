//! The runs for requests without a session, one for each user. If there are too many, the least recently used run is
//! evicted. The functions do no I/O.

use std::collections::HashMap;
use std::sync::Arc;

use super::gate::User;
use crate::server::session::Session;

/// The run of each user, with the order of their last requests.
#[derive(Default)]
pub(super) struct Runs {
    all: HashMap<User, Used>,
    /// How many requests of all users there have been.
    requests: u64,
}

struct Used {
    session: Arc<Session>,
    /// The number of the last request of this user, counted over all users.
    last: u64,
}

/// The result of [`Runs::room`].
pub(super) enum Room {
    /// One more run may begin. If another run was evicted to make room, that run is returned, and the caller has to end
    /// it.
    Free(Option<Arc<Session>>),
    /// No run can be evicted, because each has a call in progress or a call that waits.
    Full,
}

impl Runs {
    /// Returns the run of a user, and notes that it was used.
    pub(super) fn get(&mut self, user: &User) -> Option<Arc<Session>> {
        self.requests += 1;
        let used = self.all.get_mut(user)?;
        used.last = self.requests;
        Some(Arc::clone(&used.session))
    }

    /// Makes room for one more run if there are already `most`: evicts the least recently used of the runs without
    /// calls.
    pub(super) fn room(&mut self, most: usize) -> Room {
        if self.all.len() < most {
            return Room::Free(None);
        }
        // A request in progress holds a reference to its session.
        let is_idle = |used: &Used| Arc::strong_count(&used.session) == 1 && !used.session.waits();
        let idle = self.all.iter().filter(|(_, used)| is_idle(used));
        let Some(user) = idle.min_by_key(|(_, used)| used.last).map(|(user, _)| user.clone())
        else {
            return Room::Full;
        };
        Room::Free(self.all.remove(&user).map(|used| used.session))
    }

    pub(super) fn insert(&mut self, user: User, session: Arc<Session>) {
        self.all.insert(user, Used { session, last: self.requests });
    }

    pub(super) fn remove(&mut self, user: &User) {
        self.all.remove(user);
    }

    pub(super) fn drain(&mut self) -> Vec<Arc<Session>> {
        self.all.drain().map(|(_, used)| used.session).collect()
    }
}
