//! Reads the facts that a decision needs: history and documents from the journal, the tool from the registry, and the
//! evaluation of the arguments by the tool and the policy.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;

use super::journal::store_failed;
use super::{Lifecycle, Look};
use crate::call::{About, CallFailure, CircuitOpen, Plan, Rules, own_of};
use crate::catalog::Form;
use crate::lifecycle::heap::on_heap;
use crate::lifecycle::snapshot::{
    Evaluated, FinalCall, GrantNow, Past, Preview, Signature, Snapshot, Stored, ToolNow,
};
use crate::lifecycle::step::{Input, Need, StageVerdict, StagedCall};
use crate::lifecycle::{is_accepted, last_decision};
use crate::stage;
use crate::stage::FoundTool;
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_core::spec::Start;
use toolwright_core::tool::DeclaredApproval;
use toolwright_journal::approval::{Grant, SignedStatement};
use toolwright_journal::arguments::{DigestMatch, FinalArguments, shown_of};
use toolwright_journal::journal::{AnswerRecord, CallRecord, Filter, State, Transition, begun};
use toolwright_policy::policy::PolicyDecision;

/// The time limit of a tool's preview of a call.
const PREVIEW_TIME: Duration = Duration::from_secs(10);

impl<'a> Lifecycle<'a> {
    pub(super) async fn read(
        self,
        look: &mut Look<'a, '_>,
        input: &mut Input,
        need: Need,
    ) -> Result<(), CallFailure> {
        match need {
            Need::Past => {
                let history = self.history(look.record()).await?;
                look.snapshot.past = Some(self.past(look.record(), history));
            }
            Need::Run => {
                let ended = match look.snapshot.is_recorded {
                    true => self.run_has_ended(look.record()).await?,
                    // A new call is committed on the condition that the journal contains no end of the run.
                    false => self.run.has_ended(),
                };
                look.snapshot.run_ended = Some(ended);
            }
            Need::Tool => {
                let found = self.seek_tool(look.record()).await;
                let now = found.as_ref().map(|found| self.tool_now(found.plan(), look.call));
                look.snapshot.tool = Some(now.map_err(Clone::clone));
                look.found = found.ok();
            }
            Need::Stored => {
                let stored = self.arguments(look.record());
                let is_of_its_digest = |text: &String| self.are_of_its_digest(look.record(), text);
                look.snapshot.stored = Some(match &stored {
                    Ok(text) => Stored::Readable {
                        is_of_its_digest: is_of_its_digest(text),
                        shown: shown_of(text, &look.record().secrets).unwrap_or_default(),
                    },
                    Err(why) => Stored::Unreadable(why.clone()),
                });
                look.text = stored.ok();
            }
            Need::Evaluated if !look.snapshot.is_recorded => {
                let sources = self.sources_of(look.record()).await?;
                self.evaluate_new(look, sources.as_deref());
            }
            Need::Evaluated => {
                let text = look.text.clone().unwrap_or_default();
                let sources = self.sources_of(look.record()).await?;
                look.snapshot.evaluated = self.evaluate(look, &text, sources.as_deref()).await?;
            }
            Need::Proposed => {
                let text = look.record().proposal.clone().unwrap_or_default();
                let sources = self.sources_of(look.record()).await?;
                look.snapshot.proposed = self.evaluate(look, &text, sources.as_deref()).await?;
            }
            Need::Denials => {
                let (record, (_, digest)) = (look.record(), candidate(&look.snapshot));
                let filter = Filter {
                    states: vec![State::Rejected],
                    run: Some(record.place.run.clone()),
                    digest: Some(digest.to_owned()),
                    ..Filter::default()
                };
                look.snapshot.denied_before = Some(self.has_any(&filter, &record.tool).await?);
            }
            Need::Grants => look.snapshot.grants = Some(self.grants(look).await?),
            Need::Preview => {
                let shown = self.preview(look).await;
                look.snapshot.preview = Some(shown.map_or(Preview::Nothing, Preview::Text));
            }
            Need::Awaited => look.snapshot.awaited = Some(self.goes_on(look.record()).await?),
            Need::UndecidedChildren => {
                let undecided = self.undecided_children(look.record()).await?;
                look.snapshot.undecided_children = Some(undecided);
            }
            Need::Begun => {
                // If the history cannot be read, each claim counts as an attempt that may have acted.
                let claims = u32::try_from(look.record().epoch).unwrap_or(u32::MAX);
                let history = self.history(look.record()).await;
                look.snapshot.begun = Some(history.map_or(claims, |history| begun(&history)));
            }
            Need::Attempts => {
                let found = stage::find(self.run, &look.record().tool);
                let retry =
                    found.map_or(self.run.core.provisions.retry, |found| found.plan().retry);
                look.snapshot.attempts = Some(retry.attempts);
            }
            Need::Retry => {
                if let Input::Attempted(attempt) = input {
                    attempt.retry = Some(self.run.takes_a_retry());
                }
            }
            Need::More(more) => self.add_to_answer(look, input, more),
        }
        Ok(())
    }

