//! Compiles a user's crate of 100 tools with five parameters each, against the same crate written by hand.
//!
//! Every contestant's crate lists each tool with a schema that describes each parameter, and answers a call by name and
//! JSON text. The program runs each once to check this. The crate is a library, so that linking is not measured, and a
//! plain function uses everything in it, so that no code generation is left to a dependent crate. The measure is `cargo
//! build` (and `cargo check`) with all dependencies built and `CARGO_INCREMENTAL=0`.

mod cargo;
mod hand;
mod ours;
mod rig;
mod rmcp;
mod source;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};
use cargo::{Package, Verb};
use source::Source;

const TOOLS: usize = 100;
const FLOOR: &str = "hand";

pub fn run(effort: Effort) -> Result<()> {
    let rounds = match effort {
        Effort::Full => 5,
        Effort::Quick => 1,
    };
    let packages = written(&target_directory()?.join("compile-benchmark"))?;
    let mut expected = None;
    for (name, package) in &packages {
        eprintln!("building what {name} depends on");
        let answers = package.prepare().with_context(|| format!("preparing {name}"))?;
        let expected = expected.get_or_insert_with(|| answers.clone());
        ensure!(*expected == answers, "{name} answers {answers}");
    }
    let check = timed(&packages, Verb::Check, rounds)?;
    let build = timed(&packages, Verb::Build, rounds)?;
    report(&packages, &check, &build)
}

type Packages = Vec<(&'static str, Package)>;

fn written(directory: &Path) -> Result<Packages> {
    let sources: [(&'static str, Source); 4] = [
        (FLOOR, hand::source(TOOLS)),
        ("toolwright", ours::source(TOOLS)?),
        ("rmcp", rmcp::source(TOOLS)),
        ("rig", rig::source(TOOLS)),
    ];
    sources
        .into_iter()
        .map(|(name, source)| Ok((name, Package::write(directory, name, &source)?)))
        .collect()
}

fn timed(packages: &Packages, verb: Verb, rounds: usize) -> Result<Rounds> {
    eprintln!("{} in {rounds} rounds", verb.name());
    let contestants = packages
        .iter()
        .map(|(name, package)| Contestant::new(name, || package.time(verb)))
        .collect();
    take_turns(rounds, contestants)
}

fn report(packages: &Packages, check: &Rounds, build: &Rounds) -> Result<()> {
    let heading = ["", "check s", "× hand", "build s", "× hand", "middle half", "cargo alone s"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for (name, package) in packages {
        let built = build.ratio(name, FLOOR)?;
        let (low, high) = built.quartiles;
        rows.push(vec![
            name.to_string(),
            format!("{:.2}", check.median(name)?),
            format!("{:.2}", check.ratio(name, FLOOR)?.median),
            format!("{:.2}", build.median(name)?),
            format!("{:.2}", built.median),
            format!("{low:.2}–{high:.2}"),
            format!("{:.2}", package.time_nothing()?.as_secs_f64()),
        ]);
    }
    println!("{TOOLS} tools of five parameters, dev profile, dependencies built before");
    print_table(&rows);
    for measure in ["toolwright", "rmcp", "rig"] {
        if build.has(measure) {
            print_ratio("compile", measure, &build.ratio(measure, FLOOR)?, "by-hand");
        }
    }
    Ok(())
}

/// Returns the directory into which cargo built this program: `<target>/release/benches`.
pub fn target_directory() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let directory = program.ancestors().nth(2);
    Ok(directory.context("this program lies in no target directory")?.to_owned())
}
