//! Asks the model, offering the current tools.

use std::borrow::Cow;
use std::mem::take;
use std::pin::pin;
use std::time::Duration;

use toolwright::{Catalog, Effect, Registry, Run};
use tracing::Instrument as _;

use super::admission::{admit, largest};
use super::agent_run::ShownTools;
use super::early::Early;
use super::output::Output;
use super::refused::refused;
use super::{AgentRun, Stopped};
use crate::events::{GuardReport, GuardStage, Listening, spans};
use crate::guards::OutgoingRequest;
use crate::history::{Message, Room, SummaryTask, compact_from, text_tokens};
use crate::limits::{TotalUsage, UsageRecorder};
use crate::model::{Model, ModelRequest, RequestLimits};
use crate::results::Results;
use crate::run::{Action, State, StepInput, step};
use crate::search::found;

/// The result of asking the model.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and the driver takes it")]
pub(super) enum AskOutcome {
    Answer(StepInput),
    /// The request would leave out turns that no summary covers. A summary of these turns has to be made first.
    Summary(SummaryTask),
}

impl AgentRun {
    /// Asks the model. With `begins_reads`, calls of tools with `effect = read` may begin while the answer arrives.
    pub(super) async fn ask_model(
        &mut self,
        time: Option<Duration>,
        begins_reads: bool,
    ) -> Result<AskOutcome, Stopped> {
        // Counts the usage of an earlier request whose caller stopped waiting for the answer.
        self.count_given_up();
        self.guarding.forget();
        self.run.discover_tools().await.map_err(Stopped::unlisted)?;
        self.find_acting()?;
        self.prepare().await?;
        let agent = &self.acting.as_ref().map_or(&self.agent, |it| &it.agent).0;
        let next = self.plugins.as_ref().and_then(|it| it.next.as_ref());
        let system = agent.instructions.text(self.acting_run()).map_err(Stopped::without)?;
        let system = next.map_or(system.clone(), |it| it.instructions(system));
        let (model, guards, guarded_run) = (&*agent.model, &agent.guards, self.as_guarded());
        let output = expected(&self.state, self.output.as_ref())?;
        let format = output.and_then(|it| it.format_of(model));
        let by_call = output.filter(|_| format.is_none());
        let run = match self.has_no_tools {
            true => &self.acting_run().pinned(&Registry::empty().catalog()),
            false => &self.acting_run().clone(),
        };
        let prepared = next.and_then(|it| it.catalog()).filter(|_| !self.has_no_tools);
        let tools = OfferedTools::new(run, prepared, &self.history);
        let handing = self.with_targets(&tools.catalog);
        let shown = ShownTools::newest(
            &mut self.shown,
            run,
            tools,
            model,
            by_call,
            &self.results,
            handing,
        )?;
        let history = self.results.sent_history(&self.history);
        let (turn, catalog) = (self.state.turn() + 1, shown.run.catalog());
        let settings =
            self.settings.as_ref().filter(|_| self.acting.is_none()).unwrap_or(&agent.settings);
        // A provider refuses a request that forces a tool which the request does not offer. The name of a tool that the
        // executor does not have is sent: the provider's refusal names it.
        let is_free = self.state.has_called()
            || (settings.forces_other(&shown.listed)
                && !settings.forces_other(&agent.executor.catalog()));
        let settings = match is_free {
            true => Cow::Owned(settings.after_a_call()),
            false => Cow::Borrowed(settings),
        };
        let settings = match by_call {
            Some(_) => {
                let has_others = !catalog.is_empty();
                Cow::Owned(Output::settings(model, &settings, agent.max_tokens, has_others))
            }
            None => settings,
        };
        let mut first = model.first_read(&history);
        let compact_after = |first: usize| {
            // Turns that the server has compacted are left out even without a window.
            let window = agent.window.or_else(|| model.window());
            let window = window.or((first > 0).then_some(u64::MAX))?;
            let fixed = text_tokens(system.len()) + text_tokens(shown.listing.tools().get().len());
            let room = Room::new(window, fixed, agent.max_tokens.map(u64::from));
            let is_read =
                |tool: &str| catalog.get(tool).is_some_and(|it| it.effect == Effect::Read);
            Some(compact_from(&history, first, room, &is_read, &self.summaries.made))
        };
        let mut sent = compact_after(first);
        if let Some(task) = sent.as_ref().and_then(|it| it.task.as_ref())
            && agent.summarizer.is_some()
            && self.summaries.failed_at != Some(task.at)
        {
            return Ok(AskOutcome::Summary(task.clone()));
        }
        let mut reports = Vec::new();
        let mut guarded = None;
        while guards.look_at_requests() {
            let messages = sent.as_ref().map_or(&*history, |it| &it.messages);
            let (instructions, history) = (system.as_ref().into(), messages.into());
            let request = OutgoingRequest { run: guarded_run.clone(), turn, instructions, history };
            let looked = guards.before_model(request, &mut reports).await;
            self.guarding.report(&self.observer, turn, take(&mut reports), &catalog);
            let request = match looked {
                Ok(request) => request,
                Err(report) => {
                    return Ok(AskOutcome::Answer(StepInput::Guarded { answer: None, report }));
                }
            };
            if first > 0 && request.1 && !begins_compacted(model, &request.0.history) {
                // A guard has changed the message with the server's compaction, so that the server has no summary of
                // the messages before it. So the request is made again from the whole history, and the guards look at
                // that.
                first = 0;
                sent = compact_after(first);
                continue;
            }
            guarded = Some(request);
            break;
        }
        let whole = sent.as_ref().map_or(&*history, |it| &it.messages);
        let instructions = guarded.as_ref().map_or(&*system, |(it, _)| &it.instructions);
        let history = guarded.as_ref().map_or(whole, |(it, _)| &it.history);
        let reserved = match &agent.ceilings {
            None => None,
            Some(ceilings) => {
                let size = largest(instructions, shown.listing.tools().get(), format, history);
                let (who, max_tokens) = ((self.run.id(), self.run.user()), agent.max_tokens);
                match admit(ceilings, who, model, (size, max_tokens)).await? {
                    Ok(reservation) => Some((ceilings.clone(), reservation)),
                    Err(refused) => return Ok(AskOutcome::Answer(refused)),
                }
            }
        };
        let observed = self.observer.asking(turn, &catalog, model);
        if let Some(sent) = &sent {
            self.observer.report_compaction(turn, sent.report, &catalog);
        }
        self.left_out = sent.as_ref().map(|it| it.left_out.clone()).unwrap_or_default();
        let found = (!model.searches_tools()).then(|| shown.found.clone());
        let early = begins_reads && agent.early_reads && guards.let_calls_begin();
        let early = early.then(|| Early::new(&shown.run, turn, found));
        let events = self.observer.events();
        let is_held = guards.hold_answers();
        let listening = Listening::new(
            events,
            turn,
            &catalog,
            is_held,
            by_call.is_some(),
            early.as_ref().map(|it| it as _),
        );
        let request = ModelRequest {
            instructions,
            history,
            listing: &shown.listing,
            limits: RequestLimits { max_tokens: agent.max_tokens, time },
            settings: &settings,
            output: format,
            catalog: Some(&shown.listed),
            listener: (early.is_some() || events.is_read()).then_some(&listening),
            usage_recorder: Some(&self.meter),
        };
        // The request begins only when the future is polled, so that a request that is never polled does not count.
        let asked = async {
            self.meter.begin();
            agent.model.answer(request).await
        };
        let asked = asked.instrument(observed.span.clone());
        let beside = guarded.as_ref().filter(|_| guards.has(GuardStage::BesideModel));
        let (answered, refused) = match beside {
            None => (Some(asked.await), None),
            Some((request, _)) => beside_model(asked, guards.beside_model(request.clone())).await,
        };
        if let Some((ceilings, reservation)) = reserved {
            let spent = match &answered {
                Some(Ok(answer)) => answer.spent(),
                Some(Err(error)) => error.spent(),
                None => self.meter.taken(),
            };
            ceilings.settle(reservation, spent).await;
        }
        let Some(answered) = answered else {
            let Some(report) = refused else { return Err(Stopped::NothingSaid) };
            spans::error_of(&observed.span, "guard_stopped");
            self.guarding.report(&self.observer, turn, vec![report.clone()], &catalog);
            self.count_given_up();
            return Ok(AskOutcome::Answer(StepInput::Guarded { answer: None, report }));
        };
        let is_changed = guarded.as_ref().is_some_and(|(_, is_changed)| *is_changed);
        let answered = answered.map_err(|error| match is_changed && !error.is_outage() {
            true => error.and("guards of the application had changed the request"),
            false => error,
        });
        if let Ok(answer) = &answered {
            listening.answered(answer);
            self.begun = early.map(Early::begun);
        }
        self.observer.report_request(&observed, answered.as_ref(), &catalog, model);
        self.meter = UsageRecorder::default();
        let answer = match answered {
            Ok(answer) => answer,
            Err(error) => return Ok(AskOutcome::Answer(StepInput::Failed(error))),
        };
        let looked = match refused {
            Some(report) => {
                reports.push(report.clone());
                Err((answer, report))
            }
            None if guards.has(GuardStage::AfterModel) => {
                self.guarding.looked_at = answer.spent();
                let mut answer = answer;
                let references = self.replace_references(&mut answer, &catalog);
                let history = &self.history;
                let looking = guards.after_model(&guarded_run, turn, answer, history, &mut reports);
                let mut looked = looking.await;
                let (Ok(answer) | Err((answer, _))) = &mut looked;
                references.restore(answer);
                self.guarding.looked_at = TotalUsage::default();
                looked
            }
            None => Ok(answer),
        };
        self.guarding.report(&self.observer, turn, reports, &catalog);
        Ok(AskOutcome::Answer(match looked {
            Ok(answer) => {
                match is_held {
                    true => self.guarding.held = Some(answer.clone()),
                    false => self.observer.answered(turn, &answer, &catalog),
                }
                StepInput::Answered(answer)
            }
            Err((answer, report)) => {
                let answer = match report.action.is_end() {
                    true => answer.without_content(),
                    false => answer,
                };
                self.observer.answered(turn, &answer, &catalog);
                StepInput::Guarded { answer: Some(answer), report }
            }
        }))
    }

