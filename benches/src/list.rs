//! "1,000 tools for a model": from a set of tools to the JSON text of a request that lists them.
//!
//! Every contestant writes a whole request, in the form of Anthropic's Messages API, into its own buffer, which is
//! used again, as in a program that asks a model many times. The floor is the physical limit: copying the finished
//! text into such a buffer. It copies each contestant's own text, since rig's is longer. Before anything is measured,
//! each text is checked: 1,000 names, every parameter described.
//!
//! Allocations are counted apart from the times, for the first request and for a later one. Toolwright must not
//! allocate for a later one, so the benchmark fails where it does.

mod ours;
#[cfg(feature = "rig")]
mod rig;
mod rmcp;

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::Value;

use crate::allocations::{Allocated, counted};
use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};

const TOOLS: usize = 1_000;

/// The measures that a program reads: name, contestant, against.
const MEASURES: [(&str, &str, &str); 2] =
    [("catalog", "toolwright", "memcpy"), ("rig", "rig", "memcpy, rig's text")];

/// For people only: rig's own client on the same tools, and a peer that lists tools in another form.
const ASIDES: [(&str, &str); 2] = [("rig, its client", "memcpy, rig's text"), ("rmcp", "memcpy")];

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, listings) = match effort {
        Effort::Full => (100, 10),
        Effort::Quick => (10, 3),
    };
    let ours = ours::Ours::new()?;
    #[cfg(feature = "rig")]
    let rig = rig::Rig::new()?;
    let rmcp = rmcp::Rmcp::new()?;
    let mut field = Field { listings, contestants: Vec::new(), requests: Vec::new() };
    let ready = field.enter("toolwright", |buffer| ours.write(buffer))?;
    field.enter("memcpy", move |buffer| ready.copy(buffer))?;
    #[cfg(feature = "rig")]
    {
        let ready = field.enter("rig", |buffer| rig.write(buffer))?;
        field.enter("memcpy, rig's text", move |buffer| ready.copy(buffer))?;
        field.enter("rig, its client", |buffer| rig.client_writes(buffer))?;
    }
    field.enter("rmcp", |buffer| rmcp.write(buffer))?;
    let Field { contestants, requests, .. } = field;
    report(&take_turns(rounds, contestants)?, &requests, listings)
}

/// A request's text in two allocations, like a contestant's: where memory is determines how fast it is copied.
struct Ready {
    head: Vec<u8>,
    tools: Vec<u8>,
}

impl Ready {
    fn new(text: &[u8]) -> Result<Self> {
        let key = br#""tools":"#;
        let found = text.windows(key.len()).position(|it| it == key).context("no tools")?;
        let (head, tools) = text.split_at(found + key.len());
        Ok(Self { head: head.to_vec(), tools: tools.to_vec() })
    }

    fn copy(&self, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.clear();
        buffer.extend_from_slice(&self.head);
        buffer.extend_from_slice(&self.tools);
        Ok(())
    }
}

/// The contestants so far, and what their requests allocated.
struct Field<'a> {
    listings: u32,
    contestants: Vec<Contestant<'a>>,
    requests: Vec<Requests>,
}

struct Requests {
    name: &'static str,
    bytes: usize,
    first: Allocated,
    later: Allocated,
}

impl<'a> Field<'a> {
    /// Adds a contestant, if its request lists the tools. Returns the request, ready to be copied.
    fn enter<F>(&mut self, name: &'static str, mut write: F) -> Result<Ready>
    where
        F: FnMut(&mut Vec<u8>) -> Result<()> + 'a,
    {
        let mut buffer = Vec::new();
        let (written, first) = counted(|| write(&mut buffer));
        written?;
        lists_all(&buffer).with_context(|| format!("{name} writes another request"))?;
        let text = buffer.clone();
        let (written, later) = counted(|| write(&mut buffer));
        written?;
        ensure!(buffer == text, "{name} does not write the same twice");
        self.requests.push(Requests { name, bytes: text.len(), first, later });
        let listings = self.listings;
        self.contestants.push(Contestant::new(name, move || {
            let start = Instant::now();
            for _ in 0..listings {
                write(black_box(&mut buffer))?;
                black_box(&buffer);
            }
            Ok(start.elapsed())
        }));
        Ready::new(&text)
    }
}

/// Checks that a request has each tool once, with its description and those of its parameters.
fn lists_all(text: &[u8]) -> Result<()> {
    let request: Value = serde_json::from_slice(text)?;
    let tools = request["tools"].as_array().context("no tools")?;
    let names: HashSet<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    ensure!(tools.len() == TOOLS && names.len() == TOOLS, "{} tools", names.len());
    for tool in tools {
        ensure!(tool["description"].is_string(), "{} has no description", tool["name"]);
        for parameter in ["pattern", "limit", "folder", "whole_words", "window"] {
            let described = &tool["input_schema"]["properties"][parameter]["description"];
            ensure!(described.is_string(), "{} does not describe {parameter}", tool["name"]);
        }
    }
    Ok(())
}

/// A request to Anthropic's Messages API; `tools` is anything that serialises as its list.
#[derive(Serialize)]
struct Request<T> {
    model: &'static str,
    max_tokens: u32,
    messages: [Message; 1],
    tools: T,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: &'static str,
}

const MODEL: &str = "claude-sonnet-4-5";
const MAX_TOKENS: u32 = 1_024;
const QUESTION: &str = "Where is main?";

/// Writes the request into the buffer, from its beginning.
fn write_request(tools: impl Serialize, buffer: &mut Vec<u8>) -> Result<()> {
    let messages = [Message { role: "user", content: QUESTION }];
    buffer.clear();
    serde_json::to_writer(
        buffer,
        &Request { model: MODEL, max_tokens: MAX_TOKENS, messages, tools },
    )?;
    Ok(())
}

/// A tool of a peer whose own type has other keys.
#[derive(Serialize)]
struct AnthropicTool<'a, S> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a S,
}

fn report(rounds: &Rounds, requests: &[Requests], listings: u32) -> Result<()> {
    let heading =
        ["", "µs/request", "× memcpy", "middle half", "text", "first request", "later requests"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for Requests { name, bytes, first, later } in requests {
        let compared = MEASURES.iter().map(|(_, name, against)| (*name, *against)).chain(ASIDES);
        let against = compared.into_iter().find(|(known, _)| known == name);
        let (times, middle) = match against {
            Some((_, against)) => {
                let ratio = rounds.ratio(name, against)?;
                let (low, high) = ratio.quartiles;
                (format!("{:.2}", ratio.median), format!("{low:.2}–{high:.2}"))
            }
            None => Default::default(),
        };
        rows.push(vec![
            name.to_string(),
            format!("{:.1}", rounds.median(name)? / f64::from(listings) * 1e6),
            times,
            middle,
            format!("{} kB", bytes / 1_000),
            first.to_string(),
            later.to_string(),
        ]);
    }
    println!("{TOOLS} tools in one request; allocations and their bytes");
    print_table(&rows);
    for (measure, name, against) in MEASURES {
        if rounds.has(name) {
            print_ratio("list", measure, &rounds.ratio(name, against)?, "memcpy");
        }
    }
    let ours = requests.iter().find(|it| it.name == "toolwright").context("no toolwright")?;
    ensure!(
        ours.later == Allocated::default(),
        "toolwright allocates for a later request: {}",
        ours.later
    );
    Ok(())
}
