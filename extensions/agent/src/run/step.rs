//! Computes the next step of a run: takes the state and an input, and returns the next state and the actions that the
//! driver has to carry out. Pure: no clock, no I/O, no randomness.
//!
//! ```text
//!             said                answered: calls            every call answered
//!   idle ───────────▶ asking ──────────────────▶ calling ─────────────────────────▶ asking
//!                       │ ▲ cut, empty             │
//!                       │ └──┘                     │ a terminal tool succeeded, a limit, cancelled
//!                       ▼                          ▼
//!                     ended ◀──────────────────────┘        (said: asking again)
//! ```
//!
//! A run with an output type has one more phase, in which an answer without calls, or a single call that gives the
//! value, is checked.
//!
//! ```text
//!   asking ── answered: the value ──▶ checking ── checked: valid, or invalid too often ──▶ ended
//!      ▲                                 │
//!      └──── checked: the problems ──────┘
//! ```
//!
//! A guard of the application may send back an answer or the end, or end the run:
//!
//! ```text
//!   asking ── guarded: sent back ──▶ asking        asking, ended ── guarded: stopped ──▶ ended
//!   ended ─── guarded: sent back ──▶ asking        ended ── end changed ──▶ ended
//! ```
//!
//! When the model is done while calls go on in the background, the run rests until one of them has a result, or the
//! user sends another message:
//!
//! ```text
//!   ended ── rests ──▶ resting ── background answered, said ──▶ asking
//!   resting ── cancelled, time is up ──▶ ended
//! ```
//!
//! - In the history, the answers of a turn's calls follow directly on the message with the calls: no other message
//!   comes between the two.
//! - Each call of a turn gets exactly one answer, in call order, even if the driver brings too few or too many answers.
//! - An input that does not fit the phase of the run changes nothing and causes no action.

use std::sync::Arc;

use toolwright::provider::ToolCall;
use toolwright::{Answer, Content};

use super::background::BackgroundCall;
use super::failing::Failing;
use super::handing::is_hand_off;
use super::output::Expected;
use super::state::{Phase, Stopping};
use super::typed_end::{ExpectedOutput, beside_the_value};
use super::unanswered::{cut_short, interrupted};
use crate::events::{GuardReport, RunEnd};
use crate::history::Message;
use crate::limits::budget::{self, BudgetEnd};
use crate::limits::{Limit, TotalUsage};
use crate::model::{FINAL_ANSWER, ModelAnswer, ModelError, StopReason};
use crate::run::{State, Turn};

/// The message that the run sends in the user's name after the model's answer was cut short in the middle of a call,
/// and the provider sent no part of that call.
pub(crate) const CUT_SHORT: &str = "[Your answer was cut short in the middle of a call, because it was too long. Nothing of that call was run. Make it again in smaller parts.]";