    /// Appends the remark about earlier attempts to the error in the answer.
    fn add_to_answer(self, look: &mut Look<'a, '_>, input: &mut Input, more: String) {
        let (stored, said) = match input {
            Input::Attempted(attempt) => (&mut attempt.answer, &mut attempt.more),
            Input::Staged(StagedCall { verdict: StageVerdict::Answer(answer), more, .. }) => {
                (answer, more)
            }
            _ => return,
        };
        let record = &look.snapshot.record;
        // For an attempt whose task was dropped, only the stored answer exists.
        let answer = look.answer.take().or_else(|| self.reveal_answer(record, stored).ok());
        let answer: Option<Answer> = answer.map(|answer| match answer.error() {
            Some(error) => error.with_more(Some(more.clone())).into(),
            None => answer,
        });
        if let Some(answer) = &answer {
            *stored = self.store_answer(record, answer);
        }
        (look.answer, *said) = (answer, Some(more));
    }

    /// Verifies the signatures in the history and the record of a call. They are verified at every reading.
    fn past(self, record: &CallRecord, history: Vec<toolwright_journal::journal::Entry>) -> Past {
        let verified = |signed: &SignedStatement| match self.journal.trusted.verify(signed) {
            Ok(verified) => Signature::Counts(Box::new(verified.into_statement())),
            Err(unverified) => {
                tracing::warn!(call = %record.id, %unverified, "a decision does not count");
                Signature::Invalid(unverified.to_string())
            }
        };
        let evaluated_by = last_decision(&history).and_then(|(_, entry, _)| entry.signed.as_ref());
        let edit = history.last().filter(|entry| entry.event == Some(Transition::Edited));
        Past {
            decision: record.decision.as_ref().map(verified),
            accepted: record.accepted.as_ref().map(verified),
            evaluated_by: evaluated_by.map(verified),
            edit: edit.and_then(|entry| entry.signed.as_ref()).map(verified),
            history,
        }
    }

