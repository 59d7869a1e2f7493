//! How a driver gets a run: it records a new one, or takes up one that nobody drives.

use jiff::{SignedDuration, Timestamp};
use toolwright::approval::ApprovalRequest;
use toolwright::unstable::runs::JournalAccess;
use toolwright::{CallId, CancellationToken};

use super::agents::Inner;
use super::body::Body;
use super::builder::unsealed;
use super::decide::{CallNow, Decision, decide};
use super::driver::Driver;
use super::head::{Head, Parked, Phase};
use super::info::RunInfo;
use super::keys;
use super::progress::{Progress, Waiting};
use super::recorded::Recorded;
use super::runs::info_of;
use super::turn::Turns;
use super::{NewRun, RunError};
use crate::run::AgentRun;
use crate::{Agent, Limits, Message, State};

impl Inner {
    /// A new run, recorded and leased to the driver.
    pub(super) async fn begun(&self, new: NewRun) -> Result<Driver, RunError> {
        let NewRun { info, task } = new;
        if let Some(why) = keys::problem(&info.id) {
            return Err(RunError::Id { run: info.id, why });
        }
        if task.trim().is_empty() {
            return Err(crate::Stopped::NothingSaid.into());
        }
        let agent = self.agent(&info.agent)?;
        let limits = agent.0.limits;
        let state = State::new(limits);
        let head = self.new_head(&info, &state, limits)?;
        let (run, token) = self.opened(agent, &info, state, Vec::new())?;
        let recorded = Recorded::new(self.access.clone(), driver(), head, 0);
        let (said, so_far) = (Vec::new(), Vec::new());
        let mut driver = Driver { run, recorded, token, said, so_far };
        match driver.said(&task).await {
            Err(RunError::LeaseLost { run }) => Err(RunError::Exists { run }),
            Err(error) => Err(error),
            Ok(()) => Ok(driver),
        }
    }

    /// A run that has ended, and to which its user has said more.
    pub(super) async fn spoken(&self, id: &str, text: &str) -> Result<Driver, RunError> {
        let (head, version) = self.head(id).await?;
        let not_now = |why: &str| RunError::NotNow { run: id.to_owned(), why: why.to_owned() };
        if head.phase != Phase::Ended {
            return Err(not_now("has not ended; resume it, or wait for its end"));
        }
        if head.cancelled.is_some() {
            return Err(not_now("was cancelled; start another"));
        }
        let limits = self.agent(&head.agent)?.0.limits;
        let deadline = deadline_of(&self.access, limits);
        let head = Head { epoch: head.epoch + 1, deadline, ..head };
        let mut driver = self.loaded(head, version).await?;
        driver.said(text).await?;
        Ok(driver)
    }

    /// A run that this process may drive, leased; else where it stands. An operator takes up what is parked.
    pub(super) async fn taken(
        &self,
        id: &str,
        is_operator: bool,
    ) -> Result<Result<Driver, Progress>, RunError> {
        let (mut head, version) = self.head(id).await?;
        if is_operator && head.parked.is_some() {
            (head.parked, head.deaths, head.lease) = (None, None, None);
        }
        let now = self.access.now();
        let (calls, requests) = self.calls(&head, now).await?;
        let is_cancelled = self.is_cancelled(id).await?;
        let deaths = match decide(&head, &calls, is_cancelled, now) {
            Decision::Ended => {
                let (state, _) = self.turns(&head).await?;
                let why = "its phase is `ended`, and its state is not; it was changed by hand";
                let ended = state.ended().cloned();
                let ended = ended.ok_or_else(|| RunError::damaged(&keys::head(id), why))?;
                return Ok(Err(Progress::Ended(ended)));
            }
            Decision::Parked => {
                let Parked { why, at } =
                    head.parked.unwrap_or(Parked { why: String::new(), at: now });
                return Err(RunError::Parked { run: head.run, why, at });
            }
            Decision::Driven { until } => {
                let driver = head.lease.map_or_else(String::new, |lease| lease.driver);
                return Err(RunError::Driven { run: head.run, driver, until });
            }
            Decision::Waits => {
                let waiting = Waiting { turn: head.turn, calls: head.waiting, requests };
                return Ok(Err(Progress::Waiting(waiting)));
            }
            Decision::Park { deaths } => {
                let (drivers, turn) = (deaths.drivers, deaths.turn);
                let why = format!("{drivers} processes died while they drove turn {turn}");
                let parked = Parked { why: why.clone(), at: now };
                let parked = Head {
                    lease: None,
                    deaths: Some(deaths),
                    parked: Some(parked),
                    ..head.clone()
                };
                let run = head.run.clone();
                let mut recorded = Recorded::new(self.access.clone(), driver(), head, version);
                recorded.commit(parked, Vec::new()).await?;
                return Err(RunError::Parked { run, why, at: now });
            }
            Decision::Take { deaths } => deaths,
        };
        let epoch = head.epoch + 1;
        let mut driver = self.loaded(Head { epoch, deaths, ..head }, version).await?;
        driver.recorded.renew().await?;
        Ok(Ok(driver))
    }

