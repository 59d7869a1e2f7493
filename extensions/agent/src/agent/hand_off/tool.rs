//! The tool by which a model hands its run off, and the rule that allows its calls.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolwright::policy::{Policy, PolicyBuilder, Rule};
use toolwright::{Catalog, Danger, DynamicTool, Effect, Footprint, Registry, ToolError};

use super::HandOff;
use crate::run::{HAND_OFF, HandOffTool};

/// The purpose of each agent by its name, for the models that may hand a run off.
pub(super) type Descriptions = BTreeMap<String, String>;

/// Describes the agents of a run for their models, including the agent with which the run begins.
pub(super) fn descriptions(agents: &[HandOff], first: &str) -> Descriptions {
    let back = (first.to_owned(), "The agent with which the conversation began.".to_owned());
    let others = agents.iter().map(|it| (it.name.clone(), it.description.clone()));
    others.chain([back]).collect()
}

/// Makes the tool `hand_off` that the executor runs for all agents of a run, and the rule that allows their models to
/// call it.
pub(crate) fn hand_off_tool(
    agents: &[HandOff],
    first: &str,
) -> Option<(DynamicTool, PolicyBuilder)> {
    if agents.is_empty() {
        return None;
    }
    let all = descriptions(agents, first);
    let tool = made(&all, all.keys().map(String::as_str));
    let nothing: [&str; 0] = [];
    let rule = Rule::allow("the application lets its models hand a run off to these agents")
        .named("hand-off")
        .tool(HAND_OFF)
        .touches(nothing, nothing);
    Some((tool, Policy::builder().rule(rule)))
}

/// Returns a catalog with the tool `hand_off` as the model of one agent sees the tool: it names only the agents to
/// which that model may hand the run off. Returns `None` if there are none.
pub(super) fn listed(all: &Descriptions, targets: &[String]) -> Option<Catalog> {
    let tool = made(all, targets.iter().map(String::as_str));
    let listed = || Registry::of([tool]).expect("one name, and a schema that says what it means");
    (!targets.is_empty()).then(|| listed().catalog())
}

fn made<'t>(all: &Descriptions, targets: impl Iterator<Item = &'t str>) -> DynamicTool {
    let names: Vec<&str> = targets.collect();
    let line = |name: &&str| format!("- {name}: {}", all.get(*name).map_or("", String::as_str));
    let lines: Vec<String> = names.iter().map(line).collect();
    let description = format!(
        "Hands the conversation off to another agent, which goes on with it from your next turn on, in your place and with all that was said. \
         Call it alone, without other calls beside it. The agents:\n{}",
        lines.join("\n")
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "agent": { "type": "string", "enum": names, "description": "Which agent." },
            "reason": { "type": "string", "description": "Why, and what it has to do." },
        },
        "required": ["agent", "reason"],
        "additionalProperties": false,
    });
    DynamicTool::new(HAND_OFF, description, schema, |input: Value, context| {
        // A call that another tool makes has no turn, and cannot hand the run off.
        let is_of_turn = context.turn().is_some();
        std::future::ready(match (is_of_turn, input["agent"].as_str()) {
            (true, Some(agent)) => Ok(json!({ "handed_off_to": agent })),
            _ => Err(ToolError::invalid("only a model hands its run off, by a call of its own")),
        })
    })
    .danger(Danger::Moderate)
    // The tool itself does nothing, and may run again if its process dies.
    .effect(Effect::Idempotent)
    .footprint_by(|_| Footprint::nothing())
    .sinks(None::<&str>)
    .with(HandOffTool)
}
