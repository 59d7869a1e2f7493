//! Takes a run for a driver: records a new run, or leases a run that no process drives.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use toolwright::CallId;
use toolwright::approval::{ApprovalError, ApprovalRequest, ApprovalService};
use toolwright::journal::CallRecord;

use super::acknowledge::UnacknowledgedTurn;
use super::background::rests_in_background;
use super::body::Body;
use super::builder::unsealed;
use super::crashes::park;
use super::deadline::deadline_of;
use super::decide::{CallStatus, Decision, decide};
use super::head::{Crashes, Head, Phase, WaitingCall};
use super::info::RunInfo;
use super::keys;
use super::made_of::MadeOf;
use super::plugins::PluginDocument;
use super::progress::{Progress, Waiting};
use super::record::{DrivenRun, RunRecord};
use super::recorded::{LeasedRun, end_of_lease, has_messages};
use super::remembered::Versions;
use super::rewind::refuse_rewound;
use super::runner::Inner;
use super::runs::info_of;
use super::taken_by::TakenBy;
use super::turn::Turns;
use super::work::Look;
use super::{NewRun, RunError};
use crate::agent::Agent;
use crate::history::{Message, check};
use crate::limits::Limits;
use crate::plugin::PluginStates;
use crate::run::{AgentRun, State};

/// The state of a run, as a driver reads it.
struct RunStatus {
    head: Head,
    version: u64,
    is_cancelled: bool,
    calls: Vec<CallStatus>,
    /// Whether calls of the run could continue, although a driver that took the run a moment ago made no progress.
    is_vain: bool,
    /// The approval requests for the calls of the run.
    requests: Vec<ApprovalRequest>,
}

impl Inner {
    /// Records a new run and leases it to a driver.
    pub(super) async fn begin_run(&self, new: NewRun) -> Result<DrivenRun, RunError> {
        let NewRun { info, task, attachments, history } = new;
        if let Some(why) = keys::problem(&info.id) {
            return Err(RunError::Id { run: info.id, why });
        }
        if task.trim().is_empty() && attachments.is_empty() {
            return Err(crate::run::Stopped::NothingSaid.into());
        }
        if let Some(why) = unsound(&history) {
            return Err(RunError::NotNow { run: info.id, why });
        }
        if self.access.store.document(&keys::removed(&info.id)).await?.is_some() {
            return Err(RunError::Exists { run: info.id });
        }
        let agent = self.agent(&info.agent)?;
        let limits = agent.0.limits;
        let state = State::new(limits);
        let head = self.new_head(&info, &state, limits)?;
        let plugins = PluginDocument::new(&self.access, &info.id, 0, None);
        let states = (PluginStates::default(), Arc::clone(&plugins));
        let run = self.opened(agent, &info, (state, history.clone()), states, false)?;
        let recorded = LeasedRun::new(self.access.clone(), driver(), head, 0);
        let mut record = RunRecord::new(recorded, agent, &run, plugins);
        // The imported history is recorded together with the first message.
        record.said = history;
        record.recorded.goes_on_with(&MadeOf::of(agent)).await?;
        // A run of this id may be removed before the new run is recorded, for instance while a guard reads the message.
        record.recorded.also.push(keys::not_removed(&info.id));
        let mut driven = DrivenRun { run, record, differences: Vec::new() };
        match driven.say(&task, attachments).await {
            Err(RunError::LeaseLost { run }) => Err(RunError::Exists { run }),
            Err(error) => Err(error),
            Ok(()) => Ok(driven),
        }
    }

