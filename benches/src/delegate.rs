//! Starting a sub-agent, against starting a plain run. Both have ten tools and a model that answers at once.
//!
//! A sub-agent has started when its model is asked; the time counts from the parent's answer that starts it. A plain
//! run has started when its model is asked; the time counts from its creation. `whole` measures until the end: the
//! parent's next request, or the result of the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::runtime::{Builder, Runtime};
use toolwright::__private0::{Handle, Spec};
use toolwright_agent::{Agent, ModelAnswer, SubAgent};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};
use crate::timed::{Timed, between};

const TOOLS: usize = 10;
const SYSTEM: &str = "You find out how the code works.";

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, times) = match effort {
        Effort::Full => (150, 50),
        Effort::Quick => (15, 20),
    };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let child = Timed::new(|_| ModelAnswer::text("It is in the parser."));
    let parent = Timed::calling(vec![(
        "spawn_agent",
        r#"{"agent":"researcher","task":"Where is it?"}"#.to_owned(),
    )]);
    let researcher = SubAgent::new("researcher", "Finds things out.")
        .model(Arc::clone(&child))
        .instructions(SYSTEM);
    let boss = Agent::builder(Arc::clone(&parent)).tools(tools()).sub_agent(researcher).build()?;
    let plain = Timed::new(|_| ModelAnswer::text("It is in the parser."));
    let agent = Agent::builder(Arc::clone(&plain)).tools(tools()).instructions(SYSTEM).build()?;
    let delegating = Delegating { runtime: &runtime, boss, parent, child, times };
    let alone = Alone { runtime: &runtime, agent, plain, times };
    let rounds = take_turns(
        rounds,
        vec![
            Contestant::new("run", || Ok(alone.sample()?.0)),
            Contestant::new("sub-agent", || Ok(delegating.sample()?.0)),
            Contestant::new("run, whole", || Ok(alone.sample()?.1)),
            Contestant::new("sub-agent, whole", || Ok(delegating.sample()?.1)),
        ],
    )?;
    let mut rows = vec![["", "µs"].map(str::to_owned).to_vec()];
    for name in ["run", "sub-agent", "run, whole", "sub-agent, whole"] {
        let each = rounds.median(name)? / f64::from(times) * 1e6;
        rows.push(vec![name.to_owned(), format!("{each:.1}")]);
    }
    print_table(&rows);
    print_ratio("delegate", "start", &rounds.ratio("sub-agent", "run")?, "run");
    print_ratio("delegate", "whole", &rounds.ratio("sub-agent, whole", "run, whole")?, "run");
    Ok(())
}

fn tools() -> Vec<Handle> {
    let tools = (0..TOOLS).map(|number| {
        let name = Box::leak(format!("tool_{number}").into_boxed_str());
        Handle::new(Box::leak(Box::new(Spec { name, ..Spec::EMPTY })))
    });
    tools.collect()
}

struct Delegating<'a> {
    runtime: &'a Runtime,
    boss: Agent,
    parent: Arc<Timed>,
    child: Arc<Timed>,
    times: u32,
}

impl Delegating<'_> {
    /// Returns the time until the sub-agent's model is asked, and until its parent's model is asked again.
    fn sample(&self) -> Result<(Duration, Duration)> {
        let mut sums = (Duration::ZERO, Duration::ZERO);
        for _ in 0..self.times {
            self.runtime.block_on(async { self.boss.run("Find out why.").await })?;
            let (parent, child) = (self.parent.take(), self.child.take());
            let asked = child.first().context("the sub-agent's model was not asked")?;
            sums.0 += *asked - parent[0];
            sums.1 += between(&parent, 0, 1)?;
        }
        Ok(sums)
    }
}

struct Alone<'a> {
    runtime: &'a Runtime,
    agent: Agent,
    plain: Arc<Timed>,
    times: u32,
}

impl Alone<'_> {
    /// Returns the time until the run's model is asked, and until the run ends.
    fn sample(&self) -> Result<(Duration, Duration)> {
        let mut sums = (Duration::ZERO, Duration::ZERO);
        for _ in 0..self.times {
            let begun = Instant::now();
            let result = self.runtime.block_on(async { self.agent.run("Where is it?").await })?;
            sums.1 += begun.elapsed();
            ensure!(!result.text().is_empty());
            let asked = self.plain.take();
            sums.0 += *asked.first().context("the model was not asked")? - begun;
        }
        Ok(sums)
    }
}
