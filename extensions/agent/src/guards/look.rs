//! Runs the guards of a stage in order. Each gets the result of the guard before it. After a refusal, no further guard
//! of the stage runs. Only the guards beside the model run at the same time.

use std::mem::discriminant;
use std::sync::Arc;

use futures::future::try_join_all;

use super::guard::{Guard, Looks};
use super::set::GuardSet;
use super::watch::watch;
use super::{
    AfterDecision, AnswerChange, BeforeDecision, EndingRun, GuardedRun, IncomingAnswer,
    OutgoingRequest, RequestChange, UserPrompt,
};
use crate::events::{GuardAction, GuardReport, RunEnd};
use crate::history::{Message, Prompt, check};
use crate::model::{ModelAnswer, StopReason};

/// The reports of the guards of one stage.
pub(crate) type Reports = Vec<GuardReport>;

impl Guard {
    fn reports(&self, action: GuardAction, reason: impl Into<String>) -> GuardReport {
        GuardReport { guard: self.name.clone(), stage: self.stage(), action, reason: reason.into() }
    }
}

/// Adds the report of a guard that refused, and returns the report.
fn refused(reports: &mut Reports, report: GuardReport) -> GuardReport {
    reports.push(report.clone());
    report
}

impl GuardSet {
    /// Runs the guards on the user's message, and returns the message that they let through.
    pub(crate) async fn before_run(
        &self,
        run: &GuardedRun,
        prompt: Prompt,
        history: &[Message],
        reports: &mut Reports,
    ) -> Result<Prompt, GuardReport> {
        let (text, attachments) = prompt.into_parts();
        let (run, text, history) = (run.clone(), text.into(), history.into());
        let mut view = UserPrompt { run, text, attachments, history };
        for guard in &self.guards {
            let Looks::BeforeRun(look) = &guard.looks else { continue };
            let decided = match watch(self.limit, look, view.clone()).await {
                Ok(BeforeDecision::Continue) => continue,
                Ok(BeforeDecision::Stop { reason }) => guard.reports(GuardAction::Stopped, reason),
                Ok(BeforeDecision::Change { to, .. }) if to.is_empty() => {
                    guard.reports(GuardAction::Failed, "it left nothing of what was said")
                }
                Ok(BeforeDecision::Change { to, reason }) => {
                    let (text, attachments) = to.into_parts();
                    (view.text, view.attachments) = (text.into(), attachments);
                    reports.push(guard.reports(GuardAction::Changed, reason));
                    continue;
                }
                Err(why) => guard.reports(GuardAction::Failed, why),
            };
            return Err(refused(reports, decided));
        }
        let attachments = view.attachments.to_vec();
        Ok(attachments.into_iter().fold(Prompt::from(&*view.text), Prompt::with))
    }

    /// Returns the request as the guards let it through, and whether they changed it.
    pub(crate) async fn before_model(
        &self,
        mut view: OutgoingRequest,
        reports: &mut Reports,
    ) -> Result<(OutgoingRequest, bool), GuardReport> {
        let mut is_changed = false;
        for guard in &self.guards {
            let Looks::BeforeModel(look) = &guard.looks else { continue };
            let decided = match watch(self.limit, look, view.clone()).await {
                Ok(BeforeDecision::Continue) => continue,
                Ok(BeforeDecision::Stop { reason }) => guard.reports(GuardAction::Stopped, reason),
                Ok(BeforeDecision::Change { to, reason }) => match changed_request(&view, to) {
                    Ok(changed) => {
                        (view, is_changed) = (changed, true);
                        reports.push(guard.reports(GuardAction::Changed, reason));
                        continue;
                    }
                    Err(why) => guard.reports(GuardAction::Failed, why),
                },
                Err(why) => guard.reports(GuardAction::Failed, why),
            };
            return Err(refused(reports, decided));
        }
        Ok((view, is_changed))
    }

