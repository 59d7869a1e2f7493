//! Runs the guards of a run: reports their decisions, holds answers back, and refuses messages.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolwright::Catalog;

use super::driver::Driver;
use super::recorder::Recorder;
use super::{Action, AgentRun, State, StepInput, step};
use crate::events::{GuardAction, GuardReport, GuardStage, NoticeKind, Observer, RunEnd};
use crate::guards::{GuardedRun, Reports};
use crate::history::{Message, Prompt};
use crate::limits::TotalUsage;
use crate::model::ModelAnswer;

/// What the guards of a run have reported, and the answer that they hold back.
#[derive(Default)]
pub(super) struct Guarding {
    reports: Reports,
    /// An answer whose text is held back until the guards accept the end of the run.
    pub(super) held: Option<ModelAnswer>,
    /// The usage of the answer that the guards look at now.
    pub(super) looked_at: TotalUsage,
    /// The changes to requests that were reported already. A guard usually makes the same change in every later
    /// request, because each request repeats the history.
    reported: BTreeSet<(String, String)>,
}

impl Guarding {
    /// Forgets the reports about a request that got no answer.
    pub(super) fn forget(&mut self) {
        self.reports.clear();
        self.held = None;
    }

    /// Reports the decisions of guards to observers, and stores them for the next step.
    pub(super) fn report(
        &mut self,
        observer: &Observer,
        turn: u64,
        reports: Reports,
        catalog: &Catalog,
    ) {
        for report in reports {
            let is_of_request =
                (report.stage, report.action) == (GuardStage::BeforeModel, GuardAction::Changed);
            let is_new = !is_of_request
                || self.reported.insert((report.guard.clone(), report.reason.clone()));
            if report.action == GuardAction::Failed {
                let (guard, why) = (&*report.guard, &*report.reason);
                tracing::warn!(guard, stage = %report.stage, why, "a guard failed, and the run ends");
            }
            if is_new {
                observer.notify(turn, NoticeKind::Guard { report: &report }, catalog);
            }
            self.reports.push(report);
        }
    }
}

impl AgentRun {
    /// Returns the description of the run that guards receive.
    pub(super) fn as_guarded(&self) -> GuardedRun {
        GuardedRun {
            id: self.observer.run().into(),
            agent: self.acting().name().into(),
            user: self.run.user().map(Into::into),
        }
    }

    /// Takes a message of the user in the form in which the guards let it through; ends the run if a guard refuses the
    /// message.
    pub(crate) async fn hear(&mut self, prompt: Prompt) -> (State, Vec<Action>) {
        let (heard, refused) = self.let_in(vec![prompt]).await;
        let (text, attachments) =
            heard.into_iter().next().map(Prompt::into_parts).unwrap_or_default();
        let (state, actions) = step(&self.state, self.said(text, attachments));
        match refused {
            None => (state, actions),
            // The message is not added to the history, but its output type applies.
            Some(report) => step(&state, StepInput::Guarded { answer: None, report }),
        }
    }

    /// Shows messages of the user to the guards. Returns the messages that they let through, and the first decision
    /// that ends the run.
    pub(super) async fn let_in(
        &mut self,
        prompts: Vec<Prompt>,
    ) -> (Vec<Prompt>, Option<GuardReport>) {
        let agent = self.agent.clone();
        let guards = &agent.0.guards;
        if !guards.has(GuardStage::BeforeRun) {
            return (prompts, None);
        }
        let (run, mut heard, mut refused) = (self.as_guarded(), Vec::new(), None);
        for prompt in prompts {
            let mut reports = Vec::new();
            let looked = guards.before_run(&run, prompt, &self.history, &mut reports).await;
            let catalog = self.shown_run().catalog();
            self.guarding.report(&self.observer, self.state.turn(), reports, &catalog);
            match looked {
                Ok(prompt) => heard.push(prompt),
                Err(report) => refused = refused.or(Some(report)),
            }
        }
        (heard, refused)
    }
}

impl<R: Recorder> Driver<'_, R> {
    /// Passes the reports of guards to the recorder, for the next commit.
    pub(super) fn record_guards(&mut self) {
        let reports = std::mem::take(&mut self.run.guarding.reports);
        if !reports.is_empty() {
            self.recorder.record_guards(reports);
        }
    }

    /// Shows the guards the end of a run that has an answer.
    pub(super) async fn guard_end(
        &mut self,
        state: State,
        mut actions: Vec<Action>,
    ) -> (State, Vec<Action>) {
        let agent = self.run.agent.clone();
        let guards = &agent.0.guards;
        let end = state.ended().filter(|end| end.is_answer());
        let Some(end) = end.filter(|_| guards.has(GuardStage::AfterRun)).cloned() else {
            return (state, actions);
        };
        let appended = actions.iter().filter_map(Action::message);
        let history: Arc<[Message]> = self.run.history.iter().chain(appended).cloned().collect();
        let (run, mut reports) = (self.run.as_guarded(), Vec::new());
        let looked = guards.after_run(&run, end.clone(), history, &mut reports).await;
        let catalog = self.run.shown_run().catalog();
        let AgentRun { guarding, observer, .. } = &mut *self.run;
        guarding.report(observer, state.turn(), reports, &catalog);
        let input = match looked {
            Ok(same) if same == end => return (state, actions),
            Ok(changed) => {
                if let RunEnd::Text { text, .. } = &changed {
                    change_text(&mut actions, text);
                    if let Some(held) = &mut guarding.held {
                        held.text.clone_from(text);
                    }
                }
                StepInput::EndChanged { end: changed }
            }
            Err(report) => {
                if let Some(held) = guarding.held.take() {
                    observer.answered(state.turn(), &held.without_content(), &catalog);
                }
                if report.action.is_end() {
                    remove_answer(&mut actions);
                }
                StepInput::Guarded { answer: None, report }
            }
        };
        actions.retain(|action| !matches!(action, Action::End(_)));
        let (state, more) = step(&state, input);
        actions.extend(more);
        (state, actions)
    }

    /// Publishes an answer that was held back.
    pub(super) fn let_through(&mut self, turn: u64) {
        if let Some(answer) = self.run.guarding.held.take() {
            let catalog = self.run.shown_run().catalog();
            self.run.observer.let_through(turn, &answer, &catalog);
        }
    }
}

/// Replaces the text of the model's answer that a step appends.
fn change_text(actions: &mut [Action], to: &str) {
    for action in actions {
        if let Action::Append(Message::Assistant { text, verbatim, .. }) = action {
            to.clone_into(text);
            *verbatim = None;
        }
    }
}

/// Removes an answer of the model, and the answer to its call, from the messages that a step appends.
fn remove_answer(actions: &mut Vec<Action>) {
    let is_answer = |it: &Action| matches!(it, Action::Append(Message::Assistant { .. }));
    if actions.iter().any(is_answer) {
        let is_reply = |it: &Action| matches!(it, Action::Append(Message::ToolResults(_)));
        actions.retain(|it| !is_answer(it) && !is_reply(it));
    }
}
