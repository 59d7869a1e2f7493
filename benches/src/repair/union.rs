//! The cost of a wrong tree of a recursive union: a refused tree against the valid one, read by serde alone, and how
//! long inputs of 64 KiB block a runtime with one thread.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use toolwright::{Call, DynamicTool, Effect, Executor, Registry, Repair, data, tool};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

/// How many levels the compared tree has.
const LEVELS: usize = 60;
/// About how many bytes the blocking inputs have.
const SIZE: usize = 64 << 10;
const TICK: Duration = Duration::from_millis(10);

/// A term of a sum.
#[data]
#[serde(tag = "type", rename_all = "snake_case")]
enum Term {
    /// A number.
    Number {
        /// Which.
        value: i64,
    },
    /// Two terms.
    Sum {
        /// The first.
        left: Box<Term>,
        /// The second.
        right: Box<Term>,
    },
    /// Two terms.
    Product {
        /// The first.
        left: Box<Term>,
        /// The second.
        right: Box<Term>,
    },
}

/// Counts the numbers of a term.
#[tool(effect = read)]
async fn count_numbers(
    /// Which.
    term: Term,
) -> u64 {
    count(&term)
}

fn count(term: &Term) -> u64 {
    match term {
        Term::Number { value } => u64::from(*value > 0),
        Term::Sum { left, right } | Term::Product { left, right } => count(left) + count(right),
    }
}

#[derive(Deserialize)]
struct Input {
    term: Term,
}

fn number(value: Value) -> Value {
    json!({"type": "number", "value": value})
}

/// Makes a term with the given number of levels, with this value at its end.
fn term(levels: usize, last: Value) -> Value {
    (0..levels).fold(number(last), |term, level| {
        json!({"type": (["sum", "product"][level % 2]), "left": number(json!(1)), "right": term})
    })
}

pub(super) fn ratio(runtime: &Runtime, effort: Effort) -> Result<()> {
    let (rounds, calls) = match effort {
        Effort::Full => (100, 20),
        Effort::Quick => (10, 10),
    };
    let executor = Executor::builder(Registry::of([COUNT_NUMBERS])?).unrestricted().build()?;
    let valid = json!({"term": term(LEVELS, json!(7))}).to_string();
    let wrong = json!({"term": term(LEVELS, json!("x"))}).to_string();
    let answer = runtime.block_on(executor.call(&Call::new("count_numbers", &*wrong)));
    ensure!(answer.error().is_some(), "the wrong tree is taken");
    let read = Contestant::new("valid, read by serde", || {
        let start = Instant::now();
        for _ in 0..calls {
            let input: Input = serde_json::from_str(black_box(&valid))?;
            black_box(count(&input.term));
        }
        Ok(start.elapsed())
    });
    let refused = Contestant::new("refused", || {
        let start = Instant::now();
        for _ in 0..calls {
            let call = Call::new("count_numbers", black_box(&*wrong));
            black_box(runtime.block_on(executor.call(&call)));
        }
        Ok(start.elapsed())
    });
    let rounds = take_turns(rounds, vec![read, refused])?;
    let mut rows = vec![["a tree of 60 levels", "µs/call"].map(String::from).to_vec()];
    for name in ["valid, read by serde", "refused"] {
        let microseconds = rounds.median(name)? / f64::from(calls) * 1e6;
        rows.push(vec![name.into(), format!("{microseconds:.1}")]);
    }
    print_table(&rows);
    let ratio = rounds.ratio("refused", "valid, read by serde")?;
    print_ratio("repair", "union", &ratio, "valid");
    Ok(())
}

