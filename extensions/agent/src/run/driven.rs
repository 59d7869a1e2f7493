//! A run that is recorded: its driver commits what each step appends before the step counts.

use toolwright::unstable::runs::SubmittedTurn;
use toolwright::{Answer, CallFailure, CancellationToken};

use super::AgentRun;
use crate::{Action, CalledTool, NoticeKind, RunEvent, State, Turn};

impl AgentRun {
    /// Whether the executor takes no new calls.
    pub(crate) fn is_draining(&self) -> bool {
        self.agent.0.executor.is_draining()
    }

    /// Completes when the executor takes no new calls any more.
    pub(crate) fn draining(&self) -> impl Future<Output = ()> + Send + use<> {
        self.agent.0.executor.draining()
    }

    /// Notes that the run is driven no further here.
    pub(crate) fn stopped(&self, why: &impl ToString) {
        let why = why.to_string();
        self.events.push_now(RunEvent::Stopped { why });
    }

    /// Numbers the events from here on as those of the driver that has taken the run so often.
    pub(crate) fn begin_events(&self, epoch: u64) {
        self.events.begin(epoch);
    }

    /// Takes a step that is recorded: where the run stands since, and what the history has more.
    pub(crate) fn take(&mut self, state: State, actions: Vec<Action>) {
        self.state = state;
        for action in actions {
            match action {
                Action::Append(message) => {
                    self.notify(NoticeKind::Appended { message: &message });
                    self.history.push(message);
                }
                Action::End(ended) => self.notify(NoticeKind::Ended { ended: &ended }),
                Action::Ask | Action::Call(_) => {}
            }
        }
    }

    /// Submits the calls of a turn without waiting for people. Calls whose answers are known do not run again.
    pub(crate) async fn submitted(
        &mut self,
        turn: &Turn,
        known: Vec<Option<Answer>>,
    ) -> Result<SubmittedTurn, CallFailure> {
        let called = &turn.calls[..turn.run];
        self.notify(NoticeKind::Calling { calls: called });
        let calls = self.calls_of(called, None);
        self.shown_run().submit_turn_again(turn.number, &calls, known).await
    }

    /// Answers the calls of a turn that is given up: what runs is cancelled, what has not begun never does.
    pub(crate) async fn given_up(
        &mut self,
        turn: &Turn,
        known: Vec<Option<Answer>>,
    ) -> Result<SubmittedTurn, CallFailure> {
        let stop = CancellationToken::new();
        stop.cancel();
        let calls = self.calls_of(&turn.calls[..turn.run], Some(&stop));
        let answers = self.shown_run().turn_again(turn.number, &calls, known).await?;
        Ok(SubmittedTurn::Answered(answers))
    }

    /// Notes that calls of a turn wait.
    pub(crate) fn waits(&self, turn: u64, calls: Vec<CalledTool>) {
        self.events.push(turn, RunEvent::Waiting { calls });
    }

    /// The run of the tools that the model was shown.
    pub(super) fn shown_run(&self) -> &toolwright::Run {
        self.shown.as_ref().map_or(&self.run, |shown| &shown.run)
    }
}
