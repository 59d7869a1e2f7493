//! rig: the parameters of a `#[rig_tool]`'s definition.

use std::convert::Infallible;

use ::rig::rig_tool;
use ::rig::tool::ToolSet;
use serde_json::Value;

use super::{Place, Step};

/// Carries out a plan.
#[rig_tool]
async fn carry_out(
    /// The step to begin with.
    first: Step,
    /// Where to write what was done.
    place: Place,
) -> Result<String, Infallible> {
    drop(place);
    Ok(first.action)
}

pub fn input_schema() -> Value {
    let mut set = ToolSet::default();
    set.add_tool(CarryOut);
    set.tool_definitions().into_iter().map(|tool| tool.parameters).next().unwrap_or_default()
}
