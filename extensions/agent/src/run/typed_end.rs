//! Decides whether an answer ends a run in a value of its output type: a pure part of [`step`](super::step()).

use toolwright::provider::ToolCall;
use toolwright::{ErrorClass, Output, ToolError};

use super::output::Expected;
use super::state::Phase;
use crate::events::RunEnd;
use crate::history::Message;
use crate::model::FINAL_ANSWER;
use crate::run::{Action, State};

/// The beginning of the message, in the user's name, to a model whose answer is not the requested value.
pub(crate) const NOT_THE_VALUE: &str = "[Your answer is not the value that was asked for:";

/// The output type in which a run has to end. It is set by [`output`](crate::AgentBuilder::output) on an agent, or by
/// [`typed`](crate::RunRequest::typed) on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedOutput(pub(super) Expected);

impl State {
    /// Requests a check of whether a text is a value of the output type.
    pub(super) fn check(&mut self, text: String, call: Option<ToolCall>) -> Action {
        self.0.phase = Phase::Checking { text: text.clone(), call };
        Action::Check { text }
    }

    /// Ends the run in the value, or asks again with all problems. An invalid value never ends the run as an answer.
    pub(super) fn end_in_value(
        &mut self,
        call: Option<&ToolCall>,
        checked: Result<String, String>,
    ) -> Vec<Action> {
        let answered = |answer| {
            call.map(|call| Action::Append(Message::tool_results([(call.clone(), answer)])))
        };
        let problems = match checked {
            Ok(value) => {
                let taken = answered(Output::text("taken as the result").into());
                return taken.into_iter().chain(self.end(RunEnd::Output { value })).collect();
            }
            Err(problems) => problems,
        };
        let most = self.0.limits.corrections;
        let times = self.0.output.as_mut().map_or(1, |expected| {
            expected.invalid = expected.invalid.saturating_add(1);
            expected.invalid
        });
        let refused =
            ToolError::invalid(format!("this is not the value that was asked for:\n{problems}"));
        let refused = refused.hint("correct it and call again");
        let is_last = times > most;
        let reply = answered(refused.into())
            .or_else(|| (!is_last).then(|| Action::Append(Message::user(correction(&problems)))));
        let next = match is_last {
            true => {
                let problems = problems.lines().map(str::to_owned).collect();
                self.end(RunEnd::InvalidOutput { times, problems })
            }
            false => self.ask_again(),
        };
        reply.into_iter().chain(next).collect()
    }
}

/// Writes the message, in the user's name, about a text that is not the value.
pub(crate) fn correction(problems: &str) -> String {
    format!("{NOT_THE_VALUE}\n{problems}\nGive the whole value again, corrected.]")
}

/// Makes the answer to a call that was not run, because it came after the final value or is a final value beside other
/// calls.
pub(super) fn beside_the_value(call: &ToolCall) -> ToolError {
    let message = match call.name == FINAL_ANSWER {
        true => format!("`{FINAL_ANSWER}` was called beside other tools, so it was not read"),
        false => format!("`{}` was called behind `{FINAL_ANSWER}`, so it was not run", call.name),
    };
    ToolError::new("not_alone", message)
        .class(ErrorClass::Invalid)
        .hint(format!("read the answers to the other calls; then call `{FINAL_ANSWER}` alone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::model::ModelAnswer;
    use crate::run::{StepInput, step};

    fn asked() -> State {
        let expected = Expected::of::<u8>();
        let said = StepInput::said("What does tea cost?").expecting(Some(expected));
        step(&State::new(Limits::default()), said).0
    }

    #[test]
    fn a_stored_answer_that_was_not_read_is_read_when_the_run_goes_on() {
        let call = ToolCall { id: None, name: FINAL_ANSWER.to_owned(), arguments: "7".to_owned() };
        let answer = ModelAnswer::new("", vec![call.clone()]);
        let (state, _) = step(&asked(), StepInput::Answered(answer));
        let stored = serde_json::to_string(&state).unwrap();
        let state: State = serde_json::from_str(&stored).unwrap();
        assert!(matches!(state.due(), Some(Action::Check { text }) if text == "7"));
        assert_eq!(state.open_calls(), [call]);
    }

    #[test]
    fn a_value_that_is_none_is_never_an_end_and_what_was_not_asked_for_changes_nothing() {
        let mut state = asked();
        for times in 1..=3 {
            let answer = StepInput::Answered(ModelAnswer::text("Well."));
            state = step(&step(&state, answer).0, StepInput::Checked(Err("no".to_owned()))).0;
            assert_eq!(state.ended().is_some(), times == 3);
        }
        let ended = RunEnd::InvalidOutput { times: 3, problems: vec!["no".to_owned()] };
        assert_eq!(state.ended(), Some(&ended));
        let (after, actions) = step(&state, StepInput::Checked(Ok("{}".to_owned())));
        assert!(after == state && actions.is_empty());
    }

    #[test]
    fn what_the_user_says_next_has_an_end_of_its_own() {
        let (state, _) = step(&asked(), StepInput::Answered(ModelAnswer::text("7")));
        let (state, _) = step(&state, StepInput::Checked(Ok("7".to_owned())));
        let (state, _) = step(&state, StepInput::said("Thank you."));
        let (state, _) = step(&state, StepInput::Answered(ModelAnswer::text("Not at all.")));
        assert!(matches!(state.ended(), Some(RunEnd::Text { .. })));
    }
}
