//! Whether an answer ends a run in a value of a type: a part of [`step`](super::step()), and as pure.

use toolwright::provider::ToolCall;
use toolwright::{ErrorClass, Output, ToolError};

use super::output::Expected;
use super::state::Phase;
use crate::events::RunEnd;
use crate::history::Message;
use crate::model::FINAL_ANSWER;
use crate::run::{Action, State};

/// How the words begin that a model reads, as the user's, where its answer is not the value which the run ends in.
pub(crate) const NOT_THE_VALUE: &str = "[Your answer is not the value that was asked for:";

/// The value of a type that a run has to end in. An agent that was built with [`output`](crate::AgentBuilder::output) and a run
/// that is [`typed`](crate::RunRequest::typed) say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedOutput(pub(super) Expected);

impl State {
    /// Reads what may be the value.
    pub(super) fn check(&mut self, text: String, call: Option<ToolCall>) -> Action {
        self.0.phase = Phase::Checking { text: text.clone(), call };
        Action::Check { text }
    }

    /// Ends the run in the value, or asks again with all that is wrong. A value that is none is never an end.
    pub(super) fn checked(
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
        let told = answered(refused.into()).or_else(|| {
            let words =
                format!("{NOT_THE_VALUE}\n{problems}\nGive the whole value again, corrected.]");
            (!is_last).then(|| Action::Append(Message::user(words)))
        });
        let next = match is_last {
            true => {
                let problems = problems.lines().map(str::to_owned).collect();
                self.end(RunEnd::InvalidOutput { times, problems })
            }
            false => self.ask_again(),
        };
        told.into_iter().chain(next).collect()
    }
}

/// Why a call was not run that came with the value which the run ends in, or is that value.
pub(super) fn beside_the_value(call: &ToolCall) -> ToolError {
    let message = match call.name == FINAL_ANSWER {
        true => format!("`{FINAL_ANSWER}` was called beside other tools, so it was not read"),
        false => format!("`{}` was called behind `{FINAL_ANSWER}`, so it was not run", call.name),
    };
    ToolError::new("not_alone", message)
        .class(ErrorClass::Invalid)
        .hint(format!("read the answers to the other calls; then call `{FINAL_ANSWER}` alone"))
}
