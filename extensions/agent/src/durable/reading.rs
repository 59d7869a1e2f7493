//! Reads the state and the turns of a run as they were at one moment.

use super::RunError;
use super::head::Head;
use super::keys;
use super::runner::Inner;
use super::turn::Turns;
use crate::run::State;

impl Inner {
    /// Reads the state of a run and its turns. If another driver has committed since the head was read, the turns are
    /// newer than the head: then nothing is damaged, and the error is [`RunError::LeaseLost`].
    pub(super) async fn turns(
        &self,
        head: &Head,
        version: u64,
    ) -> Result<(State, Turns), RunError> {
        match self.turns_of(head).await {
            Err(damaged @ RunError::Damaged { .. }) => match self.head(&head.run).await? {
                (_, now) if now == version => Err(damaged),
                _ => Err(RunError::LeaseLost { run: head.run.clone() }),
            },
            turns => turns,
        }
    }

    async fn turns_of(&self, head: &Head) -> Result<(State, Turns), RunError> {
        let key = keys::head(&head.run);
        let sealing = self.access.sealing.as_ref();
        let state = head.state(sealing)?;
        if state.turn() != head.turn {
            let (found, expected) = (head.turn, state.turn());
            let why = format!(
                "it says turn {found}, and its state turn {expected}: it was changed by hand; restore it"
            );
            return Err(RunError::damaged(&key, why));
        }
        let documents = self.access.store.documents(&keys::turns(&head.run)).await?;
        let turns = Turns::read(&head.run, &state, documents, sealing)?;
        Ok((state, turns))
    }
}
