//! The runs of users whose requests belong to no session: one a user, and which of them ends where there is no room. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use super::gate::User;
use crate::server::session::Session;

/// The run of each user, in the order of their last requests.
#[derive(Default)]
pub(super) struct Runs {
    all: HashMap<User, Used>,
    /// How many requests there were.
    requests: u64,
}

struct Used {
    session: Arc<Session>,
    /// The number of the last request.
    last: u64,
}

/// What room there is for one more run.
pub(super) enum Room {
    /// There is some, or there is now that this run is out; it has to be ended.
    Free(Option<Arc<Session>>),
    /// Each run has a call under way, or one that waits for a person.
    Full,
}

impl Runs {
    /// Returns the run of a user, which is used by that.
    pub(super) fn get(&mut self, user: &User) -> Option<Arc<Session>> {
        self.requests += 1;
        let used = self.all.get_mut(user)?;
        used.last = self.requests;
        Some(Arc::clone(&used.session))
    }

    /// Makes room for one more run where there are `most`: the run that was used the longest ago is out, of those that
    /// nothing would be lost with.
    pub(super) fn room(&mut self, most: usize) -> Room {
        if self.all.len() < most {
            return Room::Free(None);
        }
        // A request under way holds its session, too.
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

    pub(super) fn drain(&mut self) -> Vec<Arc<Session>> {
        self.all.drain().map(|(_, used)| used.session).collect()
    }
}