    /// If the state asks for a check, checks whether the model's text is a value of the output type.
    pub(super) fn checked(
        &self,
        state: State,
        mut actions: Vec<Action>,
    ) -> Result<(State, Vec<Action>), Stopped> {
        let Some(Action::Check { text }) = state.due() else { return Ok((state, actions)) };
        let Some(output) = expected(&state, self.output.as_ref())? else {
            return Ok((state, actions));
        };
        let (state, more) = step(&state, StepInput::Checked(output.read(&text)));
        actions.extend(more);
        Ok((state, actions))
    }

    /// Adds to the state the usage of abandoned requests, and of an answer that guards were checking when the caller
    /// stopped waiting.
    pub(super) fn count_given_up(&mut self) {
        let spent = std::mem::take(&mut self.meter).taken();
        if spent != TotalUsage::default() {
            self.observer.spent(spent);
        }
        let spent = spent.plus(take(&mut self.guarding.looked_at));
        if spent != TotalUsage::default() {
            // This input changes only the counters of usage.
            self.state = step(&self.state, StepInput::GivenUp(spent)).0;
        }
    }
}

/// Returns whether the first message has a compaction that the server of the model reads in place of the messages
/// before it.
fn begins_compacted(model: &dyn Model, history: &[Message]) -> bool {
    let is_read = |first: &Message| model.first_read(&[Message::user(""), first.clone()]) == 1;
    history.first().is_some_and(is_read)
}

