//! A call that may run is judged once more, and claimed. Nothing that was decided earlier is taken on trust: the
//! arguments, the tool, the decision and the grant are looked at as they are now.

use tracing::Instrument as _;

use super::super::Plan;
use super::super::judge::{Judgement, judge};
use super::super::outcome::{CallFailure, Outcome};
use super::submit::Judged;
use super::{Kept, TRIES, not_recorded, too_busy};
use crate::approval::{Asked, Grant, Subject, Verdict};
use crate::call::Call;
use crate::context::CallId;
use crate::error::{Class, ToolError};
use crate::journal::{
    CallRecord, DocumentWrite, Entry, Event, Kept as Text, State, StoreError, replay,
};
use crate::stage::{self, Found, record};

/// A grant that a call is about to use.
pub(super) struct Use {
    pub(super) grant: Grant,
    key: String,
    version: u64,
}

impl Use {
    /// The grant with one use more; nothing where uses do not count, so that calls do not wait for each other.
    pub(super) fn taken(mut self) -> Option<DocumentWrite> {
        if self.grant.terms().is_ok_and(|terms| terms.uses.is_none()) {
            return None;
        }
        self.grant.used = self.grant.used.saturating_add(1);
        Some(DocumentWrite {
            key: self.key,
            expects: Some(self.version),
            text: Some(self.grant.to_text()),
        })
    }
}

impl<'a> Kept<'a> {
    /// Goes on with a call as far as that goes here.
    pub(super) async fn go_on(
        self,
        mut record: CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&record::Watch<'_>>,
    ) -> Outcome {
        for _ in 0..TRIES {
            let next = match record.state {
                _ if self.is_closed() => return self.outcome_of(&record),
                State::Ready if self.is_due(&record) => self.claim(&record, call, watch).await,
                State::Judging => self.judge_again(&record, call).await,
                _ => return self.outcome_of(&record),
            };
            record = match next {
                Ok(Step::Ended(outcome)) => return outcome,
                Ok(Step::Moved(record)) => *record,
                Err(failure) => return failure.into(),
            };
            if record.state == State::Pending {
                self.announce(&record, watch);
                return Box::pin(self.notify(record, call, watch)).await;
            }
        }
        not_recorded(&record.tool, too_busy(record.id)).into()
    }

    /// Whether the executor is shutting down and begins nothing more.
    pub(super) fn is_closed(self) -> bool {
        self.run.core.gate.is_closed()
    }

    fn is_due(self, record: &CallRecord) -> bool {
        record.not_before.is_none_or(|not_before| not_before <= self.keeping.now())
    }

