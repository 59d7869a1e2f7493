//! Which calls of an answer began and which ended, in the order in which the answer will hold them.

use super::StreamError;

/// The calls that began, by what their provider counts them with.
#[derive(Debug, Default)]
pub(super) struct BegunCalls(Vec<(u64, bool)>);

impl BegunCalls {
    /// The place of a call that begins, among the calls of the answer. Later calls have larger keys, since the answer holds
    /// its calls by them.
    pub(super) fn begin(&mut self, key: u64) -> Result<usize, StreamError> {
        if let Some((last, _)) = self.0.last().filter(|(last, _)| *last >= key) {
            let found = format!("call {key} begins after call {last}");
            return Err(StreamError::order(found, "each call once, in the order of the answer"));
        }
        self.0.push((key, true));
        Ok(self.0.len() - 1)
    }

    /// How many began.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The place of a call that grows, where it began.
    pub(super) fn grow(&self, key: u64) -> Result<Option<usize>, StreamError> {
        match self.0.binary_search_by_key(&key, |(key, _)| *key).ok() {
            Some(place) if !self.0[place].1 => {
                let found = format!("found arguments of call {key} after its end");
                Err(StreamError::order(found, "nothing more of it"))
            }
            place => Ok(place),
        }
    }

    /// The place of a call that ends, where it began.
    pub(super) fn end(&mut self, key: u64) -> Result<Option<usize>, StreamError> {
        let place = self.grow(key)?;
        if let Some(place) = place {
            self.0[place].1 = false;
        }
        Ok(place)
    }
}