    /// Leases a run if this process may drive it; if not, returns the state of the run.
    pub(super) async fn take_run(
        &self,
        id: &str,
        by: TakenBy,
    ) -> Result<Result<DrivenRun, Progress>, RunError> {
        let RunStatus { head, version, is_cancelled, calls, requests, .. } =
            self.read_status(id).await?;
        let now = self.access.now();
        let mut head = by.admits(head, now);
        let (crashes, is_suspect) = match decide(&head, &calls, is_cancelled, now) {
            Decision::Ended => {
                let (state, turns) = self.turns(&head, version).await?;
                let left = UnacknowledgedTurn::last_of(&turns.history, head.turn);
                let mut recorded = LeasedRun::new(self.access.clone(), driver(), head, version);
                let why = "its phase is `ended`, and its state is not; it was changed by hand";
                let ended = state.ended().cloned();
                let ended = ended.ok_or_else(|| RunError::damaged(&keys::head(id), why))?;
                let is_answer = ended.is_answer() && recorded.head.cancelled.is_none();
                let background = state.background();
                self.recall(&recorded.head, left.as_slice(), background, is_answer).await?;
                let is_listed =
                    recorded.list_as_ended(left.as_slice(), background, is_answer).await?;
                if !is_listed && !recorded.is_said_more {
                    // For example, a call still goes on in another process. A worker need not load the run in each pass
                    // until then.
                    self.remembered.took_in_vain(id, Versions::new(), now);
                }
                if recorded.is_said_more
                    && is_answer
                    && let Some(driven) = Box::pin(self.spoken_of_inbox(id)).await?
                {
                    return Ok(Ok(driven));
                }
                return Ok(Err(Progress::Ended(ended)));
            }
            Decision::Rewound => return Err(refuse_rewound(&head)),
            Decision::Parked { until } => {
                let why = head.parked.map_or_else(String::new, |parked| parked.why);
                return Err(RunError::Parked { run: head.run, why, until });
            }
            Decision::Driven { until } => {
                let driver = head.lease.map_or_else(String::new, |lease| lease.driver);
                return Err(RunError::Driven { run: head.run, driver, until });
            }
            Decision::Away { outage } => return Err(RunError::away(&head.run, &outage)),
            Decision::Rests { until } => return Err(RunError::Suspect { run: head.run, until }),
            Decision::Waits => {
                let (run, turn, calls) = (head.run, head.turn, head.waiting);
                let waiting = Waiting { run, turn, calls, requests };
                return Ok(Err(Progress::Waiting(waiting)));
            }
            Decision::Park { crashes } => {
                return Err(self.park_run(head, version, crashes).await?);
            }
            Decision::Take { crashes, is_suspect } => (crashes, is_suspect),
        };
        let suspicion = match is_suspect {
            true => {
                let suspect = || RunError::Suspect { run: head.run.clone(), until: now };
                Some(self.suspects.take().ok_or_else(suspect)?)
            }
            false => None,
        };
        head.epoch += 1;
        let head = Head { crashes, parked: None, ..head };
        let mut driven = self.load(head, version, is_cancelled).await?;
        driven.record.recorded.suspicion = suspicion;
        driven.record.recorded.renew().await?;
        Ok(Ok(driven))
    }

    /// Records that a run is parked because its drivers died several times. Returns the error that reports this.
    async fn park_run(
        &self,
        head: Head,
        version: u64,
        crashes: Crashes,
    ) -> Result<RunError, RunError> {
        let now = self.access.now();
        let (crashes, parked) = park(crashes, now);
        let until = parked.until.unwrap_or(now);
        let error = RunError::Parked { run: head.run.clone(), why: parked.why.clone(), until };
        let next =
            Head { lease: None, crashes: Some(crashes), parked: Some(parked), ..head.clone() };
        let mut recorded = LeasedRun::new(self.access.clone(), driver(), head, version);
        recorded.commit(next, Vec::new()).await?;
        Ok(error)
    }

