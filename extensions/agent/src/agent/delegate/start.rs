//! Starts a sub-agent in a call, or resumes it, and drives it to its end.

use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolwright::unstable::delegation::{DelegatedRun, Delegation, inherited, run_of};
use toolwright::{CallId, Calls, ErrorClass, ToolContext, ToolError};
use tracing::{Instrument as _, Span};

use super::SubAgent;
use super::answer::{Answered, SubAgentAnswer};
use super::maker::Maker;
use super::record::{ChildError, ChildRecorder, Place, of_commit, of_store};
use super::sub_agents::{Link, ReadySubAgent};
use crate::agent::Agent;
use crate::durable::{RecordedAnswers, RunError, retry_in_outage, standing};
use crate::events::{Observer, StartPoint};
use crate::history::sources;
use crate::limits::share::{self, ChildSpending, Share, SpentShare, Standing, UsedUp};
use crate::limits::{Limits, ledger};
use crate::run::{Action, AgentRun, Driver, Rest, State, step};

/// What a sub-agent passes on to the sub-agents that it starts.
pub(super) struct Inherited {
    /// The names of the agents above the sub-agent, and its own name last.
    agents: Vec<String>,
    /// The call that started the sub-agent.
    call: CallId,
    /// The turn of the run in which the sub-agent was started.
    turn: u64,
    /// The limits and the spending of the sub-agent, while its calls run.
    standing: Mutex<Option<Standing>>,
}

impl Inherited {
    pub(super) fn note_standing(&self, standing: Standing) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = Some(standing);
    }

    fn standing(&self) -> Option<Standing> {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a sub-agent on a task and returns its answer.
pub(super) async fn start(
    link: &Link,
    name: &str,
    task: String,
    context: ToolContext,
    calls: Calls,
) -> Result<Answered, ToolError> {
    let gone = || failed("the agent that could start it is gone");
    let parent = link.agent().ok_or_else(gone)?;
    let sub_agents = parent.0.sub_agents.as_ref().ok_or_else(gone)?;
    let Some(ready) = sub_agents.get(name) else {
        let names: Vec<String> = sub_agents.names().map(|it| format!("`{it}`")).collect();
        let error = ToolError::invalid(format!("no agent is called `{name}`"));
        return Err(error.hint(format!("the agents are {}", names.join(", "))));
    };
    let above = inherited::<Inherited>(&calls);
    let mut agents = above.as_ref().map_or_else(Vec::new, |it| it.agents.clone());
    if agents.len() >= SubAgent::DEPTH {
        return Err(too_deep(name));
    }
    agents.push(name.to_owned());
    let run = context.run_id().ok_or_else(gone)?.to_owned();
    let _place = match ready.at_once > 1 {
        true => sub_agents.places(&run, name).acquire_owned().await.ok(),
        false => None,
    };
    let found = match &above {
        Some(above) => above.standing(),
        None => standing_of(&parent, &run).await?,
    };
    let turn = above.as_ref().map(|it| it.turn).or(context.turn());
    let turn = turn.or(found.map(|it| it.turn)).unwrap_or_default();
    let place = Place { run, turn, call: context.call_id(), agent: name.to_owned() };
    let (spending, version) =
        take_share(&parent, ready, name, &place, above.as_ref().map(|it| it.call), found).await?;
    let inherited = Arc::new(Inherited {
        agents: agents.clone(),
        call: place.call,
        turn,
        standing: Mutex::default(),
    });
    let user = run_of(&calls).and_then(|run| run.user().map(str::to_owned));
    let started = StartPoint { by: &parent, run: &place.run, agents: &agents };
    let observer = Observer::of_agents(&ready.agent, user, &started);
    let delegation = Delegation::to(name, ready.profile.clone())
        .policy(ready.policy.clone())
        .inherited(Arc::clone(&inherited) as _)
        .listen(observer.events().of_calls());
    let DelegatedRun { run, calls } = delegation.of(&calls).ok_or_else(gone)?;
    if run.catalog().is_empty() {
        return Err(failed(&format!("`{name}` has none of its tools here")));
    }
    // If a call of the sub-agent has to wait, for example for an approval, the call that started the sub-agent begins
    // again later and replays these answers. So even a journal in memory records them.
    let journal = parent.0.executor.journal_access();
    let recorded = journal.map(|it| RecordedAnswers::new(it, &place.run, place.call));
    let replayed = match &recorded {
        Some(recorded) => {
            let at = (&*place.run, &parent.0.executor);
            let read = retry_in_outage(at, RunError::store, || recorded.read()).await;
            read.map_err(|it| not_recorded(&it))?
        }
        None => Vec::new(),
    };
    let mut recorder = ChildRecorder::new(
        &parent,
        place,
        (spending, version),
        (recorded, replayed),
        Maker::new(calls),
        inherited,
        ready.time.map(|time| Instant::now() + time),
    );
    let state = State::new(limits(ready, spending.share));
    let mut run = AgentRun::of_sub_agent(ready.agent.clone(), run, observer, state);
    let (state, actions) = step(run.state(), run.said(task, Arc::default()));
    // A separate task has its own stack. Otherwise the stacks of nested agents would add up.
    let task = tokio::spawn(
        async move {
            let rest = driven(&mut run, &mut recorder, (state, actions)).await;
            rest.map(|rest| (rest, run.state().standing().spent, sources(run.history())))
        }
        .instrument(Span::current()),
    );
    let _ends_with_its_call = Ends(task.abort_handle());
    match task.await {
        Ok(Ok((Rest::Ended(end), spent, sources))) => {
            Ok(Answered { answer: SubAgentAnswer::of(name, &end, spent), sources })
        }
        Ok(Ok((Rest::Waiting(never), ..))) => match never {},
        // The call begins again later, and replays the recorded answers.
        Ok(Err(ChildError::NotRecorded(why))) => Err(not_recorded(&why)),
        Ok(Err(error)) => Err(failed(&error.to_string())),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => Err(failed(&error.to_string())),
        },
    }
}

