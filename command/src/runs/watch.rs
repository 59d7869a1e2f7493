//! `runs watch RUN`: prints each turn of a run as it is recorded, until the run ends or is parked.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use toolwright::CallId;
use toolwright_agent::durable::{Head, Phase, Runs};

use super::tree::AgentShown;
use super::{find_named, runs, stop_of};
use crate::operator::{Session, Stop, duration};
use crate::shown::printable;
use crate::shown::run::{RunPage, TurnShown};
use crate::tell;

pub(super) const NAME: &str = "watch";

const INTERVAL: &str = "interval";
const AFTER: &str = "after";

pub(super) fn command(run: Arg) -> Command {
    let interval = Arg::new(INTERVAL)
        .long(INTERVAL)
        .value_name("DURATION")
        .default_value("2s")
        .value_parser(duration::to_wait)
        .help("How often to look at least, such as 500ms or 1m");
    let after = Arg::new(AFTER)
        .long(AFTER)
        .value_name("TURN")
        .value_parser(value_parser!(u64))
        .help("Begin after this turn; 0, the first, unless given");
    Command::new(NAME)
        .about("Write each turn of a run and what its sub-agents do as it is recorded, until it ends or is parked for an operator")
        .args([run, interval, after])
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let interval = matches.get_one::<Duration>(INTERVAL).copied().unwrap_or_default();
    let runs = runs(session);
    let after = matches.get_one::<u64>(AFTER).copied().unwrap_or_default();
    let next = after.saturating_add(1);
    let (shown, standing, agents) = (None, String::new(), BTreeMap::new());
    let mut watched = WatchedRun { next, shown, standing, agents };
    if Runs::is_encrypted(&find_named(matches, &runs).await?) {
        tell("note", "the texts of this run are encrypted; its application can read them");
    }
    loop {
        // Subscribe before reading, so that no change is missed.
        let changed = session.store.changed();
        let head = find_named(matches, &runs).await?;
        watched.look(session, &runs, &head).await?;
        if head.phase == Phase::Ended {
            return Ok(());
        }
        if let Some(parked) = &head.parked {
            let words = printable::line(&parked.why);
            tell("note", format!("the run waits for an operator: {words}; resume it by its id"));
            return Ok(());
        }
        let _ = tokio::time::timeout(interval, changed).await;
    }
}

/// The state of the watch: the turns and sub-agents that have been printed.
struct WatchedRun {
    /// The number of the first turn that is not complete yet.
    next: u64,
    /// The text that was last printed for the turn `next`.
    shown: Option<String>,
    standing: String,
    /// The line that was last printed for each sub-agent.
    agents: BTreeMap<CallId, String>,
}

impl WatchedRun {
    async fn look(&mut self, session: &Session, runs: &Runs, head: &Head) -> Result<(), Stop> {
        while !Runs::is_encrypted(head) {
            let turn = runs.turn(&head.run, self.next).await.map_err(stop_of)?;
            let is_whole = match &turn.answer {
                Some(message) => message.calls().is_empty() || turn.answers.is_some(),
                None => self.next < head.turn,
            };
            let shown = TurnShown::of(&head.run, self.next, &turn);
            let words = shown.words();
            if !shown.is_empty() && self.shown.as_ref() != Some(&words) {
                let before = self.shown.take().unwrap_or_default();
                session
                    .output
                    .write(&shown, || words.strip_prefix(&before).unwrap_or(&words).to_owned())?;
                self.shown = Some(words);
            }
            if !is_whole {
                break;
            }
            (self.next, self.shown) = (self.next + 1, None);
        }
        for agent in runs.sub_agents(&head.run).await.map_err(stop_of)? {
            let shown = AgentShown::of(&head.run, &agent);
            let words = shown.words();
            if self.agents.get(&agent.call) != Some(&words) {
                session.output.write(&shown, || words.clone())?;
                self.agents.insert(agent.call, words);
            }
        }
        let shown = RunPage::of(head);
        let standing = shown.standing();
        if standing != self.standing {
            session.output.write(&shown, || format!("{standing}\n"))?;
            self.standing = standing;
        }
        Ok(())
    }
}
