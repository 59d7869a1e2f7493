//! One turn of an agent: a user's message after a history of 20 messages, a model's answer that calls three of ten
//! tools, the calls, and the model's final answer. The models follow equal scripts; the measure is everything around
//! them.
//!
//! Each contestant uses the scripted model of its own test kit, which records its requests. Making agents and scripts
//! is not measured. First, each turn is checked: the final answer, and that the model read the sums.

mod ours;
#[cfg(feature = "rig")]
mod rig;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::runtime::{Builder, Runtime};

use crate::allocations::{Allocated, counted};
use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};

/// How many messages the history has.
const HISTORY: usize = 20;
const TOOLS: usize = 10;

const SYSTEM: &str = "You are good at sums. Use the tools.";
const QUESTION: &str = "What are the sums of the last three orders?";
const LAST_WORD: &str = "They are 3, 700 and -5.";

/// The arguments of the calls of `add`, and the sums.
const CALLS: [(i64, i64, &str); 3] = [(1, 2, "3"), (300, 400, "700"), (-10, 5, "-5")];

/// An agent with a script for a number of turns.
trait Agent {
    /// Takes one turn of a new conversation after the history, and returns the final answer.
    async fn turn(&self) -> Result<String>;

    /// Returns what the model read of the calls of the last turn, as text.
    fn read(&self) -> Result<String>;
}

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, turns) = match effort {
        Effort::Full => (150, 200),
        Effort::Quick => (15, 50),
    };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let mut field =
        Field { runtime: &runtime, turns, contestants: Vec::new(), allocated: Vec::new() };
    field.enter("toolwright", |turns| ours::Ours::new(turns, false))?;
    field.enter("guarded", |turns| ours::Ours::new(turns, true))?;
    #[cfg(feature = "rig")]
    field.enter("rig", rig::Rig::new)?;
    let Field { contestants, allocated, .. } = field;
    report(&take_turns(rounds, contestants)?, &allocated, turns)
}

/// The contestants so far, and what one turn allocated.
struct Field<'a> {
    runtime: &'a Runtime,
    turns: u32,
    contestants: Vec<Contestant<'a>>,
    allocated: Vec<(&'static str, Allocated)>,
}

impl<'a> Field<'a> {
    /// Adds a contestant, if its turn is the expected one.
    fn enter<A, F>(&mut self, name: &'static str, make: F) -> Result<()>
    where
        A: Agent,
        F: Fn(u32) -> Result<A> + 'a,
    {
        let (runtime, turns) = (self.runtime, self.turns);
        let agent = make(2)?;
        let word = runtime.block_on(agent.turn())?;
        ensure!(word == LAST_WORD, "{name} says {word}");
        let read = agent.read()?;
        for (_, _, sum) in CALLS {
            ensure!(read.contains(sum), "{name}: the model read {read}, and no {sum}");
        }
        let (later, allocated) = counted(|| runtime.block_on(agent.turn()));
        later?;
        self.allocated.push((name, allocated));
        self.contestants.push(Contestant::new(name, move || {
            let agent = make(turns)?;
            runtime.block_on(sample(&agent, turns))
        }));
        Ok(())
    }
}

async fn sample(agent: &impl Agent, turns: u32) -> Result<Duration> {
    let start = Instant::now();
    for _ in 0..turns {
        std::hint::black_box(agent.turn().await?);
    }
    Ok(start.elapsed())
}

fn report(rounds: &Rounds, allocated: &[(&'static str, Allocated)], turns: u32) -> Result<()> {
    let mut rows =
        vec![["", "µs/turn", "× rig", "middle half", "allocations"].map(String::from).to_vec()];
    for (name, allocated) in allocated {
        let (times, middle) = match rounds.has("rig") {
            true => {
                let ratio = rounds.ratio(name, "rig")?;
                let (low, high) = ratio.quartiles;
                (format!("{:.2}", ratio.median), format!("{low:.2}–{high:.2}"))
            }
            false => Default::default(),
        };
        let microseconds = rounds.median(name)? / f64::from(turns) * 1e6;
        rows.push(vec![
            (*name).to_string(),
            format!("{microseconds:.1}"),
            times,
            middle,
            allocated.to_string(),
        ]);
    }
    print_table(&rows);
    print_ratio("turn", "guarded", &rounds.ratio("guarded", "toolwright")?, "agent");
    if rounds.has("rig") {
        print_ratio("turn", "agent", &rounds.ratio("toolwright", "rig")?, "rig");
    }
    Ok(())
}
