//! The plugin of the agents: it counts the turns of its run in a state of its own, and names run, turn and count to the model, which
//! logs them. A state that a restart loses, or counts twice, is found by that.

use toolwright_agent::{NextTurn, Plugin, PluginError};

/// How many turns were prepared whose answers are recorded.
#[toolwright::data]
#[derive(Clone, Default)]
pub struct Counted {
    /// The turns.
    pub turns: u64,
}

/// Counts the turns.
pub struct Turns;

impl Plugin for Turns {
    type State = Counted;

    fn id(&self) -> String {
        "turns".to_owned()
    }

    async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
        let counted = turn.edit::<Self, _>(|state| {
            state.turns += 1;
            state.turns
        })?;
        turn.instruct(TurnNote { run: turn.run_id(), turn: turn.number(), counted }.write());
        Ok(())
    }
}

/// What the model is told about the turn.
#[derive(Debug, PartialEq, Eq)]
pub struct TurnNote<'t> {
    pub run: &'t str,
    pub turn: u64,
    pub counted: u64,
}

impl<'t> TurnNote<'t> {
    fn write(&self) -> String {
        format!("run {} turn {} counted {}", self.run, self.turn, self.counted)
    }

    /// Reads it where it stands in the instructions of a request.
    pub fn read(instructions: &'t str) -> Option<Self> {
        let words: Vec<&str> = instructions.lines().last()?.split(' ').collect();
        let &["run", run, "turn", turn, "counted", counted] = &words[..] else { return None };
        Some(Self { run, turn: turn.parse().ok()?, counted: counted.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::TurnNote;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let note = TurnNote { run: "run-3-again", turn: 4, counted: 5 };
        assert_eq!(TurnNote::read(&format!("Be brief.\n\n{}", note.write())), Some(note));
        assert_eq!(TurnNote::read("Be brief."), None);
    }
}
