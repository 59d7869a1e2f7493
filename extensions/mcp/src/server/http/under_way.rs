//! Counts the requests of each user that are in progress, so that a single user cannot use up all connections. The
//! functions do no I/O.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of requests in progress, by user.
#[derive(Default)]
pub(super) struct UnderWay(Arc<Mutex<HashMap<String, usize>>>);

/// Counts one request of a user as in progress, from its head to the end of its answer, until this value is dropped.
pub(super) struct Place {
    user: String,
    all: Arc<Mutex<HashMap<String, usize>>>,
}

impl UnderWay {
    /// Counts one more request of a user; `None` if `most` requests are already in progress.
    pub(super) fn begin(&self, user: &str, most: usize) -> Option<Place> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(user.to_owned()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place { user: user.to_owned(), all: Arc::clone(&self.0) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.user);
            }
        }
    }
}