    /// A run with its history, whose lease is not this driver's yet: what is wrong with it is found before anything is
    /// written.
    async fn loaded(&self, head: Head, version: u64) -> Result<Driver, RunError> {
        let agent = self.agent(&head.agent)?;
        let (state, turns) = self.turns(&head).await?;
        let info = self.info(&head)?;
        let Turns { history, said, so_far, versions } = turns;
        let (run, token) = self.opened(agent, &info, state, history)?;
        let mut recorded = Recorded::new(self.access.clone(), driver(), head, version);
        recorded.versions = versions;
        Ok(Driver { run, recorded, token, said, so_far })
    }

    /// The executor's side of a run, with its services.
    fn opened(
        &self,
        agent: &Agent,
        info: &RunInfo,
        state: State,
        history: Vec<Message>,
    ) -> Result<(AgentRun, CancellationToken), RunError> {
        if let Some(tool) = unsealed(agent, &self.access) {
            let why = format!(
                "the tool `{tool}` takes a secret, which would be recorded; give the executor a `.sealing_key(…)`"
            );
            return Err(RunError::NotNow { run: info.id.clone(), why });
        }
        let token = CancellationToken::new();
        let mut builder = agent.run(info.id.clone()).cancelled_by(token.clone());
        if let Some(user) = &info.user {
            builder = builder.user(user);
        }
        if let Some(session) = &info.session {
            builder = builder.session(session);
        }
        let builder = self.with_services(info, builder)?;
        Ok((builder.restored(state, history).start()?, token))
    }

    /// Whether the services of a run that goes on can be made here.
    pub(super) async fn provided(&self, id: &str) -> Result<(), RunError> {
        let (head, _) = self.head(id).await?;
        let Some(agent) = self.agents.get(&head.agent) else { return Ok(()) };
        let info = self.info(&head)?;
        self.with_services(&info, agent.run(info.id.clone()))?.start()?;
        Ok(())
    }

    /// The state of a run and its turns.
    pub(super) async fn turns(&self, head: &Head) -> Result<(State, Turns), RunError> {
        let key = keys::head(&head.run);
        let sealing = self.access.sealing.as_ref();
        let state: State = head.state.open(&format!("{key}#state"), sealing)?;
        if state.turn() != head.turn {
            let (found, expected) = (head.turn, state.turn());
            let why = format!(
                "it says turn {found}, and its state turn {expected}: it was changed by hand; restore it"
            );
            return Err(RunError::damaged(&key, why));
        }
        let documents = self.access.store.documents(&keys::turns(&head.run)).await?;
        let turns = Turns::read(&head.run, &state, documents, sealing)?;
        Ok((state, turns))
    }

    fn info(&self, head: &Head) -> Result<RunInfo, RunError> {
        info_of(head, self.access.sealing.as_ref())
    }

    /// What becomes of the calls that a run waits for, and what people are asked about them.
    async fn calls(
        &self,
        head: &Head,
        now: Timestamp,
    ) -> Result<(Vec<CallNow>, Vec<ApprovalRequest>), RunError> {
        let (mut calls, mut requests) = (Vec::new(), Vec::new());
        for waiting in &head.waiting {
            let record = self.access.store.get(waiting.call).await?;
            calls.push(CallNow::of(record.as_ref(), now));
            let pending = record.filter(|it| it.state == toolwright::journal::State::Pending);
            requests.extend(pending.as_ref().and_then(ApprovalRequest::of));
        }
        Ok((calls, requests))
    }

    fn new_head(&self, info: &RunInfo, state: &State, limits: Limits) -> Result<Head, RunError> {
        let (key, sealing) = (keys::head(&info.id), self.access.sealing.as_ref());
        let now = self.access.now();
        Ok(Head {
            run: info.id.clone(),
            agent: info.agent.clone(),
            user: info.user.clone(),
            session: info.session.clone(),
            phase: Phase::Asking,
            turn: 0,
            usage: state.usage(),
            ended: None,
            waiting: Vec::new(),
            epoch: 1,
            lease: None,
            deaths: None,
            parked: None,
            cancelled: None,
            deadline: deadline_of(&self.access, limits),
            forked: None,
            created: now,
            updated: now,
            data: Body::of(&info.data, &format!("{key}#data"), sealing)?,
            state: Body::of(state, &format!("{key}#state"), sealing)?,
        })
    }
}

/// A name that no other driver has.
fn driver() -> String {
    CallId::new().to_string()
}

fn deadline_of(access: &JournalAccess, limits: Limits) -> Option<Timestamp> {
    let time = SignedDuration::try_from(limits.time?).unwrap_or(SignedDuration::MAX);
    Some(access.now().checked_add(time).unwrap_or(Timestamp::MAX))
}