    /// Reads the state of a run: its head, with the lease in terms of this process's clock, and the status of the calls
    /// that the run waits for.
    async fn read_status(&self, id: &str) -> Result<RunStatus, RunError> {
        let (head, version) = self.head(id).await?;
        let now = self.access.now();
        let mut head = self.remembered.by_this_clock(head, version, now);
        if let Some(agent) = self.agents.get(&head.agent) {
            let until = end_of_lease(&self.access, now);
            head.lease = head.lease.and_then(|lease| agent.0.drivers.now_of(lease, until));
        }
        let is_cancelled = self.is_cancelled(id).await?;
        let (mut calls, versions, requests) = self.calls(&head.waiting, now).await?;
        let is_vain = self.remembered.is_vain(id, &versions, now);
        if is_vain {
            let waits = |it: &mut CallStatus| *it = CallStatus::Waits;
            calls.iter_mut().filter(|it| **it == CallStatus::MayGoOn).for_each(waits);
        }
        if rests_in_background(&head) && has_messages(&*self.access.store, id).await? {
            calls.push(CallStatus::MayGoOn);
        }
        Ok(RunStatus { head, version, is_cancelled, calls, is_vain, requests })
    }

    /// Decides whether a worker drives a run now, or when it reads the run again.
    pub(super) async fn look_at(&self, id: &str) -> Result<Look, RunError> {
        let RunStatus { head, is_cancelled, calls, is_vain, .. } = self.read_status(id).await?;
        let until = |until: Timestamp| {
            // The run's deadline may come before that time.
            let until = head.deadline.map_or(until, |deadline| deadline.min(until));
            Look::Rests { until: Some(until), calls: Vec::new() }
        };
        Ok(match decide(&head, &calls, is_cancelled, self.access.now()) {
            // No notice arrives when the rewind is finished or undone, so the worker reads the run again later.
            Decision::Rewound => Look::Rests { until: head.deadline, calls: Vec::new() },
            Decision::Parked { until: parked } => until(parked),
            Decision::Away { outage } => until(outage.until),
            Decision::Rests { until: rests } => until(rests),
            Decision::Waits | Decision::Ended if is_vain => Look::Again,
            Decision::Waits => {
                let calls = head.waiting.iter().map(|it| it.call).collect();
                Look::Rests { until: head.deadline, calls }
            }
            Decision::Driven { .. } => Look::Again,
            // An ended run is still listed as open: the worker takes it to list it as ended. It takes a run that is to
            // be parked, to park it.
            Decision::Ended | Decision::Park { .. } => Look::Due,
            Decision::Take { is_suspect, .. } if is_suspect && !self.suspects.is_free() => {
                Look::Again
            }
            Decision::Take { .. } => Look::Due,
        })
    }

    /// Loads a run and its history before this driver leases it, so that errors in its record are found before anything
    /// is written.
    pub(super) async fn load(
        &self,
        head: Head,
        version: u64,
        is_cancelled: bool,
    ) -> Result<DrivenRun, RunError> {
        let agent = self.agent(&head.agent)?;
        let (state, turns) = self.turns(&head, version).await?;
        let info = self.info(&head)?;
        let Turns { history, said, guarded, so_far, versions, summaries, plugins } = turns;
        let turn = state.turn();
        let document = PluginDocument::new(&self.access, &head.run, turn, plugins.version);
        let left = UnacknowledgedTurn::last_of(&history, state.turn()).into_iter().collect();
        let states = (plugins.states.clone(), Arc::clone(&document));
        let run = self.opened(agent, &info, (state, history), states, is_cancelled);
        let mut run = run.map_err(|error| plugins.with_place(error))?;
        run.goes_on_with(summaries);
        let mut recorded = LeasedRun::new(self.access.clone(), driver(), head, version);
        recorded.versions = versions;
        let differences = recorded.goes_on_with(&MadeOf::of(agent)).await?;
        recorded.also.extend(plugins.fence(&recorded, turn, &document, run.plugins().is_some())?);
        let mut record = RunRecord::new(recorded, agent, &run, document);
        (record.said, record.so_far, record.left) = (said, so_far, left);
        record.guarded = guarded;
        Ok(DrivenRun { run, record, differences })
    }

