//! Handles an answer or an end that a guard refused: a pure part of [`step`](super::step()).

use std::sync::Arc;

use toolwright::provider::ToolCall;
use toolwright::{ErrorClass, ToolError};

use super::state::Phase;
use crate::events::{GuardAction, GuardReport, RunEnd};
use crate::history::Message;
use crate::model::ModelAnswer;
use crate::run::{Action, State};

/// The beginning of the message, in the user's name, by which a guard sends an answer back to the model.
pub(crate) const SENT_BACK: &str = "[Your answer was not taken:";

impl State {
    /// Handles an answer that a guard refused. The answer counts as a turn, and none of its calls runs.
    pub(super) fn reject_answer(
        &mut self,
        answer: ModelAnswer,
        report: &GuardReport,
    ) -> Vec<Action> {
        let inner = &mut self.0;
        (inner.turn, inner.taken) = (inner.turn.saturating_add(1), inner.taken.saturating_add(1));
        inner.spent = inner.spent.plus(answer.spent());
        (inner.cut, inner.empty) = (0, 0);
        if report.action != GuardAction::SentBack {
            return self.end(RunEnd::guard_stopped(report));
        }
        let ModelAnswer { text, calls, verbatim, .. } = answer;
        let calls: Arc<[ToolCall]> = calls.into();
        let mut actions = Vec::new();
        // Providers refuse an empty message of a model.
        if !calls.is_empty() || !text.trim().is_empty() {
            let calls = Arc::clone(&calls);
            actions.push(Action::Append(Message::Assistant { text, calls, verbatim }));
        }
        if !calls.is_empty() {
            let answered = calls.iter().map(|call| (call.clone(), not_run(call).into()));
            actions.push(Action::Append(Message::tool_results(answered)));
        }
        actions.extend(self.send_back(report));
        actions
    }

    /// Applies the decision of a guard on a message or a request, for which no answer exists, or on the end of the run.
    pub(super) fn guarded_without_answer(&mut self, report: &GuardReport) -> Vec<Action> {
        let has_answer = matches!(&self.0.phase, Phase::Ended { how } if how.is_answer());
        match report.action {
            GuardAction::SentBack if has_answer => self.send_back(report),
            GuardAction::Stopped | GuardAction::Failed => self.end(RunEnd::guard_stopped(report)),
            GuardAction::SentBack | GuardAction::Changed => Vec::new(),
        }
    }

    /// Asks the model again with the guard's message, unless the limit of corrections is reached.
    fn send_back(&mut self, report: &GuardReport) -> Vec<Action> {
        let times = self.0.sent_back.saturating_add(1);
        self.0.sent_back = times;
        if times > self.0.limits.corrections {
            let reason =
                format!("{times} answers were sent back, the last of them with: {}", report.reason);
            return self.end(RunEnd::guard_stopped(&GuardReport { reason, ..report.clone() }));
        }
        let words = format!("{SENT_BACK} {}]", report.reason);
        let mut actions = vec![Action::Append(Message::user(words))];
        actions.extend(self.ask_again());
        actions
    }
}

/// Makes the answer to a call that did not run because a guard sent its message back.
fn not_run(call: &ToolCall) -> ToolError {
    let message =
        format!("`{}` was not run, because the answer that calls it was sent back", call.name);
    ToolError::new("sent_back", message)
        .class(ErrorClass::Invalid)
        .hint("read why, and answer again")
}

#[cfg(test)]
mod tests {
    use toolwright::provider::ToolCall;

    use super::*;
    use crate::events::GuardStage;
    use crate::history::check;
    use crate::limits::Limits;
    use crate::run::{StepInput, step};

    fn report(action: GuardAction) -> GuardReport {
        let (guard, reason) = ("no-rivals".to_owned(), "without Acme".to_owned());
        GuardReport { guard, stage: GuardStage::AfterModel, action, reason }
    }

    fn asked() -> State {
        step(&State::new(Limits::default()), StepInput::said("What does tea cost?")).0
    }

    fn calling() -> ModelAnswer {
        let call = |id: &str| ToolCall {
            id: Some(id.to_owned()),
            name: "order".to_owned(),
            arguments: "{}".to_owned(),
        };
        ModelAnswer::new("Acme.", vec![call("1"), call("2")])
    }

    #[test]
    fn each_call_of_an_answer_that_is_sent_back_has_its_answer_and_the_words_follow() {
        let input =
            StepInput::Guarded { answer: Some(calling()), report: report(GuardAction::SentBack) };
        let (state, actions) = step(&asked(), input);
        let history: Vec<Message> = actions
            .iter()
            .filter_map(|it| match it {
                Action::Append(message) => Some(message.clone()),
                _ => None,
            })
            .collect();
        assert_eq!((check(&history).unwrap().len(), history.len(), state.turn()), (0, 3, 1));
        assert!(
            matches!(&history[2], Message::User { text, .. } if text == "[Your answer was not taken: without Acme]")
        );
        assert!(matches!(state.due(), Some(Action::Ask)));
    }

    #[test]
    fn a_guard_that_never_lets_an_answer_through_ends_the_run_and_so_does_one_that_stops() {
        let mut state = asked();
        for times in 1..=3 {
            let report = report(GuardAction::SentBack);
            state = step(&state, StepInput::Guarded { answer: Some(calling()), report }).0;
            assert_eq!(state.ended().is_some(), times == 3, "{times}");
        }
        let report = report(GuardAction::Stopped);
        let (state, actions) =
            step(&asked(), StepInput::Guarded { answer: Some(calling()), report });
        assert!(matches!(
            &actions[..],
            [Action::End(RunEnd::GuardStopped { has_failed: false, .. })]
        ));
        assert_eq!(state.turn(), 1);
    }

    #[test]
    fn an_end_without_an_answer_is_not_sent_back() {
        let (ended, _) = step(&asked(), StepInput::Cancelled);
        let report = report(GuardAction::SentBack);
        let (state, actions) = step(&ended, StepInput::Guarded { answer: None, report });
        assert!(state == ended && actions.is_empty());
    }
}
