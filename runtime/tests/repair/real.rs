//! The ground truth of a benchmark of real tools: as it stands, and damaged as models damage it.
//!
//! - Reads `bfcl/calls.jsonl` in the folder that `TOOLWRIGHT_ORACLES` names, or else in `target/oracles`. Each
//!   line is `{"tool": {"name", "description", "input_schema"}, "arguments": {…}}`.
//! - A damaged call comes back equal or is refused. Coming back different is the one thing that must not be.

mod damage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use toolwright::Repair;
use toolwright::repair::{Brackets, Ladder};

use damage::{Damaged, KINDS, Kind, Random};

/// How many damaged calls of two and of three kinds are made of each call.
const COMBINED: usize = 8;

#[derive(Deserialize)]
struct Call {
    tool: Tool,
    arguments: Value,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    input_schema: Value,
}

#[derive(Default, Clone, Copy)]
struct Rate {
    restored: usize,
    refused: usize,
    wrong: usize,
}

/// By kind of damage: alone, as one of two, as one of three.
type Rates = BTreeMap<&'static str, [Rate; 3]>;

/// The file, if it is there; asked for by name, it must be.
fn file() -> Option<PathBuf> {
    let within = |folder: &Path| folder.join("bfcl").join("calls.jsonl");
    if let Some(folder) = std::env::var_os("TOOLWRIGHT_ORACLES") {
        let file = within(Path::new(&folder));
        assert!(
            file.exists(),
            "TOOLWRIGHT_ORACLES asks for the calls of bfcl-eval, but {} does not exist",
            file.display()
        );
        return Some(file);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a workspace");
    let file = within(&root.join("target").join("oracles"));
    file.exists().then_some(file)
}

#[test]
fn a_damaged_call_comes_back_equal_or_is_refused() {
    let Some(file) = file() else {
        println!("skipped: no calls of bfcl-eval; TOOLWRIGHT_ORACLES names their folder");
        return;
    };
    let lines = std::fs::read_to_string(file).unwrap();
    let calls: Vec<Call> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut accepted, mut breaking, mut harmless) = (0, Vec::new(), 0);
    let mut rates = Rates::new();
    let mut wrong = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let schema = closed(call.tool.input_schema.clone());
        let ladder = Ladder::new(&schema, []).unwrap();
        let original = call.arguments.to_string();
        match ladder.repair(&original, Repair::Off, Brackets::AsSent) {
            Ok(repaired) => assert!(repaired.changes.is_empty() && repaired.text == original),
            Err(refusal) => {
                breaking.push(format!("{} {}: {refusal}", number + 1, call.tool.name));
                continue;
            }
        }
        accepted += 1;
        let mut random = Random::new(number as u64);
        let mut sets: Vec<Vec<Kind>> = KINDS.iter().map(|kind| vec![*kind]).collect();
        for _ in 0..COMBINED {
            sets.push(random.kinds(2));
            sets.push(random.kinds(3));
        }
        for kinds in sets {
            let Some(damaged) = damage::damage(call_of(call), &schema, &kinds, &mut random) else {
                continue;
            };
            if ladder.repair(&damaged.text, Repair::Off, Brackets::AsSent).is_ok() {
                harmless += 1;
                continue;
            }
            judge(&ladder, call, &kinds, &damaged, &mut rates, &mut wrong);
        }
    }
    println!("{accepted} calls accepted, {} break their own schema:", breaking.len());
    breaking.iter().for_each(|line| println!("  {}", line.replace('\n', "; ")));
    println!("{harmless} damaged calls left out because their schema takes them as they are");
    print(&rates);
    wrong.iter().take(20).for_each(|line| println!("{line}"));
    assert!(wrong.is_empty(), "{} damaged calls came back different", wrong.len());
}

fn call_of(call: &Call) -> (&str, &Value) {
    (&call.tool.name, &call.arguments)
}

fn judge(
    ladder: &Ladder,
    call: &Call,
    kinds: &[Kind],
    damaged: &Damaged,
    rates: &mut Rates,
    wrong: &mut Vec<String>,
) {
    let outcome = ladder.repair(&damaged.text, Repair::Standard, Brackets::MayBeAdded);
    for kind in kinds {
        let rate = &mut rates.entry(kind.name()).or_default()[kinds.len() - 1];
        match &outcome {
            Err(_) => rate.refused += 1,
            Ok(repaired) if is_same(&repaired.text, &call.arguments) => rate.restored += 1,
            Ok(_) => rate.wrong += 1,
        }
    }
    if std::env::var_os("TOOLWRIGHT_SHOW_REFUSED").is_some()
        && let Err(refusal) = &outcome
    {
        let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
        println!("refused {}: {}\n{refusal}", names.join(" + "), damaged.text);
    }
    if let Ok(repaired) = outcome
        && !is_same(&repaired.text, &call.arguments)
    {
        let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
        wrong.push(format!(
            "{names:?} {}\n  was {}\n  now {}",
            damaged.text, call.arguments, repaired.text
        ));
    }
}

fn is_same(text: &str, original: &Value) -> bool {
    serde_json::from_str::<Value>(text).expect("it is JSON") == *original
}

fn print(rates: &Rates) {
    println!(
        "| kind | one: restored | refused | wrong | of two | refused | wrong | of three | refused | wrong |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut total = [Rate::default(); 3];
    let row = |name: &str, rates: &[Rate; 3]| {
        let cell = |rate: &Rate| {
            let all = (rate.restored + rate.refused + rate.wrong).max(1);
            let share = 100.0 * rate.restored as f64 / all as f64;
            format!("{} ({share:.1} %) | {} | {}", rate.restored, rate.refused, rate.wrong)
        };
        let cells: Vec<String> = rates.iter().map(cell).collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    for (name, each) in rates {
        row(name, each);
        for (sum, rate) in total.iter_mut().zip(each) {
            sum.restored += rate.restored;
            sum.refused += rate.refused;
            sum.wrong += rate.wrong;
        }
    }
    row("all", &total);
}

/// Objects with properties have no others: what a call may hold is what its tool names.
fn closed(mut schema: Value) -> Value {
    fn walk(schema: &mut Value) {
        match schema {
            Value::Object(object) => {
                if object.get("properties").is_some_and(Value::is_object) {
                    object.entry("additionalProperties").or_insert(Value::Bool(false));
                }
                object.values_mut().for_each(walk);
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut schema);
    schema
}