    /// Runs the guards that look at the request while the model answers. Completes when all have finished, or when the
    /// first of them ends the run.
    pub(crate) async fn beside_model(&self, view: OutgoingRequest) -> Result<(), GuardReport> {
        let looks = self.guards.iter().filter_map(|guard| match &guard.looks {
            Looks::BesideModel(look) => Some((guard, watch(self.limit, look, view.clone()))),
            _ => None,
        });
        let looks = looks.map(|(guard, looking)| async move {
            match looking.await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(reason)) => Err(guard.reports(GuardAction::Stopped, reason)),
                Err(why) => Err(guard.reports(GuardAction::Failed, why)),
            }
        });
        try_join_all(looks).await.map(|_| ())
    }

    /// Returns the answer as the guards let it through, or the refused answer with the report of the guard that refused
    /// it.
    pub(crate) async fn after_model(
        &self,
        run: &GuardedRun,
        turn: u64,
        answer: ModelAnswer,
        history: &[Message],
        reports: &mut Reports,
    ) -> Result<ModelAnswer, (ModelAnswer, GuardReport)> {
        let (run, answer, history) = (run.clone(), Arc::new(answer), history.into());
        let mut view = IncomingAnswer { run, turn, answer, history };
        for guard in &self.guards {
            let Looks::AfterModel(look) = &guard.looks else { continue };
            let decided = match watch(self.limit, look, view.clone()).await {
                Ok(AfterDecision::Continue) => continue,
                Ok(AfterDecision::Stop { reason }) => guard.reports(GuardAction::Stopped, reason),
                Ok(AfterDecision::AskAgain { words }) => {
                    guard.reports(GuardAction::SentBack, words)
                }
                Ok(AfterDecision::Change { to, reason }) => {
                    match changed_answer(&view.answer, to) {
                        Ok(changed) => {
                            view.answer = Arc::new(changed);
                            reports.push(guard.reports(GuardAction::Changed, reason));
                            continue;
                        }
                        Err(why) => guard.reports(GuardAction::Failed, why),
                    }
                }
                Err(why) => guard.reports(GuardAction::Failed, why),
            };
            return Err((Arc::unwrap_or_clone(view.answer), refused(reports, decided)));
        }
        Ok(Arc::unwrap_or_clone(view.answer))
    }

    /// Runs the guards on the end of the run, and returns the end that they let through.
    pub(crate) async fn after_run(
        &self,
        run: &GuardedRun,
        end: RunEnd,
        history: Arc<[Message]>,
        reports: &mut Reports,
    ) -> Result<RunEnd, GuardReport> {
        let mut view = EndingRun { run: run.clone(), end: Arc::new(end), history };
        for guard in &self.guards {
            let Looks::AfterRun(look) = &guard.looks else { continue };
            let decided = match watch(self.limit, look, view.clone()).await {
                Ok(AfterDecision::Continue) => continue,
                Ok(AfterDecision::Stop { reason }) => guard.reports(GuardAction::Stopped, reason),
                Ok(AfterDecision::AskAgain { words }) => {
                    guard.reports(GuardAction::SentBack, words)
                }
                Ok(AfterDecision::Change { to, reason }) => match changed_end(&view.end, to) {
                    Ok(changed) => {
                        view.end = Arc::new(changed);
                        reports.push(guard.reports(GuardAction::Changed, reason));
                        continue;
                    }
                    Err(why) => guard.reports(GuardAction::Failed, why),
                },
                Err(why) => guard.reports(GuardAction::Failed, why),
            };
            return Err(refused(reports, decided));
        }
        Ok(Arc::unwrap_or_clone(view.end))
    }
}

/// Applies a guard's change to a request; the error says why that request cannot be sent.
fn changed_request(
    request: &OutgoingRequest,
    change: RequestChange,
) -> Result<OutgoingRequest, String> {
    let RequestChange { instructions, history } = change;
    let mut changed = request.clone();
    if let Some(instructions) = instructions {
        changed.instructions = instructions.into();
    }
    if let Some(mut history) = history {
        let problem = match check(&history) {
            Ok([]) => None,
            Ok(open) => Some(format!("{} calls at its end have no answer", open.len())),
            Err(problem) => Some(problem.to_string()),
        };
        if let Some(problem) = problem {
            return Err(format!("it made a history that no provider takes: {problem}"));
        }
        if history.last().map(discriminant) != request.history.last().map(discriminant) {
            let why = "it made a history that ends with a message of another kind";
            return Err(why.to_owned());
        }
        for (place, message) in history.iter_mut().enumerate() {
            without_foreign_verbatim(message, place, &request.history);
        }
        changed.history = history.into();
    }
    Ok(changed)
}

/// Removes the provider's verbatim content from a message that was changed, because the provider would read it instead
/// of the change.
fn without_foreign_verbatim(message: &mut Message, place: usize, before: &[Message]) {
    let is_as_it_was = {
        let Message::Assistant { text, calls, verbatim: Some(verbatim) } = &*message else {
            return;
        };
        let is_same = |other: &Message| {
            matches!(other, Message::Assistant { text: before, calls: called, verbatim: Some(was) }
                if was == verbatim && before == text && called == calls)
        };
        before.get(place).is_some_and(is_same) || before.iter().any(is_same)
    };
    if let (Message::Assistant { verbatim, .. }, false) = (message, is_as_it_was) {
        *verbatim = None;
    }
}

/// Applies a guard's change to an answer; the error says why that is impossible.
fn changed_answer(answer: &ModelAnswer, change: AnswerChange) -> Result<ModelAnswer, String> {
    let AnswerChange { text, calls } = change;
    if calls.is_some() && answer.stop == StopReason::CutInCall {
        return Err("it changed the calls of an answer that was cut short in one".to_owned());
    }
    let (text, calls) = (text, calls.filter(|calls| *calls != answer.calls));
    let is_changed = calls.is_some() || text.as_ref().is_some_and(|it| *it != answer.text);
    let mut changed = answer.clone();
    if is_changed {
        changed.verbatim = None;
    }
    changed.text = text.unwrap_or(changed.text);
    changed.calls = calls.unwrap_or(changed.calls);
    Ok(changed)
}

/// Replaces the text of an end; the error says why that is impossible.
fn changed_end(end: &RunEnd, to: String) -> Result<RunEnd, String> {
    match end {
        RunEnd::Text { cut_short, .. } => Ok(RunEnd::Text { text: to, cut_short: *cut_short }),
        RunEnd::Terminal { tool, .. } => Ok(RunEnd::Terminal { tool: tool.clone(), text: to }),
        _ => Err("it changed a value of a type, which only its model can give".to_owned()),
    }
}
