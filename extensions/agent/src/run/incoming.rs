//! Takes input that arrives while a run works: messages of its user, and the results of calls in the background.

use super::driver::Driver;
use super::recorder::Recorder;
use super::resting::rest_for_background;
use super::{Action, State, StepInput, step};
use crate::events::RunEnd;

impl<R: Recorder> Driver<'_, R> {
    /// Takes the input that has arrived since the last request: results of calls in the background, and messages of the
    /// user.
    pub(super) async fn take_messages(&mut self) -> Result<(), R::Error> {
        let mut said = self.take_background(self.run.state.clone(), Vec::new()).await?;
        let messages = self.recorder.take_said(false).await?;
        if messages.is_empty() && said.1.is_empty() {
            return Ok(());
        }
        let (messages, refused) = self.run.let_in(messages).await;
        let refused = refused.map(|report| StepInput::Guarded { answer: None, report });
        for message in messages {
            let (text, attachments) = message.into_parts();
            let (state, actions) = step(&said.0, StepInput::Interjected { text, attachments });
            said.0 = state;
            said.1.extend(actions);
        }
        if let Some(refused) = refused {
            let (state, actions) = step(&said.0, refused);
            said = (state, said.1.into_iter().chain(actions).collect());
        }
        self.commit(said.0, said.1, None).await
    }

    /// Lets a run that is done continue if its user has sent another message meanwhile, or calls continue in the
    /// background.
    pub(super) async fn goes_on(
        &mut self,
        state: State,
        actions: Vec<Action>,
    ) -> Result<(State, Vec<Action>), R::Error> {
        let is_done = state.outcome().is_some_and(RunEnd::is_answer);
        if !is_done {
            return Ok((state, actions));
        }
        let was_resting = matches!(self.run.state.due(), Some(Action::Await));
        let (state, actions) = rest_for_background(state, actions);
        let rests = matches!(state.due(), Some(Action::Await));
        if rests && !was_resting {
            // The answer that made the run done was paid for. So it is recorded first, and only then is the journal
            // read for results and messages.
            return Ok((state, actions));
        }
        let (mut state, mut actions) = match rests {
            true => self.take_background(state, actions).await?,
            false => (state, actions),
        };
        let messages = self.recorder.take_said(state.ended().is_some()).await?;
        let (messages, refused) = self.run.let_in(messages).await;
        if !messages.is_empty() {
            self.recorder.count_anew();
        }
        if !messages.is_empty() || refused.is_some() {
            actions.retain(|action| !matches!(action, Action::End(_)));
        }
        for (place, message) in messages.into_iter().enumerate() {
            let (text, attachments) = message.into_parts();
            let input = match place {
                0 => self.run.said(text, attachments),
                _ => StepInput::Interjected { text, attachments },
            };
            let (next, more) = step(&state, input);
            state = next;
            actions.extend(more);
        }
        if let Some(report) = refused {
            let (next, more) = step(&state, StepInput::Guarded { answer: None, report });
            state = next;
            actions.retain(|action| !matches!(action, Action::Ask));
            actions.extend(more);
        }
        Ok((state, actions))
    }
}
