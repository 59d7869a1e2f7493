//! The definitions of real functions, through every dialect: taken by the vendor, or refused with reasons.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use oracles::real::{self, Function};
use oracles::verdict::{Court, Verdict, noted, rules};
use serde_json::Value;
use toolwright::SchemaProblem;
use toolwright::dialect::{DescribedTool, Dialect};
use toolwright::unstable::foreign::{TypeNames, input_schema};

/// A function and its input schema in our type names, or why there is none.
type Read = (Function, Result<Value, Vec<String>>);

/// What became of all functions in one dialect.
#[derive(Default)]
struct Counts {
    accepted: usize,
    /// Of these, how many without anything told in words.
    as_they_are: usize,
    /// By the rules that refuse them.
    refused: BTreeMap<String, usize>,
    /// Functions that a rule has something told of.
    noted: BTreeMap<String, usize>,
    wrong: usize,
    /// By the kind of objection: how often, and one definition that meets it.
    objections: BTreeMap<String, (usize, String)>,
}

fn functions() -> Vec<Read> {
    let read = |function: Function| {
        let arrived = input_schema(&function.parameters, TypeNames::Foreign);
        let schema = arrived.map(|arrived| arrived.schema);
        let in_words = |problem: &SchemaProblem| problem.to_string();
        (function, schema.map_err(|problems| problems.iter().map(in_words).collect()))
    };
    real::functions().unwrap().into_iter().map(read).collect()
}

fn count(dialect: Dialect, functions: &[Read]) -> Counts {
    let court = Court::of(dialect).unwrap();
    let mut counts = Counts::default();
    for (function, schema) in functions {
        let Ok(schema) = schema else { continue };
        let described = DescribedTool::new(&function.name, &function.description, schema);
        match court.judge(&described) {
            Verdict::Accepted { notes, .. } => {
                counts.accepted += 1;
                counts.as_they_are += usize::from(notes.is_empty());
                let mut names: Vec<String> = noted(&notes).map(|it| it.to_string()).collect();
                names.sort();
                names.dedup();
                for name in names {
                    *counts.noted.entry(name).or_default() += 1;
                }
            }
            Verdict::Refused(findings) => {
                *counts.refused.entry(rules(&findings)).or_default() += 1;
            }
            Verdict::Wrong { json, objections } => {
                counts.wrong += 1;
                for objection in objections {
                    let entry = counts.objections.entry(kind(&objection)).or_default();
                    entry.0 += 1;
                    if entry.1.is_empty() {
                        entry.1 = format!(
                            "{objection}\n`{}` of {}\ndefined: {}\nsent: {json}",
                            function.name, function.source, function.parameters
                        );
                    }
                }
            }
        }
    }
    counts
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused: usize = self.refused.values().sum();
        writeln!(formatter, "  accepted {:>6}, as they are {}", self.accepted, self.as_they_are)?;
        for (rule, count) in &self.noted {
            writeln!(formatter, "    told in words, {rule}: {count}")?;
        }
        write!(formatter, "  refused  {refused:>6}")?;
        for (rules, count) in &self.refused {
            write!(formatter, "\n    by {rules}: {count}")?;
        }
        if self.wrong > 0 {
            write!(formatter, "\n  WRONG    {:>6}", self.wrong)?;
        }
        Ok(())
    }
}

/// The objection without the names and values in it, so that alike ones are counted together.
fn kind(objection: &str) -> String {
    let words = objection.strip_prefix('/').and_then(|it| it.split_once(": "));
    let objection = words.map_or(objection, |(_, words)| words);
    let parts = objection.split('`').enumerate();
    let kept: String = parts.map(|(index, part)| if index % 2 == 0 { part } else { "…" }).collect();
    let value_ends = [" does not match ", " is not "].iter().find_map(|it| kept.find(it));
    match value_ends {
        Some(end) if kept.starts_with("published") => format!("published: …{}", &kept[end..]),
        _ => kept,
    }
}

/// Every count, and every kind of objection to what is sent and would be refused.
#[test]
fn every_real_function_is_taken_by_the_vendor_or_refused_with_a_reason() {
    let functions = functions();
    let refused = functions.iter().filter(|(_, schema)| schema.is_err()).count();
    let mut table =
        format!("{} definitions, {refused} of them refused as they arrive\n", functions.len());
    let mut wrong = String::new();
    for dialect in Dialect::ALL {
        let counts = count(dialect, &functions);
        let _ = writeln!(table, "\n{dialect}\n{counts}");
        for (kind, (count, example)) in &counts.objections {
            let _ = writeln!(wrong, "\n{dialect}, {count} times: {kind}\n{example}");
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{table}{wrong}");
    insta::assert_snapshot!(table);
}

/// Each kind of problem once, with how often it occurs and where first.
#[test]
fn what_is_refused_before_any_dialect_sees_it_has_a_reason_that_a_person_agrees_with() {
    let mut problems: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (function, schema) in functions() {
        for problem in schema.err().into_iter().flatten() {
            let entry = problems.entry(kind(&problem)).or_default();
            entry.0 += 1;
            if entry.1.is_empty() {
                entry.1 = format!("`{}` of {}, {problem}", function.name, function.source);
            }
        }
    }
    let lines = problems.into_iter().map(|(_, (count, first))| format!("{count} times: {first}"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}