    /// Opens the run on the executor, with its services. A cancelled run needs no services, because it only ends its
    /// calls.
    fn opened(
        &self,
        agent: &Agent,
        info: &RunInfo,
        (state, history): (State, Vec<Message>),
        (plugins, document): (PluginStates, Arc<PluginDocument>),
        is_cancelled: bool,
    ) -> Result<AgentRun, RunError> {
        if let Some(tool) = unsealed(agent, &self.access) {
            let why = format!(
                "the tool `{tool}` takes a secret, which would be recorded; give its journal one by `Journal::sealing_key`"
            );
            return Err(RunError::NotNow { run: info.id.clone(), why });
        }
        let mut builder = agent.new_run(info.id.clone());
        builder = builder.plugins(plugins).recording_plugins(document);
        if let Some(user) = &info.user {
            builder = builder.user(user);
        }
        if let Some(session) = &info.session {
            builder = builder.session(session);
        }
        Ok(match is_cancelled {
            true => builder.restored(state, history).start_without_services()?,
            false => self.with_services(info, builder)?.restored(state, history).start()?,
        })
    }

    /// Checks that this process can make the services of an open run.
    pub(super) async fn check_services(&self, id: &str) -> Result<(), RunError> {
        let (head, _) = self.head(id).await?;
        let Some(agent) = self.agents.get(&head.agent) else { return Ok(()) };
        let info = self.info(&head)?;
        Ok(self.with_services(&info, agent.new_run(info.id.clone()))?.has_services()?)
    }

    fn info(&self, head: &Head) -> Result<RunInfo, RunError> {
        info_of(head, self.access.sealing.as_ref())
    }

    /// Reads the status of the calls that a run waits for, and the approval requests for them.
    pub(super) async fn calls(
        &self,
        waiting: &[WaitingCall],
        now: Timestamp,
    ) -> Result<(Vec<CallStatus>, Versions, Vec<ApprovalRequest>), RunError> {
        let (mut calls, mut versions, mut requests) = (Vec::new(), Vec::new(), Vec::new());
        for waiting in waiting {
            let record = self.access.store.get(waiting.call).await?;
            calls.push(CallStatus::of(record.as_ref(), now));
            versions.push((waiting.call, record.as_ref().map(|it| it.version)));
            let pending = record.filter(|it| it.state == toolwright::journal::State::Pending);
            // If the record shows other arguments than those with which the tool would run, the call is offered to no
            // approver.
            let is_altered = |it: &CallRecord| {
                matches!(ApprovalService::check_shown(it), Err(ApprovalError::Altered { .. }))
            };
            let offered = pending.as_ref().filter(|it| !is_altered(it));
            requests.extend(offered.and_then(ApprovalRequest::of));
        }
        Ok((calls, versions, requests))
    }

    fn new_head(&self, info: &RunInfo, state: &State, limits: Limits) -> Result<Head, RunError> {
        let (key, sealing) = (keys::head(&info.id), self.access.sealing.as_ref());
        let now = self.access.now();
        let head = Head {
            run: info.id.clone(),
            agent: info.agent.clone(),
            user: info.user.clone(),
            session: info.session.clone(),
            phase: Phase::Asking,
            turn: 0,
            spent: state.spent(),
            prices: None,
            ended: None,
            waiting: Vec::new(),
            epoch: 1,
            lease: None,
            crashes: None,
            parked: None,
            outage: None,
            cancelled: None,
            deadline: deadline_of(&self.access, limits),
            forked: None,
            rewound: None,
            created: now,
            updated: now,
            data: Body::of(&info.data, &format!("{key}#data"), sealing)?,
            state: Body::Plain(Value::Null),
        };
        head.with_state(state, sealing)
    }
}

/// Returns an id that no other driver has.
fn driver() -> String {
    CallId::new().to_string()
}

/// Returns why a run cannot begin with this history; `None` if the run can.
fn unsound(history: &[Message]) -> Option<String> {
    let why = match check(history) {
        Ok([]) => return None,
        Ok(open) => format!("found {} open at its end, expected all calls answered", open.len()),
        Err(problem) => problem.to_string(),
    };
    Some(format!("cannot begin with this history, {why}; give what `import` makes of it"))
}