/// Waits for a request, and for the guards that look at it meanwhile. If a guard refuses the request before the answer
/// arrives, drops the request and returns `None` for its result.
async fn beside_model<T, E>(
    asked: impl Future<Output = Result<T, E>>,
    beside: impl Future<Output = Result<(), GuardReport>>,
) -> (Option<Result<T, E>>, Option<GuardReport>) {
    let (mut asked, mut beside) = (pin!(asked), pin!(beside));
    tokio::select! {
        biased;
        looked = &mut beside => match looked {
            Ok(()) => (Some(asked.await), None),
            Err(report) => (None, Some(report)),
        },
        answered = &mut asked => match answered {
            // The request failed, so there is no answer to guard.
            Err(error) => (Some(Err(error)), None),
            Ok(answer) => (Some(Ok(answer)), beside.await.err()),
        },
    }
}

/// Returns the output type of the run. Fails if the caller's type is not the recorded type.
fn expected<'o>(state: &State, output: Option<&'o Output>) -> Result<Option<&'o Output>, Stopped> {
    let Some(expected) = &state.0.output else { return Ok(None) };
    match output {
        Some(output) if output.expected().is_same_type(expected) => Ok(Some(output)),
        Some(output) if output.name() == expected.name => {
            let (recorded, given) = (expected.to_string(), output.expected().to_string());
            Err(Stopped::ChangedOutput { recorded, given })
        }
        other => Err(Stopped::OtherOutput {
            expected: expected.name.clone(),
            given: other.map(|it| it.name().to_owned()),
        }),
    }
}

