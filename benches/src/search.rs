//! A search among 10,000 deferred tools, against a scan of their texts; and the size of a request with 300 tools,
//! deferred and all shown.
//! The floor has the name and description of each tool in lower case, and looks in each for each word of the query.
//! Both have loaded the tools before.

use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use futures::future::BoxFuture;
use serde_json::json;
use tokio::runtime::Builder;
use toolwright::dialect::Dialect;
use toolwright::provider::Provider;
use toolwright::{Catalog, DynamicTool, Effect, Exposure, Registry};
use toolwright_agent::http::HttpModel;
use toolwright_agent::{Agent, Model, ModelAnswer, ModelError, ModelRequest};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const TOOLS: usize = 10_000;

/// How many tools the agent has whose request is printed.
const OF_AGENT: usize = 300;

/// Queries as models make them, without the stop words that `tool_search` ignores.
const QUERIES: [&str; 4] = [
    "create invoice customer",
    "cancel shipment",
    "list open ticket calendar",
    "export report file",
];

const VERBS: [&str; 10] = [
    "create", "read", "update", "delete", "list", "search", "export", "import", "cancel", "assign",
];
const THINGS: [&str; 20] = [
    "invoice",
    "customer",
    "shipment",
    "ticket",
    "calendar",
    "report",
    "order",
    "product",
    "user",
    "group",
    "payment",
    "contract",
    "meeting",
    "message",
    "folder",
    "document",
    "campaign",
    "account",
    "warehouse",
    "vehicle",
];
const SYSTEMS: [&str; 50] = [
    "atlas", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "iris", "jade",
    "karst", "lotus", "maple", "north", "ocean", "pearl", "quartz", "river", "stone", "tidal",
    "umber", "violet", "willow", "xenon", "yarrow", "zephyr", "amber", "basil", "coral", "dusk",
    "elm", "fern", "glade", "heath", "inlet", "juniper", "kelp", "lark", "moss", "nectar", "olive",
    "prairie", "quill", "reef", "sage", "thistle", "upland", "vale", "wren", "yew",
];

pub fn run(effort: Effort) -> Result<()> {
    searched(effort)?;
    sent()
}

fn searched(effort: Effort) -> Result<()> {
    let rounds = if effort == Effort::Full { 60 } else { 10 };
    let catalog = catalog(TOOLS)?;
    let texts: Vec<(&str, String)> = catalog
        .definitions()
        .map(|it| (it.name.as_str(), format!("{} {}", it.name, it.description).to_lowercase()))
        .collect();
    for query in QUERIES {
        ensure!(!catalog.search(query, 5).is_empty() && !scanned(&texts, query).is_empty());
    }
    let each = |search: &dyn Fn(&str) -> usize| {
        let begun = Instant::now();
        let found: usize = QUERIES.iter().map(|query| search(black_box(query))).sum();
        ensure!(black_box(found) == 5 * QUERIES.len(), "{found} tools are found");
        Ok(begun.elapsed())
    };
    let rounds = take_turns(
        rounds,
        vec![
            Contestant::new("scan", || each(&|query| scanned(&texts, query).len())),
            Contestant::new("search", || each(&|query| catalog.search(query, 5).len())),
        ],
    )?;
    let mut rows = vec![vec![format!("among {TOOLS} deferred tools"), "ms".to_owned()]];
    for name in ["scan", "search"] {
        let milliseconds = rounds.median(name)? / QUERIES.len() as f64 * 1e3;
        rows.push(vec![name.to_owned(), format!("{milliseconds:.3}")]);
    }
    print_table(&rows);
    print_ratio("search", "deferred", &rounds.ratio("search", "scan")?, "scan");
    Ok(())
}

/// Returns the five tools whose texts contain most of the words.
fn scanned<'t>(texts: &[(&'t str, String)], query: &str) -> Vec<&'t str> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (name, text) in texts {
        let words = words.iter().filter(|word| text.contains(word.as_str())).count();
        if words > 0 {
            found.push((words, name));
        }
    }
    found.sort_by(|(some, one), (others, other)| others.cmp(some).then(one.cmp(other)));
    found.into_iter().take(5).map(|(_, name)| name).collect()
}

fn catalog(tools: usize) -> Result<Catalog> {
    let tools = (0..tools).map(|number| tool(number).exposure(Exposure::Deferred));
    Ok(Registry::of(tools)?.catalog())
}

/// Makes a tool with its own name and description, and three parameters.
fn tool(number: usize) -> DynamicTool {
    let verb = VERBS[number % 10];
    let thing = THINGS[number / 10 % 20];
    let system = SYSTEMS[number / 200 % 50];
    let name = format!("{system}_{verb}_{thing}");
    let description = format!(
        "Lets you {verb} one {thing} in {system}, the system of the department. Takes the number of the {thing} as {system} shows it, and answers with what has changed."
    );
    let schema = json!({
        "type": "object",
        "properties": {
            format!("{thing}_id"): {"type": "string", "description": format!("The number of the {thing}.")},
            "reason": {"type": "string", "description": "Why it is done, for the record."},
            "notify": {"type": "boolean", "default": true, "description": "Whether its owner is notified."},
        },
        "required": [format!("{thing}_id")],
        "additionalProperties": false,
    });
    let answer = |_, _| std::future::ready(Ok::<_, toolwright::ToolError>("done"));
    DynamicTool::new(name, description, schema, answer).effect(Effect::Read)
}

/// Prints the size of an agent's first request, with deferred tools and with all shown. OpenAI accepts at most 128
/// tools.
fn sent() -> Result<()> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let heading = [
        "300 tools, first request",
        "bytes deferred",
        "bytes shown",
        "≈ tokens deferred",
        "≈ tokens shown",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let mut bytes = Vec::new();
        for exposure in [Exposure::Deferred, Exposure::Direct] {
            let tools = (0..OF_AGENT).map(|number| tool(number * 7).exposure(exposure));
            let model = Arc::new(Sent::to(provider)?);
            let agent = Agent::builder(Arc::clone(&model)).tools(tools).build()?;
            runtime.block_on(async { agent.run("Cancel the shipment 4711.").await })?;
            let body = model.body.lock().unwrap_or_else(PoisonError::into_inner).take();
            bytes.push(body.context("no request was made")?);
        }
        let [deferred, shown] = bytes[..] else { continue };
        // Count four bytes as a token, as for JSON in English.
        let cells = [deferred, shown, deferred / 4, shown / 4].map(|it| it.to_string());
        rows.push([provider.to_string()].into_iter().chain(cells).collect());
    }
    print_table(&rows);
    Ok(())
}

/// A model that sends nothing, and records how long the body of its request would be.
struct Sent {
    model: HttpModel,
    body: Mutex<Option<usize>>,
}

impl Sent {
    fn to(provider: Provider) -> Result<Self> {
        let model = HttpModel::of(provider, "model-1")?.base_url("http://127.0.0.1:1").build()?;
        Ok(Self { model, body: Mutex::default() })
    }
}

impl Model for Sent {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn dialect(&self) -> Dialect {
        self.model.dialect()
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let body = self.model.body(&request)?;
            *self.body.lock().unwrap_or_else(PoisonError::into_inner) = Some(body.len());
            Ok(ModelAnswer::text("Done."))
        })
    }
}
