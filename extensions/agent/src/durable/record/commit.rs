//! Records one step of a run: its messages, the answer of the model and the new head, in one commit.

use toolwright::journal::DocumentWrite;

use super::RunRecord;
use crate::durable::RunError;
use crate::durable::deadline::deadline_of;
use crate::durable::head::Phase;
use crate::durable::keys::Part;
use crate::durable::turn::{Answers, EndsIn, ModelAnswered, TurnPrompt};
use crate::history::Message;
use crate::plugin::PluginTurn;
use crate::run::{Action, State, Stop};

impl RunRecord {
    /// Records a step, as [`Recorder::commit`](crate::run::Recorder::commit) does.
    pub(super) async fn commit_step(
        &mut self,
        before: &State,
        next: &State,
        actions: &[Action],
        stop: Option<Stop>,
        plugins: Option<&PluginTurn>,
    ) -> Result<(), RunError> {
        let (run, turn) = (self.recorded.head.run.clone(), next.turn());
        let is_answered = turn > before.turn();
        let mut said = if is_answered { Vec::new() } else { self.said.clone() };
        let mut guarded = if is_answered { Vec::new() } else { self.guarded.clone() };
        let guards = std::mem::take(&mut self.guards);
        let has_guarded = !is_answered && !guards.is_empty();
        let (already_said, mut documents) = (said.len(), Vec::new());
        let (mut model, mut has_answers, mut ended) = (None, false, None);
        let mut newest = self.recorded.head.prices.clone();
        for action in actions {
            let message = match action {
                Action::Append(message) => message,
                Action::End(end) => {
                    ended = Some(end).filter(|end| end.is_of_value()).cloned();
                    continue;
                }
                // If a run waits for calls in the background after its model gave the value, the value is recorded with
                // the answer, as at the end of a run.
                Action::Await => {
                    ended = next.outcome().filter(|end| end.is_of_value()).cloned();
                    continue;
                }
                _ => continue,
            };
            match message {
                Message::User { .. } => said.push(message.clone()),
                Message::Assistant { .. } => model = Some(message.clone()),
                Message::ToolResults(_) => {
                    has_answers = true;
                    let body = Answers { message: message.clone() };
                    documents.push(self.recorded.write(Part::Answers.key(&run, turn), &body)?);
                    let key = Part::SoFar.key(&run, turn);
                    let expects = self.recorded.versions.get(&key).copied();
                    if expects.is_some() {
                        documents.push(DocumentWrite { key, expects, text: None });
                    }
                }
            }
        }
        if is_answered {
            let asked = self.asked.take().unwrap_or_default();
            newest = newest.max(asked.prices.clone());
            let body = ModelAnswered { message: model, ended, guards, ..asked };
            documents.push(self.recorded.write(Part::Answer.key(&run, turn), &body)?);
        } else {
            guarded.extend(guards);
        }
        if said.len() > already_said || has_guarded {
            let key = Part::Said.key(&run, turn + 1);
            let (messages, ends_in) = (said.clone(), Some(EndsIn::of(next)));
            let body = TurnPrompt { messages, ends_in, guards: guarded.clone() };
            documents.push(self.recorded.write(key, &body)?);
        }
        documents.extend(self.plugins.with_step(&mut self.recorded, turn, plugins)?);
        let mut head = self.head_of(next)?;
        head.prices = newest;
        if next.turns_since_said() == 0 && (is_answered || before.turns_since_said() > 0) {
            // A new message of the user continues a run that had ended, so its time limit starts again.
            head.deadline = deadline_of(self.recorded.access(), next.limits());
        }
        if stop == Some(Stop::Cancelled) {
            head.cancelled.clone_from(&self.cancelled);
        }
        let is_ended = head.phase == Phase::Ended;
        let is_listed = (self.recorded.head.phase == Phase::Ended) == is_ended;
        // A run that has ended stays in the list of open runs until its calls are acknowledged and its calls in the
        // background are cancelled.
        let is_left =
            is_ended && (has_answers || !self.left.is_empty() || !next.background().is_empty());
        // Before the driver lists such a run as ended, it reads the inbox once more.
        self.recorded.is_said_more = is_left;
        if self.recorded.is_new() || !(is_listed || is_left) {
            documents.extend(match is_answered {
                true => self.listed_for_the_paid(is_ended).await?,
                false => self.recorded.prepare_listing(is_ended).await?,
            });
        }
        documents.extend(std::mem::take(&mut self.recorded.taken));
        if is_answered {
            self.commit_paid(head, documents).await?;
        } else {
            self.recorded.commit(head, documents).await?;
        }
        self.plugins.is_recorded(&self.recorded, turn);
        self.recorded.suspicion = None;
        (self.said, self.guarded, self.so_far) = (said, guarded, Vec::new());
        self.note_background(next).await;
        Ok(())
    }
}
