//! `calls trace ID`: shows each step of a call: why the executor examined the call, what it decided, and what it
//! committed.
//!
//! The command replays the call's history through the state machine, and refuses a trace that lacks a step.

use clap::{ArgMatches, Command};
use serde::Serialize;
use toolwright::CallId;
use toolwright::unstable::journal::{TraceStep, trace};

use crate::Exit;
use crate::operator::{Session, Stop, ids};
use crate::shown::{printable, when};

pub(super) const NAME: &str = "trace";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about(
            "Show each step of a call: why it was looked at, what was decided, what was committed",
        )
        .arg(ids::one_call())
}

/// A step as JSON, for programs.
#[derive(Serialize)]
struct Step<'a> {
    call: CallId,
    #[serde(flatten)]
    step: &'a TraceStep,
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let call = ids::find_one(matches, &*session.store).await?;
    let history = session.store.history(call.id).await?;
    let steps = trace(&call, &history).map_err(|why| {
        let refused = format!("the trace of call {} is refused: {why}", call.id);
        Stop::new(Exit::Failed, refused)
    })?;
    for (number, step) in (1..).zip(&steps) {
        session.output.write(&Step { call: call.id, step }, || words(number, step))?;
    }
    Ok(())
}

fn words(number: usize, step: &TraceStep) -> String {
    let from = step.from.map_or("not recorded yet", |state| state.name());
    let mut lines = format!(
        "{number}. {}  input: {}, the call is {from}\n",
        when::absolute(step.at),
        step.input.name()
    );
    for decision in &step.decision {
        lines += &format!("   decision: {}, so it is {}", decision.event, decision.to);
        if let Some(why) = &decision.why {
            lines += &format!(": {}", printable::line(why));
        }
        lines.push('\n');
    }
    let who = printable::line(&step.who);
    let (version, generation) = (step.version, step.generation);
    lines + &format!("   commit: version {version}, generation {generation}, by {who}\n")
}
