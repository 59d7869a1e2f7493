//! Prints what the model says: each line as soon as it is complete, while the rest of the answer is still streaming.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright_agent::{RunEvent, RunEvents};

use crate::shown;

/// The text of the answer that the model is writing. Clones share it.
#[derive(Clone, Default)]
pub struct Said(Arc<Mutex<Saying>>);

#[derive(Default)]
struct Saying {
    turn: u64,
    text: String,
    /// How many lines of the answer have been printed.
    written: usize,
    is_whole: bool,
}

impl Said {
    /// Prints the model's text from the events of a run, until no process drives the run.
    pub fn follow(&self, mut events: RunEvents, mut write: impl FnMut(u64, &str) + Send + 'static) {
        let said = self.clone();
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                match event.kind {
                    RunEvent::Text(text) => said.more(event.turn, &text, &mut write),
                    RunEvent::Restarted => said.again(event.turn),
                    _ => {}
                }
            }
        });
    }

    fn more(&self, turn: u64, text: &str, write: &mut impl FnMut(u64, &str)) {
        let mut saying = self.of(turn);
        // The complete answer has arrived already, so all of its lines are printed.
        if saying.turn > turn || saying.is_whole {
            return;
        }
        saying.text.push_str(text);
        let whole = saying.text.rfind('\n').map_or(0, |end| end + 1);
        let lines = shown::lines(&saying.text[..whole]);
        lines.iter().skip(saying.written).for_each(|line| write(turn, line));
        saying.written = lines.len();
    }

    /// Discards the text so far, because the model is asked again.
    fn again(&self, turn: u64) {
        let mut saying = self.of(turn);
        if saying.turn == turn && !saying.is_whole {
            (saying.text, saying.written) = (String::new(), 0);
        }
    }

    /// Prints the remaining lines, since the answer is complete.
    pub fn whole(&self, turn: u64, text: &str, mut write: impl FnMut(u64, &str)) {
        let mut saying = self.of(turn);
        saying.is_whole = true;
        shown::lines(text).iter().skip(saying.written).for_each(|line| write(turn, line));
    }

    fn of(&self, turn: u64) -> MutexGuard<'_, Saying> {
        let mut saying = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turn > saying.turn {
            *saying = Saying { turn, ..Saying::default() };
        }
        saying
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_written_once_and_as_soon_as_it_is_whole() {
        let (said, mut lines) = (Said::default(), Vec::new());
        let more = |turn, text: &str| {
            let mut lines = Vec::new();
            said.more(turn, text, &mut |_, line: &str| lines.push(line.to_owned()));
            lines
        };
        assert!(more(1, "I lo").is_empty());
        assert_eq!(more(1, "ok.\n\nThen I"), ["I look."]);
        said.whole(1, "I look.\n\nThen I change it.", |_, line| lines.push(line.to_owned()));
        assert_eq!(lines, ["Then I change it."]);
        assert!(more(1, " late\n").is_empty(), "a reader that is slower than the listener");
        assert_eq!(more(2, "Done.\n"), ["Done."]);
        said.again(2);
        assert_eq!(more(2, "Really done.\n"), ["Really done."]);
    }
}
