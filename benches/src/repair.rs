//! The cost of a wrong type in a model's input: the same call, with input that fits the schema and with mistakes that
//! are repaired.
//!
//! The measure is one number sent as text. For people, it also shows two such values, a key and a list that need
//! every repair step, and a call that is refused. The refusal is the most expensive, since every problem is
//! described.
//!
//! Trees of recursive unions are in `union.rs`.

mod union;

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::runtime::{Builder, Runtime};

use crate::call::ours::Ours;
use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};

const ACCEPTED: &str = "accepted";
const MENDED: &str = "one number as text";

/// The inputs; only the last one is refused.
const TEXTS: [(&str, &str); 5] = [
    (
        ACCEPTED,
        r#"{"pattern":"fn main","limit":20,"folder":"src/bin","whole_words":true,"window":{"before":2,"after":3,"label":"around"}}"#,
    ),
    (
        MENDED,
        r#"{"pattern":"fn main","limit":"20","folder":"src/bin","whole_words":true,"window":{"before":2,"after":3,"label":"around"}}"#,
    ),
    (
        "two scalars as text",
        r#"{"pattern":"fn main","limit":"20","folder":"src/bin","whole_words":"true","window":{"before":2,"after":3,"label":"around"}}"#,
    ),
    (
        "key and nested number",
        r#"{"pattern":"fn main","limit":20,"folder":"src/bin","wholeWords":true,"window":{"before":"2","after":3,"label":"around"}}"#,
    ),
    (
        "refused",
        r#"{"pattern":"fn main","limit":"many","folder":"src/bin","whole_words":true,"window":{"before":2,"after":3,"label":"around"}}"#,
    ),
];

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, calls) = match effort {
        Effort::Full => (200, 1_000),
        Effort::Quick => (20, 300),
    };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let ours = Ours::new()?;
    let expected = runtime.block_on(ours.find_text(TEXTS[0].1))?;
    let mut contestants = Vec::new();
    for (name, text) in TEXTS {
        let answer = runtime.block_on(ours.find_text(text))?;
        let is_refused = answer.contains("invalid_input");
        ensure!((answer == expected) != is_refused, "{name} answers {answer}");
        ensure!(is_refused == (name == "refused"), "{name} answers {answer}");
        let (runtime, ours) = (&runtime, &ours);
        contestants.push(Contestant::new(name, move || sample(runtime, ours, text, calls)));
    }
    report(&take_turns(rounds, contestants)?, calls)?;
    union::ratio(&runtime, effort)?;
    union::stalls(&runtime)
}

fn sample(runtime: &Runtime, ours: &Ours, text: &str, calls: u32) -> Result<Duration> {
    runtime.block_on(async {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(ours.find_text(black_box(text)).await?);
        }
        Ok(start.elapsed())
    })
}

fn report(rounds: &Rounds, calls: u32) -> Result<()> {
    let mut rows = vec![["", "ns/call", "× accepted", "middle half"].map(String::from).to_vec()];
    for (name, _) in TEXTS {
        let nanoseconds = rounds.median(name)? / f64::from(calls) * 1e9;
        let ratio = rounds.ratio(name, ACCEPTED)?;
        let (low, high) = ratio.quartiles;
        rows.push(vec![
            name.into(),
            format!("{nanoseconds:.0}"),
            format!("{:.2}", ratio.median),
            format!("{low:.2}–{high:.2}"),
        ]);
    }
    print_table(&rows);
    print_ratio("repair", "executor", &rounds.ratio(MENDED, ACCEPTED)?, "accepted-call");
    Ok(())
}
