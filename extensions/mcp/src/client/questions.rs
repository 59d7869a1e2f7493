//! Limits the questions of a server: how many it may ask, when, and how many at once. Otherwise a hostile server could
//! use the application's model, or ask its user, without end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many questions a server may ask during one call.
pub(super) const MOST: usize = 16;

/// The questions of the server of one connection; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Questions {
    count: Arc<Mutex<Count>>,
    /// The lock that allows one question at a time.
    pub(super) one: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct Count {
    /// How many requests of the application the server is working on.
    requests: usize,
    /// How many questions the server has asked since. A question of the revisions before 2026-07-28 does not say to
    /// which request it belongs.
    asked: usize,
}

/// A request of the application, during which the server may ask questions.
pub(super) struct Asking(Questions);

impl Questions {
    /// Notes that the server works on a request, until the returned value is dropped.
    pub(super) fn begin(&self) -> Asking {
        self.lock().requests += 1;
        Asking(self.clone())
    }

    /// Counts a question. The error says why the question is refused.
    pub(super) fn count(&self) -> Result<(), String> {
        let mut count = self.lock();
        match count.requests {
            0 => {
                Err("this application answers questions only during a request of its own"
                    .to_owned())
            }
            requests if count.asked >= requests * MOST => {
                Err(format!("this application answers {MOST} questions during one request"))
            }
            _ => {
                count.asked += 1;
                Ok(())
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut count = self.0.lock();
        count.requests -= 1;
        count.asked = match count.requests {
            0 => 0,
            _ => count.asked.saturating_sub(MOST),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_ask_16_questions_during_each_request_and_none_outside() {
        let questions = Questions::default();
        let asked = || (0..100).filter(|_| questions.count().is_ok()).count();
        assert_eq!(asked(), 0);
        let first = questions.begin();
        assert_eq!(asked(), MOST);
        let second = questions.begin();
        assert_eq!(asked(), MOST);
        drop(first);
        assert_eq!(asked(), 0);
        drop(second);
        assert_eq!(asked(), 0);
        let _third = questions.begin();
        assert_eq!(asked(), MOST);
    }
}