/// Aborts the task of a sub-agent when its call is dropped.
struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Drives the sub-agent from its task to its end. This is a separate, boxed function, because the future is large.
fn driven<'r>(
    run: &'r mut AgentRun,
    recorder: &'r mut ChildRecorder,
    (state, actions): (State, Vec<Action>),
) -> BoxFuture<'r, Result<Rest<Infallible>, ChildError>> {
    async move {
        let mut driver = Driver { run, recorder };
        driver.commit(state, actions, None).await?;
        driver.drive().await
    }
    .boxed()
}

/// Returns the limits and the spending of the run that makes the call. Returns `None` if neither this process nor the
/// journal has them.
async fn standing_of(parent: &Agent, run: &str) -> Result<Option<Standing>, ToolError> {
    if let Some(standing) = parent.0.ledger.standing(run) {
        return Ok(Some(standing));
    }
    let Some(journal) = parent.0.journal() else { return Ok(None) };
    let at = (run, &parent.0.executor);
    let standing = retry_in_outage(at, RunError::store, || standing(&journal, run)).await;
    standing.map_err(|error| not_recorded(&error))
}

/// Takes the share of a sub-agent from the rest of its parent's budget. A sub-agent that resumes gets the share that it
/// got when it began.
async fn take_share(
    parent: &Agent,
    ready: &ReadySubAgent,
    name: &str,
    place: &Place,
    started_by: Option<CallId>,
    standing: Option<Standing>,
) -> Result<(ChildSpending, Option<u64>), ToolError> {
    let (ledger, at) = (&parent.0.ledger, (&*place.run, &parent.0.executor));
    // Without the lock, another sub-agent that starts at the same time could take the same rest of the budget.
    let _taking = ledger.taking.lock().await;
    let place = place.as_ledger();
    let version = retry_in_outage(at, of_store, || ledger.version(&place)).await;
    let version = version.map_err(|error| not_recorded(&error))?;
    let children = retry_in_outage(at, of_store, || ledger.children(place.run, place.turn)).await;
    let children = children.map_err(|error| not_recorded(&error))?;
    if let Some(before) = children.get(&place.call) {
        return Ok((*before, version));
    }
    let standing = standing.unwrap_or_else(|| {
        let (limits, spent) = (parent.0.limits, SpentShare::default());
        Standing { turn: place.turn, limits, spent }
    });
    let share = share::share(standing, &children, started_by, ready.wanted, ready.at_once);
    let share = share.map_err(|what| used_up(name, what))?;
    let (own, turn) = (SpentShare::default(), standing.turn);
    let child = ChildSpending { parent: started_by, turn, share, own, has_ended: false };
    let written = retry_in_outage(at, of_commit, || ledger.write(&place, child, None, Vec::new()));
    written.await.map_err(|error| not_recorded(&error))?;
    Ok((child, Some(1)))
}

fn limits(ready: &ReadySubAgent, share: Share) -> Limits {
    let Share { turns, tokens, cost } = share;
    Limits { turns, tokens, cost, time: ready.time, ..ready.agent.0.limits }
}

fn used_up(name: &str, what: UsedUp) -> ToolError {
    let what = match what {
        UsedUp::Turns => "turns",
        UsedUp::Tokens => "tokens",
        UsedUp::Cost => "money",
    };
    let message = format!("`{name}` was not started, because no {what} are left for it");
    ToolError::new("budget_spent", message).hint("go on without it, or end with what there is")
}

fn too_deep(name: &str) -> ToolError {
    let depth = SubAgent::DEPTH;
    let message = format!(
        "`{name}` was not started: agents give tasks on at most {depth} deep in each other"
    );
    ToolError::new("too_deep", message).hint("do the task itself")
}

fn failed(why: &str) -> ToolError {
    ToolError::new("sub_agent_stopped", format!("the agent stopped without an end: {why}"))
        .class(ErrorClass::Final)
}

/// Reports that the journal could not be used. When the call begins again, it replays the recorded answers.
fn not_recorded(error: &impl ToString) -> ToolError {
    let message = format!("the work of the agent could not be recorded: {}", error.to_string());
    ToolError::new("sub_agent_not_recorded", message).class(ErrorClass::Transient)
}

impl Place {
    pub(super) fn as_ledger(&self) -> ledger::Place<'_> {
        ledger::Place { run: &self.run, turn: self.turn, call: self.call, agent: &self.agent }
    }
}