    /// The tool of a call, if it is here and needs nothing that only its own run has.
    pub(super) fn plan(self, record: &CallRecord) -> Result<Found<'a>, CallFailure> {
        let not_here = |why: String| not_here(record, why);
        let found = stage::find(self.run, &record.tool).map_err(|it| not_here(it.to_string()))?;
        let plan = found.plan();
        if plan.needs_run() && record.place.run != self.run.id() {
            return Err(not_here(format!(
                "it needs services of run `{run}`; go on with `executor.run(\"{run}\").with(…).start()?`",
                run = record.place.run
            )));
        }
        if let Some(missing) = plan.lacks.first() {
            return Err(not_here(missing.to_string()));
        }
        Ok(found)
    }

    /// The same; a resolver is asked for a tool that is not known yet, as after a restart.
    async fn sought(self, record: &CallRecord) -> Result<Found<'a>, CallFailure> {
        let call = Call::new(record.tool.as_str(), "");
        // What it finds is registered; what it does not find, the look-up below tells.
        let _found = stage::seek(self.run, &call).await;
        self.plan(record)
    }

    /// Whether somebody here could go on with the call: another process may have tools that this one has not.
    pub(super) fn is_ours(self, record: &CallRecord) -> bool {
        match self.plan(record) {
            Ok(found) => found.plan().from_call.is_empty(),
            Err(_) => {
                self.run.core.resolving.is_some() && stage::find(self.run, &record.tool).is_err()
            }
        }
    }

    /// Whether whoever is here brings what the caller of the call has to bring.
    fn has_services(
        self,
        plan: &Plan,
        record: &CallRecord,
        call: Option<&Call<'_>>,
    ) -> Result<(), CallFailure> {
        if call.is_some() || plan.from_call.is_empty() {
            return Ok(());
        }
        let why = "it needs services that its caller brings with the call";
        Err(not_here(record, why.to_owned()))
    }

    /// Takes the right to run a call, if it may still run, and runs it.
    async fn claim(
        self,
        record: &CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&record::Watch<'_>>,
    ) -> Result<Step, CallFailure> {
        let found = self.sought(record).await?;
        let plan = found.plan();
        self.replay(record).await?;
        if self.run_has_ended(record).await? {
            return self.end_with_run(record).await;
        }
        let arguments = match self.arguments(record) {
            Ok(arguments) => arguments,
            Err(why) if matches!(record.arguments, Text::Withheld) => {
                return self.deny(record, &why).await;
            }
            // Somebody else may have the key.
            Err(why) => return Err(not_here(record, why)),
        };
        self.has_services(plan, record, call)?;
        let own_call = Call::new(record.tool.as_str(), arguments.as_str());
        let call = call.unwrap_or(&own_call);
        let judged = match self.settle_text(plan, call, &arguments, record.id) {
            Ok(judged) => judged,
            Err(_) => return self.change(record, "its tool takes other arguments now").await,
        };
        if plan.entry.fingerprint() != record.fingerprint {
            return self.change(record, "its tool has changed since it was judged").await;
        }
        if self.digest(record, &judged.settled) != record.digest {
            return self.deny(record, "its arguments are not those that were judged").await;
        }
        let (case, grant) = self.case(record, &judged).await?;
        if judge(case) != Judgement::Allow {
            let why = self.decided(record).err();
            return self
                .change(record, why.as_deref().unwrap_or("nothing allows it any more"))
                .await;
        }
        let mut claimed = record.clone();
        claimed.grant = grant.as_ref().map(|it| it.grant.id.clone());
        let entry = self.claimed(&mut claimed)?;
        let documents = grant.and_then(Use::taken).into_iter().collect();
        let written = self.write_with(Some(record.version), &claimed, vec![entry], documents).await;
        match written {
            Ok(()) => {
                let arguments = judged.settled.arguments();
                let outcome = match watch {
                    Some(_) => Box::pin(self.perform(claimed, plan, call, arguments, watch)).await,
                    None => Box::pin(self.resumed(claimed, plan, call, arguments)).await,
                };
                Ok(Step::Ended(outcome))
            }
            Err(error) if error.is_conflict() => self.look_again(record.id).await,
            Err(error) => Err(not_recorded(&record.tool, error)),
        }
    }

    /// Runs a call that has waited, under the eyes of listeners and tracing.
    async fn resumed(
        self,
        record: CallRecord,
        plan: &Plan,
        call: &Call<'_>,
        arguments: &str,
    ) -> Outcome {
        let _telling = self.run.core.telling.enter_at_once();
        let id = record.id;
        let definition = Some(&*plan.entry.definition);
        let span = record::span(self.run, call, definition);
        let watch = record::Watch::follow(self.run, call, || id);
        let performing = self.perform(record, plan, call, arguments, watch.as_ref());
        let outcome = performing.instrument(span.clone()).await;
        self.told(watch, &span, call, definition, &outcome);
        outcome
    }

    /// Whether the call stands where its history takes it.
    async fn replay(self, record: &CallRecord) -> Result<(), CallFailure> {
        let history = self.keeping.store.history(record.id).await;
        let history = history.map_err(|error| not_recorded(&record.tool, error.into()))?;
        replay(record, &history).map_err(|why| CallFailure::Contradiction {
            call: record.id,
            tool: record.tool.clone(),
            why,
        })
    }

    /// Moves a record from `ready` to `running`, owned by this executor.
    pub(super) fn claimed(self, record: &mut CallRecord) -> Result<Entry, CallFailure> {
        let entry = self.step(record, Event::Claimed, None)?;
        record.owner = Some(self.keeping.owner.clone());
        record.lease = Some(self.keeping.lease_until());
        Ok(entry)
    }

    /// What it was judged by is not as it was; it is judged again.
    async fn change(self, record: &CallRecord, why: &str) -> Result<Step, CallFailure> {
        let mut changed = record.clone();
        let entry = self.step(&mut changed, Event::Changed, Some(why.to_owned()))?;
        self.moved(record, changed, vec![entry]).await
    }

    /// Somebody has changed what only an executor may change; the call is not run.
    async fn deny(self, record: &CallRecord, why: &str) -> Result<Step, CallFailure> {
        let mut denied = record.clone();
        let mut entries = vec![self.step(&mut denied, Event::Changed, Some(why.to_owned()))?];
        entries.push(self.step(&mut denied, Event::Denied, Some(why.to_owned()))?);
        let tool = &record.tool;
        let error = ToolError::new(
            "refused",
            match record.attempt {
                0 => format!("`{tool}` was not run: {why}"),
                _ => format!("`{tool}` was begun, and cannot be begun again: {why}"),
            },
        );
        denied.answer = Some((&error).into());
        self.moved(record, denied, entries).await
    }

    /// Judges a call that was edited, requeued, or overtaken by a change.
    async fn judge_again(
        self,
        record: &CallRecord,
        call: Option<&Call<'_>>,
    ) -> Result<Step, CallFailure> {
        let found = self.sought(record).await?;
        let plan = found.plan();
        if let Some(why) = self.doubts(record).await? {
            return self.doubt(record, why).await;
        }
        if self.run_has_ended(record).await? {
            return self.end_with_run(record).await;
        }
        let kept = match self.arguments(record) {
            Ok(arguments) => arguments,
            Err(why) if matches!(record.arguments, Text::Withheld) => {
                return self.refuse(record, &ToolError::new("refused", why)).await;
            }
            Err(why) => return Err(not_here(record, why)),
        };
        self.has_services(plan, record, call)?;
        let proposed = record.proposal.as_deref();
        let settle = |text: &str| {
            let own = Call::new(record.tool.as_str(), text);
            self.settle_text(plan, call.unwrap_or(&own), text, record.id)
        };
        let mut why = None;
        let judged = match proposed.map(settle) {
            Some(Ok(judged)) => Ok(judged),
            // Whoever edited it is asked again, about the arguments as they were.
            Some(Err(error)) => {
                why = Some(format!("the edit was not taken: {error}"));
                settle(&kept)
            }
            None => settle(&kept),
        };
        let judged = match judged {
            Ok(judged) => judged,
            Err(error) => return self.refuse(record, &error).await,
        };
        let mut next = record.clone();
        next.proposal = None;
        self.take_up(&mut next, plan, &judged)?;
        let (case, grant) = self.case(&next, &judged).await?;
        let mut entries = Vec::new();
        match judge(case) {
            Judgement::Allow if why.is_none() => {
                let covered = grant.as_ref().map(|it| format!("covered by grant {}", it.grant.id));
                entries.push(self.step(&mut next, Event::Allowed, covered)?);
            }
            Judgement::Refuse(refusal) => {
                let error = super::submit::refused(&next, &judged.facts, refusal);
                return self.refuse(record, &error).await;
            }
            Judgement::Fail => return Err(super::submit::nobody(&next, &judged.facts)),
            Judgement::Allow | Judgement::Ask => {
                let call = Call::new(record.tool.as_str(), judged.settled.arguments());
                let mut entry = self.ask(&mut next, plan, &call, &judged).await?;
                if let (Some(why), Some(ask)) = (why, &mut next.ask) {
                    ask.reason = format!("{} ({why})", ask.reason);
                    entry.why = Some(ask.reason.clone());
                }
                entries.push(entry);
            }
        }
        match self.write(Some(record.version), &next, entries).await {
            Ok(()) => Ok(Step::Moved(Box::new(next))),
            Err(error) if error.is_conflict() => self.look_again(record.id).await,
            Err(error) => Err(not_recorded(&record.tool, error)),
        }
    }

    async fn end_with_run(self, record: &CallRecord) -> Result<Step, CallFailure> {
        let ended = ToolError::new("cancelled", format!("the run of `{}` has ended", record.tool))
            .class(Class::Cancelled);
        let record = self.end_unbegun(record.id, &ended, "its run has ended").await?;
        Ok(Step::Moved(Box::new(record)))
    }

    /// Why the word that the call did not happen does not count, if that is how it came to be judged again.
    async fn doubts(self, record: &CallRecord) -> Result<Option<String>, CallFailure> {
        let history = self.keeping.store.history(record.id).await;
        let history = history.map_err(|error| not_recorded(&record.tool, error.into()))?;
        let last = history.last();
        let said = last.filter(|it| it.event == Some(Event::DidNotHappen));
        let Some(signed) = said.and_then(|it| it.signed.as_ref()) else { return Ok(None) };
        Ok(self.keeping.enrolled.verify(signed).err().map(|unverified| unverified.to_string()))
    }

    async fn doubt(self, record: &CallRecord, why: String) -> Result<Step, CallFailure> {
        let mut doubted = record.clone();
        let why = format!("that it did not happen does not count: {why}");
        let entry = self.step(&mut doubted, Event::Doubted, Some(why))?;
        self.moved(record, doubted, vec![entry]).await
    }

    /// Writes into a record what the call is now.
    fn take_up(
        self,
        record: &mut CallRecord,
        plan: &Plan,
        judged: &Judged,
    ) -> Result<(), CallFailure> {
        let kept = self.keep(&judged.settled, judged.settled.arguments(), record.id, "arguments");
        record.arguments =
            kept.map_err(|error| not_recorded(&record.tool, StoreError::new(error).into()))?;
        record.shown = judged.settled.shown().to_owned();
        record.repairs =
            judged.facts.repairs().map_or_else(Vec::new, |repairs| repairs.changes().to_vec());
        // Other arguments are another call to whoever takes the key; other words of the tool are not.
        if self.digest(record, &judged.settled) != record.digest {
            record.idempotency_key = CallId::new().to_string();
        }
        record.fingerprint = plan.entry.fingerprint().to_owned();
        record.danger = judged.facts.danger;
        record.effect = plan.entry.definition.effect;
        record.digest = self.digest(record, &judged.settled);
        Ok(())
    }

    async fn refuse(self, record: &CallRecord, error: &ToolError) -> Result<Step, CallFailure> {
        let mut refused = record.clone();
        let entry = self.step(&mut refused, Event::Denied, Some(error.to_string()))?;
        refused.proposal = None;
        refused.answer = Some(error.into());
        self.moved(record, refused, vec![entry]).await
    }

    pub(super) async fn moved(
        self,
        from: &CallRecord,
        to: CallRecord,
        entries: Vec<Entry>,
    ) -> Result<Step, CallFailure> {
        match self.write(Some(from.version), &to, entries).await {
            Ok(()) => Ok(Step::Moved(Box::new(to))),
            Err(error) if error.is_conflict() => self.look_again(from.id).await,
            Err(error) => Err(not_recorded(&from.tool, error)),
        }
    }

    async fn look_again(self, id: CallId) -> Result<Step, CallFailure> {
        self.load(id).await.map(|record| Step::Moved(Box::new(record)))
    }

    /// Whether a person whose key counts approved exactly this call, as it is.
    pub(super) fn is_decided(self, record: &CallRecord) -> bool {
        self.decided(record).is_ok()
    }

    /// The same; the error says why not, for people who look into the call's history.
    fn decided(self, record: &CallRecord) -> Result<(), String> {
        let Some(signed) = &record.decision else {
            return Err("nothing allows it any more".to_owned());
        };
        if record.ask.as_ref().is_some_and(|ask| ask.deadline <= self.keeping.now()) {
            return Err("the time in which its decision counts has passed".to_owned());
        }
        let statement = match self.keeping.enrolled.verify(signed) {
            Ok(verified) => verified.into_statement(),
            Err(unverified) => {
                tracing::warn!(call = %record.id, %unverified, "a decision does not count");
                return Err(format!("its decision does not count: {unverified}"));
            }
        };
        let generation = match &statement.verdict {
            Verdict::Approve { .. } => Some(record.generation),
            Verdict::Edit { .. } => record.generation.checked_sub(1),
            _ => None,
        };
        let is_this_call = match (&statement.about, &statement.verdict) {
            (Subject::Call { id, generation: of, .. }, Verdict::Edit { digest, .. })
            | (Subject::Call { id, generation: of, digest }, _) => {
                *id == record.id && Some(*of) == generation && *digest == record.digest
            }
            (Subject::Grant { .. }, _) => false,
        };
        if is_this_call {
            return Ok(());
        }
        Err("its decision does not count: it is about another call, or about this one as it was"
            .to_owned())
    }

    /// A grant that covers the call, whose granter's key counts.
    pub(super) async fn grant(
        self,
        record: &CallRecord,
        arguments: &str,
    ) -> Result<Option<Use>, CallFailure> {
        let prefix = Grant::key(&record.tool, "");
        let documents = self.keeping.store.documents(&prefix).await;
        let documents = documents.map_err(|error| not_recorded(&record.tool, error.into()))?;
        for document in documents {
            let grant = match Grant::from_text(&document.key, &document.text) {
                Ok(grant) => grant,
                Err(error) => {
                    tracing::warn!(key = document.key, %error, "a grant cannot be read");
                    continue;
                }
            };
            let asked = Asked {
                tool: &record.tool,
                fingerprint: &record.fingerprint,
                arguments,
                run: &record.place.run,
                session: record.requester.session.as_deref(),
                project: self.keeping.project.as_deref(),
                now: self.keeping.now(),
                used: grant.used,
            };
            match grant.covers(&asked, &self.keeping.enrolled) {
                Ok(()) => {
                    return Ok(Some(Use { grant, key: document.key, version: document.version }));
                }
                Err(reason) => {
                    tracing::debug!(call = %record.id, grant = grant.id, %reason, "not covered");
                }
            }
        }
        Ok(None)
    }

    /// The arguments that run.
    pub(super) fn arguments(self, record: &CallRecord) -> Result<String, String> {
        self.reveal(&record.arguments, record.id, "arguments")
    }

    /// A kept text as it is; `field` is where in the record it stands.
    pub(super) fn reveal(self, kept: &Text, id: CallId, field: &str) -> Result<String, String> {
        match (kept, &self.keeping.sealing) {
            (Text::Plain(text), _) => Ok(text.clone()),
            (Text::Sealed(_), Some(key)) => {
                key.open(kept, &bound_to(id, field)).map_err(|error| error.to_string())
            }
            (Text::Sealed(_), None) => {
                Err("its arguments are sealed, and this executor has no key".to_owned())
            }
            (Text::Withheld, _) => Err("its arguments held a secret and were not kept".to_owned()),
        }
    }

    async fn run_has_ended(self, record: &CallRecord) -> Result<bool, CallFailure> {
        let ended = self.keeping.store.document(&ended_key(&record.place.run)).await;
        ended.map(|it| it.is_some()).map_err(|error| not_recorded(&record.tool, error.into()))
    }
}

/// What a sealed text belongs to, so that it opens nowhere else.
pub(super) fn bound_to(id: CallId, field: &str) -> Vec<u8> {
    format!("{id}/{field}").into_bytes()
}

fn not_here(record: &CallRecord, why: String) -> CallFailure {
    CallFailure::NotHere { call: record.id, tool: record.tool.clone(), why }
}

/// The document that says that a run has ended.
pub(super) fn ended_key(run: &str) -> String {
    format!("run/{run}/ended")
}

/// What became of one step.
pub(super) enum Step {
    Moved(Box<CallRecord>),
    Ended(Outcome),
}
