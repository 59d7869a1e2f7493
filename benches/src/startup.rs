//! What a program pays before its first call: `Registry::of` from the handles of 1,000 tools.
//!
//! Each tool has five parameters, one of them a struct of three fields. The floor is the least that schemas need:
//! what schemars makes of the same parameters as one struct, for each tool, in a map by name. A registry contains
//! more: the schemas in normal form, a definition of each parameter, and the keys that the reader looks for. Neither
//! reuses work between tools, so one type under many names costs as much as many types, except that the code is
//! already warm, for both.
//!
//! For people, it also shows the growth with the number of tools, up to 10,000, and a registry's first listing for a
//! model, which is made on demand.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use schemars::{Schema, schema_for};
use toolwright::dialect::Dialect;
use toolwright::{Handle, Registry};

use crate::allocations::counted;
use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};
use crate::thousand::{self, FindText};

/// How many tools, and how many rounds; the measure is at 1,000 tools.
const SIZES: [(usize, usize); 4] = [(250, 60), (500, 40), (MEASURED, 60), (10_000, 4)];
const MEASURED: usize = 1_000;

pub fn run(effort: Effort) -> Result<()> {
    let heading = [
        "tools",
        "schemas ms",
        "registry ms",
        "× schemas",
        "middle half",
        "µs/tool",
        "listing ms",
        "µs/tool",
    ];
    let mut rows = vec![heading.map(String::from).to_vec()];
    let mut measured = None;
    for (tools, rounds) in SIZES {
        let rounds = match effort {
            Effort::Full => rounds,
            Effort::Quick => rounds.div_ceil(10),
        };
        eprintln!("{tools} tools in {rounds} rounds");
        let handles = thousand::handles(tools);
        let rounds = timed(&handles, rounds)?;
        rows.push(row(tools, &rounds)?);
        if tools == MEASURED {
            measured = Some((rounds.ratio("registry", "schemas")?, allocations(&handles)?));
        }
    }
    print_table(&rows);
    if let Some((ratio, allocations)) = measured {
        println!("allocations and their bytes for {MEASURED} tools");
        print_table(&allocations);
        print_ratio("startup", "registry", &ratio, "schemas-in-a-map");
    }
    Ok(())
}

/// Times the construction; the result is dropped after the clock has been read.
fn timed(handles: &[Handle], rounds: usize) -> Result<Rounds> {
    let schemas = Contestant::new("schemas", || {
        let start = Instant::now();
        let made = black_box(bare_schemas(handles));
        let took = start.elapsed();
        drop(made);
        Ok(took)
    });
    let registry = Contestant::new("registry", || {
        let start = Instant::now();
        let made = black_box(registry_of(handles)?);
        let took = start.elapsed();
        drop(made);
        Ok(took)
    });
    let listing = Contestant::new("first listing", || {
        let registry = registry_of(handles)?;
        let start = Instant::now();
        let made = black_box(registry.listing(Dialect::Anthropic)?);
        let took = start.elapsed();
        drop(made);
        Ok(took)
    });
    take_turns(rounds, vec![schemas, registry, listing])
}

fn bare_schemas(handles: &[Handle]) -> HashMap<&'static str, Schema> {
    handles.iter().map(|handle| (handle.name(), schema_for!(FindText))).collect()
}

fn registry_of(handles: &[Handle]) -> Result<Registry> {
    Ok(Registry::of(handles.iter().copied())?)
}

fn row(tools: usize, rounds: &Rounds) -> Result<Vec<String>> {
    let ratio = rounds.ratio("registry", "schemas")?;
    let (low, high) = ratio.quartiles;
    let milliseconds = |name: &str| -> Result<f64> { Ok(rounds.median(name)? * 1e3) };
    let each = |name: &str| -> Result<f64> { Ok(rounds.median(name)? * 1e6 / tools as f64) };
    Ok(vec![
        tools.to_string(),
        format!("{:.1}", milliseconds("schemas")?),
        format!("{:.1}", milliseconds("registry")?),
        format!("{:.2}", ratio.median),
        format!("{low:.2}–{high:.2}"),
        format!("{:.1}", each("registry")?),
        format!("{:.1}", milliseconds("first listing")?),
        format!("{:.1}", each("first listing")?),
    ])
}

/// Counts the allocations of each, one row each.
fn allocations(handles: &[Handle]) -> Result<Vec<Vec<String>>> {
    let (_, schemas) = counted(|| bare_schemas(handles));
    let (registry, made) = counted(|| registry_of(handles));
    let registry = registry?;
    let (listing, first) = counted(|| registry.listing(Dialect::Anthropic));
    listing?;
    let (listing, later) = counted(|| registry.listing(Dialect::Anthropic));
    listing?;
    let rows = [
        ("schemas", schemas),
        ("registry", made),
        ("first listing", first),
        ("later listing", later),
    ];
    let heading = vec![String::new(), "allocations".into()];
    let rows = rows.into_iter().map(|(name, count)| vec![name.into(), count.to_string()]);
    Ok([heading].into_iter().chain(rows).collect())
}