    /// Finds the tool of a call, if it is registered in this process and needs no services of another run. The error
    /// says why this process cannot continue the call.
    pub(in super::super) fn tool(self, record: &CallRecord) -> Result<FoundTool<'a>, String> {
        let found = stage::find(self.run, &record.tool).map_err(|error| error.to_string())?;
        let plan = found.plan();
        let needs_run = plan.needs_run() || self.may_need_run(plan);
        if needs_run && record.place.run != self.run.id() {
            return Err(format!(
                "it needs services of run `{run}`; go on with `executor.run(\"{run}\").with(…).start()?`",
                run = record.place.run
            ));
        }
        match plan.lacks.first() {
            Some(missing) => Err(missing.to_string()),
            None => Ok(found),
        }
    }

    /// Returns the facts about a tool as it is registered now.
    pub(in super::super) fn tool_now(self, plan: &Plan, call: Option<&Call<'_>>) -> ToolNow {
        let refused = plan.circuit.as_ref().and_then(|circuit| circuit.admits().err());
        let needs_caller = !plan.from_call.is_empty();
        let definition = &plan.entry.definition;
        ToolNow {
            fingerprint: plan.entry.fingerprint().to_owned(),
            effect: definition.effect,
            retry: plan.retry,
            needs_caller,
            has_services: call.is_some() || !needs_caller,
            circuit: refused.map(|refused| CircuitOpen { left: refused.left }),
            hands_over: definition.is_external.then(|| self.hands_over(definition)),
        }
    }

    /// Returns whether the calls that the tool makes may need services of the tool's run.
    fn may_need_run(self, plan: &Plan) -> bool {
        plan.makes_calls && !self.run.core.provisions.per_run.is_empty()
    }

    /// Finds the tool of a call as [`tool`](Self::tool) does, but first asks the resolvers for an unknown tool, for
    /// instance after a restart.
    async fn seek_tool(self, record: &CallRecord) -> Result<FoundTool<'a>, String> {
        // A tool that the resolvers found is registered now. Otherwise, the look-up below returns the error.
        let _found = stage::seek(self.run, &Call::new(record.tool.as_str(), "")).await;
        self.tool(record)
    }

    /// Makes the final arguments of a call, and computes the facts for these arguments.
    pub(in super::super) fn settle(
        self,
        plan: &Plan,
        call: &Call<'_>,
        text: (&str, Form),
        id: CallId,
    ) -> Result<(Facts, FinalArguments), ToolError> {
        let settled = stage::finalize(self.run, &self.run.core.rules, plan, call, text, id);
        let is_computed = plan.entry.definition.approval == DeclaredApproval::Computed;
        settled.map(|(mut facts, settled)| {
            if let (Some(reason), true, true) =
                (&mut facts.approval, is_computed, settled.has_secrets())
            {
                *reason = match plan.entry.definition.asks_for() {
                    Some(asked) => asked.to_owned().into(),
                    None => "its tool asks, for a reason that may repeat a secret".into(),
                };
            }
            (facts, settled)
        })
    }

    /// Evaluates the policy for a call with these final arguments.
    pub(in super::super) fn policy(
        self,
        plan: &Plan,
        (facts, settled): (&Facts, &FinalArguments),
        user: Option<&str>,
        untrusted: Option<&[String]>,
    ) -> PolicyDecision {
        let about = About { plan, facts, user, untrusted, accepted: false };
        self.run.core.rules.evaluate(self.run, about, settled).verdict
    }

    /// Returns the untrusted sources that the run of a call has read, or an empty list if no policy depends on them.
    /// `None` means that they are unknown.
    async fn sources_of(self, record: &CallRecord) -> Result<Option<Arc<[String]>>, CallFailure> {
        self.sources(&record.place.run, &record.tool).await
    }

    /// Evaluates a new call, whose final arguments the driver already has.
    fn evaluate_new(self, look: &mut Look<'a, '_>, untrusted: Option<&[String]>) {
        let (Some(found), Some((facts, settled))) = (&look.found, &look.arguments) else { return };
        let rules = &self.run.core.rules;
        // The policy may be reloaded meanwhile, so the decision and `four_eyes` are taken from the same policy.
        let current = rules.current();
        let user = self.run.user();
        let about = About { plan: found.plan(), facts, user, untrusted, accepted: false };
        let policy = about.judged(self.run, &current, Some(settled)).verdict;
        // The policy evaluates the call a second time after the middleware. Listeners are notified only of the first
        // evaluation.
        let is_again = look.entered.is_some();
        if let Some(watch) = look.watch.filter(|_| !self.run.is_open() && !is_again) {
            watch.report_decision(&policy);
        }
        let four_eyes = Rules::four_eyes(self.run, &current);
        let has_secrets = settled.has_secrets();
        let reviewable = is_reviewable(&policy);
        let evaluated = Evaluated { policy, reviewable, four_eyes, has_secrets, arguments: None };
        look.snapshot.evaluated = Some(Ok(evaluated));
    }

    /// Evaluates a call with these arguments: by its tool, and by the policy.
    async fn evaluate(
        self,
        look: &mut Look<'a, '_>,
        text: &str,
        untrusted: Option<&[String]>,
    ) -> Result<Option<Result<Evaluated, AnswerRecord>>, CallFailure> {
        let Some(found) = &look.found else {
            // The tool was not looked up since the record changed, so the next decision reads it first.
            look.snapshot.tool = None;
            return Ok(None);
        };
        let (plan, record) = (found.plan(), &look.snapshot.record);
        let own = Call::new(record.tool.as_str(), text);
        let call = look.call.unwrap_or(&own);
        let (mut facts, settled) = match self.settle(plan, call, (text, Form::Final), record.id) {
            Ok(settled) => settled,
            Err(error) => return Ok(Some(Err(AnswerRecord::from(&error)))),
        };
        if plan.entry.spec.asks.is_some() {
            let identity = Some(Identity::of(record.id));
            on_heap(|| stage::ask(self.run, plan, call, &settled, identity, &mut facts)).await;
        }
        let arguments = self.store_text(&settled, settled.arguments(), record.id, "arguments");
        let definition = &plan.entry.definition;
        let fingerprint = plan.entry.fingerprint().to_owned();
        let digest = self.digest(record, &fingerprint, &settled);
        let compared = match digest == record.digest {
            true => DigestMatch::Current,
            false => self.compare_digest(record, &record.fingerprint, &settled),
        };
        let user = record.requester.user.as_deref();
        let current = self.run.core.rules.current();
        let four_eyes = Rules::four_eyes(self.run, &current);
        let accepted =
            is_accepted(&look.snapshot, &look.settings, &digest, settled.shown(), four_eyes);
        let now = FinalCall {
            arguments: arguments.map_err(|error| store_failed(&record.tool, error))?,
            shown: settled.shown().to_owned(),
            repairs: facts.repairs().map_or_else(Vec::new, |it| it.changes().to_vec()),
            fingerprint,
            danger: facts.danger,
            effect: definition.effect,
            secrets: definition.secrets().map(ToOwned::to_owned).collect(),
            digest,
            is_unchanged: compared != DigestMatch::Other,
            is_former: compared == DigestMatch::Former,
        };
        let about = About { plan, facts: &facts, user, untrusted, accepted };
        let policy = about.judged(self.run, &current, Some(&settled)).verdict;
        let evaluated = Evaluated {
            reviewable: is_reviewable(&policy),
            policy,
            four_eyes,
            has_secrets: settled.has_secrets(),
            arguments: Some(Box::new(now)),
        };
        look.arguments = Some((facts, settled));
        Ok(Some(Ok(evaluated)))
    }

    /// Reads the grants for the tool of a call, and finds out which of them cover its arguments.
    async fn grants(self, look: &Look<'a, '_>) -> Result<Vec<GrantNow>, CallFailure> {
        let record = look.record();
        let arguments = look.arguments.as_ref().map_or("", |(_, settled)| settled.arguments());
        let documents = self.documents(&Grant::key(&record.tool, ""), &record.tool).await?;
        let read = documents.into_iter().filter_map(|document| {
            let grant = match Grant::from_text(&document.key, &document.text) {
                Ok(grant) => grant,
                Err(error) => {
                    tracing::warn!(key = document.key, %error, "a grant cannot be read");
                    return None;
                }
            };
            let covers = match self.journal.trusted.verify(&grant.signed) {
                Ok(_) => grant.terms().map_err(|it| it.to_string()).and_then(|terms| {
                    terms.take(arguments).map_err(|not_covered| not_covered.to_string())
                }),
                Err(unverified) => Err(unverified.to_string()),
            };
            let (key, version) = (document.key, document.version);
            Some(GrantNow { key, version, grant, not_covered: covers.err() })
        });
        Ok(read.collect())
    }

    /// Returns the preview of the call by its tool. The preview of a call with a secret does not run, because it could
    /// repeat the secret anywhere.
    async fn preview(self, look: &Look<'a, '_>) -> Option<String> {
        let plan = look.found.as_ref()?.plan();
        let preview = plan.entry.spec.preview?;
        let (_, settled) = look.arguments.as_ref()?;
        if settled.has_secrets() {
            return Some("(not shown, because a secret is among the arguments)".to_owned());
        }
        let record = look.record();
        let own = Call::new(record.tool.as_str(), settled.arguments());
        let call = look.call.filter(|_| !look.snapshot.is_recorded).unwrap_or(&own);
        let shown = async {
            let own = own_of(self.run, plan, call, Some(Identity::of(record.id)))?;
            let scope = Scope::new(&self.run.values, &plan.wiring, call, own.as_ref());
            let mut facts = plan.facts();
            let keys = &plan.entry.keys;
            let text = &plan.entry.own_final_text(settled.arguments())?;
            let start = Start { scope, text, keys, facts: &mut facts, changes: None };
            let future = preview(start).map_err(|problems| {
                ToolError::internal(format!("the preview could not be begun: {problems}"))
            })?;
            stage::in_time(&record.tool, Some(PREVIEW_TIME), future).await?
        };
        Some(match AssertUnwindSafe(shown).catch_unwind().await {
            Ok(Ok(preview)) => preview,
            Ok(Err(error)) => format!("(the tool could not show it: {error})"),
            Err(_) => "(the tool could not show it: its preview panicked)".to_owned(),
        })
    }
}

/// Returns whether a reviewer may decide instead of a person. A reviewer may not if a rule requires a person for each
/// call.
fn is_reviewable(policy: &PolicyDecision) -> bool {
    !matches!(policy, PolicyDecision::Ask { grants_count: false, .. })
}

/// Returns the fingerprint and the digest of the call with the arguments that would run.
fn candidate(snapshot: &Snapshot) -> (&str, &str) {
    let read = [&snapshot.proposed, &snapshot.evaluated];
    let read = read.into_iter().find_map(|read| read.as_ref()?.as_ref().ok());
    match read.and_then(|evaluated| evaluated.arguments.as_deref()) {
        Some(now) => (&now.fingerprint, &now.digest),
        None => (&snapshot.record.fingerprint, &snapshot.record.digest),
    }
}
