//! What a model reads about the same two Rust types, from Toolwright in every dialect and from its peers. It is no
//! measure, but something to read.
//!
//! The types are like those of real tools: one contains itself, through an optional boxed field and through an
//! optional list; one is an untagged enum with a description on each variant; their fields have bounds, a default and
//! an example. The program looks for these facts in what is sent, and prints a table of where they are.

mod facts;
mod ours;
#[cfg(feature = "rig")]
mod rig;
mod rmcp;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolwright::dialect::Dialect;

use crate::measure::{Effort, print_table};

/// A step of a plan.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is asked for")]
pub struct Step {
    /// What to do in this step.
    pub action: String,
    /// How often to try before giving up.
    #[serde(default = "tries")]
    #[schemars(range(min = 2, max = 97), extend("examples" = [53]))]
    pub tries: u32,
    /// What to do instead when the step fails.
    pub otherwise: Option<Box<Step>>,
    /// What to do after the step, in order.
    #[serde(default)]
    pub then: Vec<Step>,
}

fn tries() -> u32 {
    41
}

/// A place in a text file.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Place {
    /// A line by its number.
    Line {
        /// The number, counted from 1.
        #[schemars(range(min = 1))]
        line: u32,
    },
    /// A heading by its words.
    Heading {
        /// The words, without the marks before them.
        heading: String,
    },
}

/// What a contestant sends: the input's schema, or why it sends nothing.
struct Sent {
    name: String,
    schema: Result<Value, String>,
}

pub fn run(_: Effort) -> Result<()> {
    let mut all = Vec::new();
    for dialect in Dialect::ALL {
        let (text, sent) = ours::sent(dialect)?;
        print(&sent.name, &text);
        all.push(sent);
    }
    #[cfg(feature = "rig")]
    all.push(shown("rig", rig::input_schema()));
    all.push(shown("rmcp", rmcp::input_schema()));
    print_table(&facts::table(&all));
    println!("{}", facts::LEGEND);
    Ok(())
}

fn shown(name: &str, schema: Value) -> Sent {
    print(name, &format!("{schema:#}"));
    Sent { name: name.to_owned(), schema: Ok(schema) }
}

fn print(name: &str, text: &str) {
    println!("=== {name}\n{text}\n");
}