/// Prints by how much a timer is late while inputs are refused.
pub(super) fn stalls(runtime: &Runtime) -> Result<()> {
    let mut rows =
        vec![["64 KiB of input", "longest stall of a 10 ms timer"].map(String::from).to_vec()];
    for (name, tool, arguments) in inputs() {
        let registry = Registry::of([tool])?;
        let executor =
            Executor::builder(registry).unrestricted().repair(Repair::Lenient).build()?;
        let call = Call::new("made", arguments);
        // The first refusal compiles the schema, which is not counted again.
        let answer = runtime.block_on(executor.call(&call));
        ensure!(answer.error().is_some(), "{name} is taken");
        let longest = runtime.block_on(async {
            let ticker = tokio::spawn(async {
                let (mut longest, mut last) = (Duration::ZERO, Instant::now());
                loop {
                    tokio::time::sleep(TICK).await;
                    longest = longest.max(last.elapsed().saturating_sub(TICK));
                    LONGEST.set(longest);
                    last = Instant::now();
                }
            });
            tokio::time::sleep(3 * TICK).await;
            for _ in 0..5 {
                black_box(executor.call(&call).await);
                tokio::time::sleep(2 * TICK).await;
            }
            ticker.abort();
            LONGEST.replace(Duration::ZERO)
        });
        rows.push(vec![name.into(), format!("{:.1} ms", longest.as_secs_f64() * 1e3)]);
    }
    print_table(&rows);
    Ok(())
}

thread_local! {
    static LONGEST: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
}

/// Returns run-time tools, each with input that it refuses.
fn inputs() -> Vec<(&'static str, DynamicTool, String)> {
    let node = || json!({"$ref": "#/$defs/node"});
    let trees = |branches: Vec<Value>| {
        json!({
            "type": "object", "required": ["trees"],
            "properties": {"trees": {"type": "array", "items": node()}},
            "$defs": {"node": {"anyOf": branches}},
        })
    };
    let object = |required: Value, properties: Value| json!({"type": "object", "required": required, "properties": properties});
    let mut tagged: Vec<Value> = ["sum", "product", "power", "quotient", "root", "log", "mean"]
        .map(|tag| {
            let properties = json!({"type": {"const": tag}, "left": node(), "right": node()});
            object(json!(["type", "left", "right"]), properties)
        })
        .to_vec();
    let leaf = json!({"type": {"const": "number"}, "value": {"type": "integer"}});
    tagged.push(object(json!(["type", "value"]), leaf));
    let integer = json!({"type": "integer"});
    let untagged = vec![
        integer.clone(),
        object(json!(["a"]), json!({"a": node()})),
        object(json!(["b"]), json!({"b": node()})),
    ];
    let alike =
        (0..3).map(|way| object(json!(["a"]), json!({"a": node(), format!("o{way}"): integer})));
    let alike: Vec<Value> = std::iter::once(integer.clone()).chain(alike).collect();
    let chain = |key: &str| (0..100).fold(json!("x"), |tree, _| json!({key: tree}));
    let many = |tree: Value| {
        let count = SIZE / tree.to_string().len();
        json!({"trees": vec![tree; count.max(1)]}).to_string()
    };
    let named = |name: &str, from: usize, count: usize, value: Value| -> Map<String, Value> {
        (from..from + count).map(|it| (format!("{name}_{it:04}"), value.clone())).collect()
    };
    let keys = json!({
        "type": "object", "additionalProperties": false,
        "properties": named("a_long_property_name", 0, 200, integer),
    });
    let unknown =
        Value::Object(named("a_long_proberty_nane", 1_000, SIZE / 28, json!(1))).to_string();
    [
        ("trees of seven tags, 60 levels", trees(tagged), many(term(LEVELS, json!("x")))),
        ("trees without tags, 100 levels", trees(untagged), many(chain("a"))),
        ("trees that fit three ways, 100 levels", trees(alike), many(chain("a"))),
        ("2,000 unknown keys against 200", keys, unknown),
    ]
    .map(|(name, schema, arguments)| {
        let handler = |input: Value, _| async move { Ok(input.to_string()) };
        let tool = DynamicTool::new("made", "Takes what its schema says.", schema, handler);
        (name, tool.effect(Effect::Read), arguments)
    })
    .into()
}