/// An input of a step: something that happened to a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum StepInput {
    /// The user sent a message. Ignored while the calls of a turn run, and while a value is checked.
    Said {
        /// The text of the message.
        text: String,
        /// The attachments of the message; see [`Message::User`].
        attachments: Arc<[Content<'static>]>,
        /// The output type in which the run has to end after this message; `None` if it ends in a text.
        output: Option<ExpectedOutput>,
    },
    /// The user sent another message while the run works: the model gets the message with the next request. Limits do
    /// not start again.
    Interjected {
        /// The text of the message.
        text: String,
        /// The attachments of the message.
        attachments: Arc<[Content<'static>]>,
    },
    /// The model answered.
    Answered(ModelAnswer),
    /// The model's answer was checked. The result is the value as JSON, or a text with a line for each problem.
    Checked(Result<String, String>),
    /// A guard has sent back the model's answer or the end of the run, or has ended the run.
    Guarded {
        /// The answer that the guard checked; `None` if the guard checked a message of the user, a request or the end
        /// of the run. If the guard ended the run, the text and the calls of the answer are dropped, but its usage and
        /// its turn count.
        answer: Option<ModelAnswer>,
        /// The decision of the guard.
        report: GuardReport,
    },
    /// A guard has replaced the text of the run's end.
    EndChanged {
        /// The same kind of end, with the new text.
        end: RunEnd,
    },
    /// The request to the model failed.
    Failed(ModelError),
    /// The calls of a turn have their answers.
    Called {
        /// The answers, by the index of the call. A call without an answer counts as interrupted.
        answers: Vec<Answer>,
        /// The index of the first successful call of a terminal tool, in call order.
        terminal: Option<usize>,
    },
    /// The model is unavailable, and the driver asks it again later. The value is the usage of the failed requests.
    Unreachable(TotalUsage),
    /// The request could have exceeded a [`Ceiling`](crate::Ceiling), or aborted requests and summaries have reached a
    /// limit of the run, so the model was not asked.
    TooDear(Limit),
    /// The driver aborted a request. The value is the usage of the request.
    GivenUp(TotalUsage),
    /// These calls of the open turn go on in the background. Their answers say so, and their results arrive later.
    InBackground(Vec<BackgroundCall>),
    /// A call in the background has its result. Each result counts once. The result of a call that is not in the
    /// background changes nothing.
    BackgroundAnswered {
        /// The call that was answered.
        call: BackgroundCall,
        /// The result of the call, as the model reads it.
        text: String,
        /// The sources of untrusted text in the result.
        untrusted: Vec<String>,
    },
    /// The model is done, but the run does not end yet, because calls continue in the background.
    Rests,
    /// The calls of the open turn have started sub-agents, whose usage is added to that of the run. Nothing else
    /// changes.
    Delegated {
        /// The tokens and the cost of the sub-agents' requests.
        spent: TotalUsage,
        /// How many times the models of the sub-agents have answered.
        turns: u32,
    },
    /// The run was cancelled. If calls of a turn are open, they have to be answered before the run ends.
    Cancelled,
    /// [`Limits::time`](crate::Limits::time) has passed since the last [`Said`](Self::Said). If calls of a turn are
    /// open, they have to be answered before the run ends.
    TimeIsUp,
}

impl StepInput {
    /// Makes the input for a text of the user.
    pub fn said(text: impl Into<String>) -> Self {
        Self::said_with(text, [])
    }

    /// Makes the input for a text of the user with pictures or documents.
    pub fn said_with(
        text: impl Into<String>,
        attachments: impl Into<Arc<[Content<'static>]>>,
    ) -> Self {
        Self::Said { text: text.into(), attachments: attachments.into(), output: None }
    }

    /// Sets the output type in which the run has to end after this message.
    pub(crate) fn expecting(self, expected: Option<Expected>) -> Self {
        match self {
            Self::Said { text, attachments, .. } => {
                Self::Said { text, attachments, output: expected.map(ExpectedOutput) }
            }
            other => other,
        }
    }
}

/// An action that a driver has to carry out. A driver carries out actions in order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Action {
    /// Appends the message to the history.
    Append(Message),
    /// Asks the model with the history; the driver continues with [`StepInput::Answered`] or [`StepInput::Failed`].
    Ask,
    /// Runs the calls of a turn; the driver continues with [`StepInput::Called`].
    Call(Turn),
    /// Checks whether a text is a value of the output type; the driver continues with [`StepInput::Checked`].
    Check {
        /// The text that the model gave as the value.
        text: String,
    },
    /// Waits for the result of a call that continues in the background; the driver passes it on as
    /// [`StepInput::BackgroundAnswered`].
    Await,
    /// Ends the run.
    End(RunEnd),
}

impl Action {
    /// Returns the message that the action appends.
    pub(super) fn message(&self) -> Option<&Message> {
        match self {
            Self::Append(message) => Some(message),
            _ => None,
        }
    }
}

/// Computes the state of a run after an input, and the actions to carry out.
///
/// ```
/// use toolwright_agent::{Action, RunEnd, StepInput, Limits, ModelAnswer, State, step};
///
/// let state = State::new(Limits::default());
/// let (state, _) = step(&state, StepInput::said("what is 1 + 2?"));
/// let (state, actions) = step(&state, StepInput::Answered(ModelAnswer::text("3")));
/// let [Action::Append(_), Action::End(RunEnd::Text { text, .. })] = &actions[..] else { panic!("it ends") };
/// assert_eq!((text.as_str(), state.turn()), ("3", 1));
/// ```
#[must_use]
pub fn step(state: &State, event: StepInput) -> (State, Vec<Action>) {
    let mut next = state.clone();
    let actions = match (&state.0.phase, event) {
        (
            Phase::Idle | Phase::Asking | Phase::Resting { .. } | Phase::Ended { .. },
            StepInput::Said { text, attachments, output },
        ) => next.take_message(Message::user_with(text, attachments), output),
        (Phase::Asking, StepInput::Interjected { text, attachments }) => {
            vec![Action::Append(Message::user_with(text, attachments))]
        }
        (Phase::Asking, StepInput::Answered(answer)) => next.take_answer(answer),
        (Phase::Asking, StepInput::Guarded { answer: Some(answer), report }) => {
            next.reject_answer(answer, &report)
        }
        (
            Phase::Idle | Phase::Asking | Phase::Resting { .. } | Phase::Ended { .. },
            StepInput::Guarded { answer: None, report },
        ) => next.guarded_without_answer(&report),
        (Phase::Ended { how }, StepInput::EndChanged { end }) if how.name() == end.name() => {
            next.end(end)
        }
        (Phase::Asking, StepInput::Failed(error)) => {
            next.0.spent = next.0.spent.plus(error.spent());
            next.end(RunEnd::model_failed(&error))
        }
        (Phase::Asking, StepInput::GivenUp(spent)) => {
            next.0.spent = next.0.spent.plus(spent);
            Vec::new()
        }
        (Phase::Asking, StepInput::Unreachable(spent)) => {
            next.0.spent = next.0.spent.plus(spent);
            next.ask()
        }
        (Phase::Asking, StepInput::TooDear(limit)) => next.end(RunEnd::Limit(limit)),
        (Phase::Asking | Phase::Resting { .. }, StepInput::Cancelled) => {
            next.end(RunEnd::Cancelled)
        }
        (Phase::Asking | Phase::Resting { .. }, StepInput::TimeIsUp) => {
            let ended = next.time_is_up();
            next.end(ended)
        }
        (Phase::Calling { calls, stopping, .. }, StepInput::Called { answers, terminal }) => {
            next.take_results(calls, *stopping, answers, terminal)
        }
        (Phase::Checking { call, .. }, StepInput::Checked(checked)) => {
            next.end_in_value(call.as_ref(), checked)
        }
        (Phase::Calling { .. }, StepInput::Delegated { spent, turns }) => {
            next.0.spent = next.0.spent.plus(spent);
            next.0.delegated = next.0.delegated.saturating_add(turns);
            Vec::new()
        }
        (Phase::Calling { .. }, StepInput::InBackground(calls)) => {
            next.0.background.extend(calls);
            Vec::new()
        }
        (Phase::Asking, StepInput::BackgroundAnswered { call, text, untrusted }) => {
            next.take_background(&call, Message::user(text).untrusted(untrusted))
        }
        (Phase::Resting { .. }, StepInput::BackgroundAnswered { call, text, untrusted }) => {
            let message = Message::user(text).untrusted(untrusted);
            let mut actions = next.take_background(&call, message);
            if !actions.is_empty() {
                actions.extend(next.ask_again());
            }
            actions
        }
        (Phase::Ended { how }, StepInput::Rests) if how.is_answer() => next.rest(how.clone()),
        (Phase::Calling { .. }, StepInput::Cancelled) => next.stop(Stopping::Cancelled),
        (Phase::Calling { .. }, StepInput::TimeIsUp) => next.stop(Stopping::TimeIsUp),
        // The input arrived too late, or no action requested it.
        _ => Vec::new(),
    };
    (next, actions)
}

impl State {
    fn take_message(&mut self, message: Message, output: Option<ExpectedOutput>) -> Vec<Action> {
        let inner = &mut self.0;
        inner.output = output.map(|ExpectedOutput(expected)| expected);
        (inner.taken, inner.delegated, inner.empty, inner.cut) = (0, 0, 0, 0);
        (inner.sent_back, inner.handed_off) = (0, 0);
        inner.failing = None;
        inner.called = false;
        inner.spent_before = inner.spent;
        inner.phase = Phase::Asking;
        vec![Action::Append(message), Action::Ask]
    }

    fn take_answer(&mut self, answer: ModelAnswer) -> Vec<Action> {
        let inner = &mut self.0;
        (inner.turn, inner.taken) = (inner.turn.saturating_add(1), inner.taken.saturating_add(1));
        inner.spent = inner.spent.plus(answer.spent());
        if answer.stop == StopReason::Refused {
            // A model that refuses at the end of an answer has withdrawn the calls of that answer.
            let why = if answer.text.is_empty() { "without a reason" } else { &answer.text };
            let error = ModelError::new("refused", format!("the model refused to answer: {why}"));
            return self.end(RunEnd::model_failed(&error));
        }
        let is_cut = answer.stop == StopReason::CutInCall;
        let is_text_cut = answer.stop == StopReason::CutShort;
        let is_paused = answer.stop == StopReason::Paused && answer.calls.is_empty();
        // A paused answer with `verbatim` content is not empty: that content holds calls that the provider ran itself.
        let is_empty = answer.calls.is_empty()
            && answer.text.trim().is_empty()
            && !(is_paused && answer.verbatim.is_some());
        inner.cut = if is_cut { inner.cut.saturating_add(1) } else { 0 };
        inner.empty = if is_empty && !is_cut { inner.empty.saturating_add(1) } else { 0 };
        let ModelAnswer { text, calls, verbatim, .. } = answer;
        let calls: Arc<[ToolCall]> = calls.into();
        let said = text.clone();
        // Providers refuse an empty message of a model.
        let mut actions = match is_empty {
            true => Vec::new(),
            false => {
                let calls = Arc::clone(&calls);
                vec![Action::Append(Message::Assistant { text, calls, verbatim })]
            }
        };
        let is_typed = inner.output.is_some();
        if let ([call], false, true) = (&calls[..], is_cut, is_typed)
            && call.name == FINAL_ANSWER
        {
            actions.push(self.check(call.arguments.clone(), Some(call.clone())));
        } else if !calls.is_empty() {
            inner.phase = Phase::Calling { calls: Arc::clone(&calls), is_cut, stopping: None };
            let Some(Action::Call(turn)) = self.due() else { return actions };
            // No call is run: the only call was cut short, or the first call gives the final value beside other calls.
            if turn.run == 0 {
                actions.extend(self.take_results(&calls, None, Vec::new(), None));
            } else {
                actions.push(Action::Call(turn));
            }
        } else if is_cut {
            actions.push(Action::Append(Message::user(CUT_SHORT)));
            actions.extend(self.ask());
        } else if is_empty || is_paused {
            actions.extend(self.ask());
        } else if is_typed && is_text_cut {
            let problem = "it was cut short, because it was too long; make it shorter";
            actions.extend(self.end_in_value(None, Err(problem.to_owned())));
        } else if is_typed {
            actions.push(self.check(said, None));
        } else {
            actions.extend(self.end(RunEnd::Text { text: said, cut_short: is_text_cut }));
        }
        actions
    }

    fn take_results(
        &mut self,
        calls: &Arc<[ToolCall]>,
        stopping: Option<Stopping>,
        answers: Vec<Answer>,
        terminal: Option<usize>,
    ) -> Vec<Action> {
        let is_cut = matches!(self.0.phase, Phase::Calling { is_cut: true, .. });
        let run = self.run_of(calls, is_cut);
        let mut given = answers.into_iter().take(run);
        let answer = |(index, call): (usize, &ToolCall)| {
            let missing = || match index {
                _ if index < run => interrupted(call),
                _ if is_cut && index + 1 == calls.len() => cut_short(call),
                _ => beside_the_value(call),
            };
            given.next().unwrap_or_else(|| missing().into())
        };
        let answers: Vec<Answer> = calls.iter().enumerate().map(answer).collect();
        let at = |index: usize| calls.get(index).zip(answers.get(index));
        let done = terminal.and_then(at).filter(|(_, answer)| !answer.is_error());
        let done = done.map(|(call, answer)| RunEnd::Terminal {
            tool: call.name.clone(),
            text: answer.text().into_owned(),
        });
        self.0.called |= run > 0;
        let is_handed_off = calls.iter().zip(&answers).any(|(call, it)| is_hand_off(call, it));
        self.0.handed_off = self.0.handed_off.saturating_add(u32::from(is_handed_off));
        self.0.failing = Failing::after(self.0.failing.take(), calls.iter().zip(&answers));
        let without_arguments = |call: &ToolCall| ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: String::new(),
        };
        let answered = calls.iter().map(without_arguments).zip(answers);
        let mut actions = vec![Action::Append(Message::tool_results(answered))];
        actions.extend(match (done, stopping) {
            (Some(ended), _) => self.end(ended),
            (None, Some(Stopping::Cancelled)) => self.end(RunEnd::Cancelled),
            (None, Some(Stopping::TimeIsUp)) => {
                let ended = self.time_is_up();
                self.end(ended)
            }
            (None, None) => self.ask_again(),
        });
        actions
    }

    /// Asks the model again, unless a limit is reached.
    fn ask(&mut self) -> Vec<Action> {
        match self.reached().or_else(|| self.has_spent_all()) {
            Some(ended) => self.end(ended),
            None => {
                self.0.phase = Phase::Asking;
                vec![Action::Ask]
            }
        }
    }

    /// Asks the model again, after the answers to its calls for instance. Ends the run if a limit is reached. If the
    /// limits require a report, first appends a message that says how much of the budget is left.
    pub(super) fn ask_again(&mut self) -> Vec<Action> {
        let mut actions = self.ask();
        if let (Phase::Asking, Some(left)) = (&self.0.phase, self.left()) {
            actions.insert(0, Action::Append(Message::user(left)));
        }
        actions
    }

    fn reached(&self) -> Option<RunEnd> {
        let inner = &self.0;
        let limits = inner.limits;
        match &inner.failing {
            Some(failing) if failing.times >= limits.repeated_failures => {
                let (tool, times) = (failing.tool.clone(), failing.times);
                return Some(RunEnd::Limit(Limit::RepeatedFailure { tool, times }));
            }
            _ => {}
        }
        let limit = if inner.cut >= limits.cut_short {
            Limit::CutShort { times: inner.cut }
        } else if inner.empty >= limits.empty_answers {
            Limit::EmptyAnswers { times: inner.empty }
        } else if self.standing().spent.turns >= limits.turns {
            Limit::Turns { turns: self.standing().spent.turns }
        } else {
            return None;
        };
        Some(RunEnd::Limit(limit))
    }

    /// Returns the input that ends the run if it has reached a limit on tokens or cost since its last step, by requests
    /// that were aborted or by a summary.
    pub(super) fn overspent(&self) -> Option<StepInput> {
        Some(match budget::reached(self.limits(), self.spent_since_said())? {
            BudgetEnd::Limit(limit) => StepInput::TooDear(limit),
            BudgetEnd::Unknown(why) => StepInput::Failed(ModelError::new("spending_unknown", why)),
        })
    }

    fn has_spent_all(&self) -> Option<RunEnd> {
        Some(match budget::reached(self.limits(), self.spent_since_said())? {
            BudgetEnd::Limit(limit) => RunEnd::Limit(limit),
            BudgetEnd::Unknown(why) => {
                RunEnd::model_failed(&ModelError::new("spending_unknown", why))
            }
        })
    }

    fn left(&self) -> Option<String> {
        budget::left(self.limits(), self.spent_since_said(), self.standing().spent.turns)
    }

    fn time_is_up(&self) -> RunEnd {
        let time = self.0.limits.time.unwrap_or_default();
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        RunEnd::Limit(Limit::Time { milliseconds })
    }

    /// Lets the run end once the calls of its turn are answered. If the run is stopped twice, the first reason counts.
    fn stop(&mut self, why: Stopping) -> Vec<Action> {
        if let Phase::Calling { stopping, .. } = &mut self.0.phase {
            stopping.get_or_insert(why);
        }
        Vec::new()
    }

    pub(super) fn end(&mut self, ended: RunEnd) -> Vec<Action> {
        self.0.phase = Phase::Ended { how: ended.clone() };
        vec![Action::End(ended)]
    }
}
