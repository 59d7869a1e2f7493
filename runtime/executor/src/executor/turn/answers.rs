//! What a turn returns: one answer for each call, and which call ends the run, if one does.

use std::vec;

use super::background::BackgroundCall;
use crate::call::Outcome;
use toolwright_core::output::Answer;

/// The answers of a turn: one for each call, in the order of the calls. Made by
/// [`Run::turn`](crate::executor::Run::turn).
#[derive(Debug)]
pub struct TurnAnswers {
    answers: Vec<Answer>,
    terminal: Option<usize>,
    background: Vec<BackgroundCall>,
}

/// The state of a submitted turn.
#[doc(hidden)]
#[derive(Debug)]
pub enum SubmittedTurn {
    /// Every call is answered.
    Answered(TurnAnswers),
    /// At least one call waits. These are the outcomes of all calls, in their order.
    Waiting(Vec<Outcome>),
}

impl TurnAnswers {
    /// Makes the answers of a turn; `terminal` is the index of the first successful call of a terminal tool.
    #[doc(hidden)]
    #[must_use]
    pub fn new(answers: Vec<Answer>, terminal: Option<usize>) -> Self {
        Self { answers, terminal, background: Vec::new() }
    }

    pub(super) fn with_background(self, background: Vec<BackgroundCall>) -> Self {
        Self { background, ..self }
    }

    /// Lists the calls that continue in the background, in the order of the calls.
    #[doc(hidden)]
    #[must_use]
    pub fn in_background(&self) -> &[BackgroundCall] {
        &self.background
    }

    /// Lists the answers, at the indices of their calls.
    #[must_use]
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// Returns the answers, in the order of the calls, and consumes this value.
    #[must_use]
    pub fn into_answers(self) -> Vec<Answer> {
        self.answers
    }

    /// Returns the index of the first call whose tool is `terminal` and whose answer is a result. With that call, the
    /// run has completed its task. `None` if the turn calls no terminal tool, or if each such call failed, was refused
    /// or was only put into a plan.
    #[must_use]
    pub fn terminal_call(&self) -> Option<usize> {
        self.terminal
    }

    /// Returns the answer of [`terminal_call`](Self::terminal_call).
    #[must_use]
    pub fn terminal_answer(&self) -> Option<&Answer> {
        self.answers.get(self.terminal?)
    }
}

impl IntoIterator for TurnAnswers {
    type Item = Answer;
    type IntoIter = vec::IntoIter<Answer>;

    fn into_iter(self) -> Self::IntoIter {
        self.answers.into_iter()
    }
}
