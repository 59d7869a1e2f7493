//! The right calls of bfcl-eval: each is accepted or breaks its own schema, and a damaged one comes back equal
//! or is refused. Coming back different is the one thing that must not be.
//!
//! `TOOLWRIGHT_SHOW_REFUSED=1` prints each damaged call that is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use oracles::fetched;
use serde_json::Value;
use toolwright::unstable::foreign::{TypeNames, input_schema};
use toolwright::unstable::repair::{Repairer, TruncatedInput};
use toolwright::{Repair, SchemaProblem};

use crate::damage::{self, Damaged, KINDS, Kind, Random};
use crate::rates::Rates;

/// How many damaged calls of two and of three kinds are made of each call.
const COMBINED: usize = 8;

struct Call {
    id: String,
    name: String,
    /// Or what is wrong with it.
    schema: Result<Value, Vec<SchemaProblem>>,
    arguments: Value,
}

/// What became of some calls.
#[derive(Default)]
struct Outcome {
    accepted: usize,
    /// Calls of tools whose schema contradicts itself.
    unusable: Vec<String>,
    breaking: Vec<String>,
    /// How many calls break which rules of their schema.
    broken: BTreeMap<String, usize>,
    harmless: usize,
    rates: Rates,
    wrong: Vec<String>,
}

fn calls() -> Vec<Call> {
    let lines = fetched::text("bfcl/calls.jsonl").unwrap();
    let call = |line: &str| {
        let mut call: Value = serde_json::from_str(line).unwrap();
        let arrived = input_schema(&call["tool"]["input_schema"], TypeNames::Foreign);
        Call {
            id: call["id"].as_str().unwrap().to_owned(),
            name: call["tool"]["name"].as_str().unwrap().to_owned(),
            schema: arrived.map(|arrived| closed(arrived.schema)),
            arguments: call["arguments"].take(),
        }
    };
    lines.lines().map(call).collect()
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

#[test]
fn a_damaged_call_comes_back_equal_or_is_refused() {
    let calls = calls();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts = calls.chunks(calls.len().div_ceil(threads)).scan(0, |next, part| {
        let first = *next;
        *next += part.len();
        Some((first, part))
    });
    let outcome = thread::scope(|scope| {
        let judged: Vec<_> =
            parts.map(|(first, part)| scope.spawn(move || judged(first, part))).collect();
        judged.into_iter().fold(Outcome::default(), |sum, part| sum.and(part.join().unwrap()))
    });
    let Outcome { accepted, unusable, breaking, harmless, rates, wrong, .. } = &outcome;
    let mut told = format!(
        "{} calls: {accepted} accepted as they are, {} break their own schema, {} are of a schema that contradicts itself\n\
         {harmless} damaged calls left out because their schema takes them as they are\n\n{rates}\n\n",
        calls.len(),
        breaking.len(),
        unusable.len(),
    );
    assert_eq!(calls.len(), accepted + breaking.len() + unusable.len());
    told.extend(outcome.broken.iter().map(|(rules, calls)| format!("{calls} break: {rules}\n")));
    // The calls themselves are not ours to keep.
    println!("{told}");
    breaking.iter().chain(unusable).for_each(|line| println!("{line}"));
    assert!(
        wrong.is_empty(),
        "{} damaged calls came back different:\n{}",
        wrong.len(),
        wrong.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n")
    );
    insta::assert_snapshot!(told);
}

impl Outcome {
    fn and(mut self, other: Self) -> Self {
        self.accepted += other.accepted;
        self.unusable.extend(other.unusable);
        self.breaking.extend(other.breaking);
        for (rules, calls) in other.broken {
            *self.broken.entry(rules).or_default() += calls;
        }
        self.harmless += other.harmless;
        self.rates.add(&other.rates);
        self.wrong.extend(other.wrong);
        self
    }

    fn judge(&mut self, ladder: &Repairer, call: &Call, kinds: &[Kind], damaged: &Damaged) {
        let outcome = ladder.repair(&damaged.text, Repair::Standard, TruncatedInput::Completed);
        let restored =
            outcome.as_ref().is_ok_and(|repaired| is_same(&repaired.text, &call.arguments));
        for kind in kinds {
            let rate = self.rates.of(kind.name(), kinds.len());
            match &outcome {
                Err(_) => rate.refused += 1,
                Ok(_) if restored => rate.restored += 1,
                Ok(_) => rate.wrong += 1,
            }
        }
        let names = || kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" + ");
        match outcome {
            Ok(repaired) if !restored => self.wrong.push(format!(
                "{} {}: {}\n  was {}\n  now {}",
                call.id,
                names(),
                damaged.text,
                call.arguments,
                repaired.text
            )),
            Err(refusal) if std::env::var_os("TOOLWRIGHT_SHOW_REFUSED").is_some() => {
                println!("refused {} {}: {}\n{refusal}", call.id, names(), damaged.text);
            }
            _ => {}
        }
    }
}

fn judged(first: usize, calls: &[Call]) -> Outcome {
    let mut outcome = Outcome::default();
    for (index, call) in calls.iter().enumerate() {
        let named =
            |problems: Vec<String>| format!("{} {}: {}", call.id, call.name, problems.join("; "));
        let schema = match &call.schema {
            Ok(schema) => schema,
            Err(problems) => {
                outcome.unusable.push(named(problems.iter().map(ToString::to_string).collect()));
                continue;
            }
        };
        let ladder = Repairer::new(schema, []).unwrap();
        let original = call.arguments.to_string();
        match ladder.repair(&original, Repair::Off, TruncatedInput::Refused) {
            Ok(repaired) => assert!(repaired.changes.is_empty() && repaired.text == original),
            Err(refusal) => {
                let rules: BTreeSet<_> = refusal.problems.iter().map(|it| it.rule.name()).collect();
                let rules: Vec<_> = rules.into_iter().collect();
                *outcome.broken.entry(rules.join(", ")).or_default() += 1;
                let problems = refusal.problems.iter().map(ToString::to_string);
                outcome.breaking.push(named(problems.collect()));
                continue;
            }
        }
        outcome.accepted += 1;
        let mut random = Random::new((first + index) as u64);
        let mut sets: Vec<Vec<Kind>> = KINDS.iter().map(|kind| vec![*kind]).collect();
        for _ in 0..COMBINED {
            sets.push(random.kinds(2));
            sets.push(random.kinds(3));
        }
        for kinds in sets {
            let whole = (call.name.as_str(), &call.arguments);
            let Some(damaged) = damage::damage(whole, schema, &kinds, &mut random) else {
                continue;
            };
            if ladder.repair(&damaged.text, Repair::Off, TruncatedInput::Refused).is_ok() {
                outcome.harmless += 1;
                continue;
            }
            outcome.judge(&ladder, call, &kinds, &damaged);
        }
    }
    outcome
}

fn is_same(text: &str, original: &Value) -> bool {
    serde_json::from_str::<Value>(text).expect("it is JSON") == *original
}
