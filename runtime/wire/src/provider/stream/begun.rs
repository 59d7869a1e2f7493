//! Tracks which calls of an answer have begun and ended.

use super::StreamError;

/// The calls that have begun, in the order of the answer: the provider's key, and whether the call is still open.
#[derive(Debug, Default)]
pub(super) struct BegunCalls(Vec<(u64, bool)>);

impl BegunCalls {
    /// Begins a call, and returns its index in the answer. Each call must have a larger key than the calls before it,
    /// because the answer sorts its calls by key.
    pub(super) fn begin(&mut self, key: u64) -> Result<usize, StreamError> {
        if let Some((last, _)) = self.0.last().filter(|(last, _)| *last >= key) {
            let found = format!("call {key} begins after call {last}");
            return Err(StreamError::order(found, "each call once, in the order of the answer"));
        }
        self.0.push((key, true));
        Ok(self.0.len() - 1)
    }

    /// Returns the number of calls that have begun.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the index of a call whose arguments continue; `None` if no call with this key has begun.
    pub(super) fn grow(&self, key: u64) -> Result<Option<usize>, StreamError> {
        match self.0.binary_search_by_key(&key, |(key, _)| *key).ok() {
            Some(place) if !self.0[place].1 => {
                let found = format!("found arguments of call {key} after its end");
                Err(StreamError::order(found, "nothing more of it"))
            }
            place => Ok(place),
        }
    }

    /// Marks a call as ended, and returns its index; `None` if no call with this key has begun.
    pub(super) fn end(&mut self, key: u64) -> Result<Option<usize>, StreamError> {
        let place = self.grow(key)?;
        if let Some(place) = place {
            self.0[place].1 = false;
        }
        Ok(place)
    }
}