/// The tools that a request may offer.
struct OfferedTools {
    catalog: Catalog,
    /// Whether plugins have prepared the tools for this turn.
    is_prepared: bool,
    /// The deferred tools that the model has found.
    found: Vec<String>,
    /// The tools that are left out because their calls were refused repeatedly.
    refused: Vec<String>,
}

impl OfferedTools {
    /// Takes the tools that plugins have prepared, or the tools of the run, without the tools whose calls were refused.
    fn new(run: &Run, prepared: Option<&Catalog>, history: &[Message]) -> Self {
        let (is_prepared, refused) = (prepared.is_some(), refused(history));
        let whole = prepared.cloned().unwrap_or_else(|| run.catalog());
        let catalog = match refused.is_empty() {
            true => whole,
            false => whole.without(refused.iter().map(String::as_str)),
        };
        let found = found(history, &catalog);
        Self { catalog, is_prepared, found, refused }
    }
}

impl ShownTools {
    /// Lists the current tools for the model and pins the run to them. Reuses the last list if nothing has changed and
    /// no plugin has prepared the tools.
    fn newest<'s>(
        shown: &'s mut Option<Self>,
        run: &Run,
        tools: OfferedTools,
        model: &dyn Model,
        by_call: Option<&Output>,
        results: &Results,
        handing: Option<Catalog>,
    ) -> Result<&'s Self, Stopped> {
        let OfferedTools { catalog, is_prepared, found, refused } = tools;
        let reads = results.tools();
        let (generation, reads_results) = (catalog.generation(), reads.is_some());
        let is_known = |shown: &Self| {
            let are_same = shown.found == found && shown.refused == refused;
            let now = (generation, by_call.is_some(), reads_results);
            let is_whole = !shown.is_prepared && !is_prepared;
            is_whole && are_same && (shown.generation, shown.by_call, shown.reads_results) == now
        };
        let known = shown.take().filter(is_known);
        let newest = match known {
            Some(known) => known,
            None => {
                let with_reads = |it: &Catalog| match &reads {
                    Some(reads) => it.followed_by(reads),
                    None => it.clone(),
                };
                let offered = with_reads(handing.as_ref().unwrap_or(&catalog));
                let catalog = with_reads(&catalog);
                let listed = by_call.map_or_else(|| offered.clone(), |it| it.listed(&offered));
                // The names of the found tools come from this catalog, so that it can reveal them.
                let listed =
                    listed.revealing_behind(found.iter().map(String::as_str)).unwrap_or(listed);
                let listing = match model.searches_tools() {
                    true => listed.searchable_listing(model.dialect())?,
                    false => listed.listing(model.dialect())?,
                };
                let (by_call, run) = (by_call.is_some(), run.pinned(&catalog));
                Self {
                    generation,
                    is_prepared,
                    by_call,
                    refused,
                    found,
                    reads_results,
                    listed,
                    listing,
                    run,
                }
            }
        };
        Ok(shown.insert(newest))
    }
}
