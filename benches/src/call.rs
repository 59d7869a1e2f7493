//! One call of a tool among 1,000, from raw JSON text to the text of the answer.
//!
//! The floor is the least that serde needs for a derived struct: `from_str`, the function itself, `to_string`. Every
//! contestant runs the same function on the same text, and has to give the same answer before anything is measured.
//! Among our own calls, one with a validation rule is measured against one without, and a tool that calls another
//! against two calls. One is measured through a journal in memory, to know what the way without a journal saves.

pub mod floor;
pub mod ours;
#[cfg(feature = "rig")]
mod rig;
mod rmcp;

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};

/// How many tools every registry has; the tool that is called is one of them.
const NAMES: usize = 1_000;

const FIND_TEXT: &str = r#"{"pattern":"fn main","limit":20,"folder":"src/bin","whole_words":true,"window":{"before":2,"after":3,"label":"around"}}"#;
const MEASURE_TEXT: &str = r#"{"text":"the quick brown fox jumps over the lazy dog"}"#;

/// The measures that a program reads: the name, the contestant, and the contestant that it is compared with.
const MEASURES: [(&str, &str, &str); 7] = [
    ("executor", "toolwright", "floor"),
    ("one-arg", "toolwright, one argument", "floor, one argument"),
    ("validated", "toolwright, with a rule", "toolwright"),
    ("nested", "toolwright, parent and child", "toolwright, two calls"),
    ("recorded", "toolwright, journal in memory", "toolwright"),
    ("rig", "rig", "floor"),
    ("rmcp", "rmcp", "floor"),
];

/// Slower ways through the peers, which their documentation shows first. For people only.
const ASIDES: [(&str, &str); 4] = [
    ("rig, struct", "floor"),
    ("rig, ToolSet::get", "floor"),
    ("rig, ToolSet::execute", "floor"),
    ("rmcp, Json<T>", "floor"),
];

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, calls) = match effort {
        Effort::Full => (300, 2_000),
        Effort::Quick => (20, 500),
    };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let rounds = measured(&runtime, rounds, calls)?;
    report(&rounds, calls)
}

fn measured(runtime: &Runtime, rounds: usize, calls: u32) -> Result<Rounds> {
    #[cfg(feature = "rig")]
    let rig = rig::Rig::new()?;
    let rmcp = runtime.block_on(async { rmcp::Rmcp::new() })?;
    let ours = ours::Ours::new()?;
    let mut field = Field { runtime, calls, contestants: Vec::new() };
    // Every contestant is called through one closure and one async function.
    field.enter("floor", FIND_TEXT, async |text: &str| floor::call_find_text(text).await)?;
    field.enter("floor, one argument", MEASURE_TEXT, async |text: &str| {
        floor::call_measure_text(text).await
    })?;
    field.enter("toolwright", FIND_TEXT, async |text: &str| ours.find_text(text).await)?;
    field.enter("toolwright, journal in memory", FIND_TEXT, async |text: &str| {
        ours.find_recorded(text).await
    })?;
    field.enter("toolwright, one argument", MEASURE_TEXT, async |text: &str| {
        ours.measure_text(text).await
    })?;
    field.enter("toolwright, with a rule", FIND_TEXT, async |text: &str| {
        ours.find_checked(text).await
    })?;
    field.enter("toolwright, two calls", MEASURE_TEXT, async |text: &str| {
        ours.measure_twice(text).await
    })?;
    field.enter("toolwright, parent and child", MEASURE_TEXT, async |text: &str| {
        ours.measure_through(text).await
    })?;
    #[cfg(feature = "rig")]
    {
        field.enter("rig", FIND_TEXT, async |text: &str| rig.text(text).await)?;
        field.enter("rig, struct", FIND_TEXT, async |text: &str| rig.structured(text).await)?;
        field
            .enter("rig, ToolSet::get", FIND_TEXT, async |text: &str| rig.registered(text).await)?;
        field.enter("rig, ToolSet::execute", FIND_TEXT, async |text: &str| {
            rig.executed(text).await
        })?;
    }
    field.enter("rmcp", FIND_TEXT, async |text: &str| rmcp.text(text).await)?;
    field.enter("rmcp, Json<T>", FIND_TEXT, async |text: &str| rmcp.structured(text).await)?;
    take_turns(rounds, field.contestants)
}

/// The contestants so far.
struct Field<'a> {
    runtime: &'a Runtime,
    calls: u32,
    contestants: Vec<Contestant<'a>>,
}

impl<'a> Field<'a> {
    /// Adds a contestant, if its answer is the expected one.
    fn enter<F>(&mut self, name: &'static str, text: &'static str, call: F) -> Result<()>
    where
        F: AsyncFn(&str) -> Result<String> + 'a,
    {
        let (runtime, calls) = (self.runtime, self.calls);
        let answer = runtime.block_on(call(text))?;
        ensure!(
            serde_json::from_str::<Value>(&answer)? == floor::expected(text)?,
            "{name} answers {answer}"
        );
        self.contestants
            .push(Contestant::new(name, move || runtime.block_on(sample(&call, text, calls))));
        Ok(())
    }
}

async fn sample(
    call: &impl AsyncFn(&str) -> Result<String>,
    text: &str,
    calls: u32,
) -> Result<Duration> {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call(black_box(text)).await?);
    }
    Ok(start.elapsed())
}

fn report(rounds: &Rounds, calls: u32) -> Result<()> {
    let mut rows = vec![["", "ns/call", "ratio", "middle half"].map(String::from).to_vec()];
    let nanoseconds =
        |name: &str| -> Result<f64> { Ok(rounds.median(name)? / f64::from(calls) * 1e9) };
    for floor in ["floor", "floor, one argument", "toolwright, two calls"] {
        rows.push(vec![floor.into(), format!("{:.0}", nanoseconds(floor)?)]);
    }
    let compared = MEASURES.iter().map(|(_, name, against)| (*name, *against));
    for (name, against) in compared.chain(ASIDES) {
        if !rounds.has(name) {
            rows.push(vec![name.into(), "left out".into()]);
            continue;
        }
        let ratio = rounds.ratio(name, against)?;
        let (low, high) = ratio.quartiles;
        rows.push(vec![
            name.into(),
            format!("{:.0}", nanoseconds(name)?),
            format!("{:.2}", ratio.median),
            format!("{low:.2}–{high:.2}"),
        ]);
    }
    print_table(&rows);
    for (measure, name, against) in MEASURES {
        if rounds.has(name) {
            let floor = match against {
                "toolwright" => "executor",
                "toolwright, two calls" => "two-calls",
                _ => "from_str+fn+to_string",
            };
            print_ratio("call", measure, &rounds.ratio(name, against)?, floor);
        }
    }
    Ok(())
}
