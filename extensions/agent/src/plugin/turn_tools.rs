//! Computes the tools of one turn: the tools of the agent, without those left out and with those added. The functions
//! are pure.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::json;
use toolwright::{
    Catalog, Danger, DynamicTool, Effect, ErrorClass, Exposure, Output, Registration, Registry,
    RegistryProblem, ToolError,
};

use super::PluginTurn;
use super::draft::Draft;

/// The kind of the error for a call of a tool that a plugin has left out or no longer adds.
pub(super) const GONE_TOOL: &str = "gone_tool";

/// A turn that the plugins have prepared.
pub(crate) struct PreparedTurn {
    pub(super) instructions: Vec<String>,
    pub(super) tools: TurnTools,
    pub(super) draft: Draft,
}

impl PreparedTurn {
    /// Returns the instructions of the agent, followed by those of the plugins.
    pub(crate) fn instructions<'a>(&self, own: Cow<'a, str>) -> Cow<'a, str> {
        if self.instructions.is_empty() {
            return own;
        }
        let own = Some(own.as_ref()).filter(|it| !it.is_empty());
        let parts = own.into_iter().chain(self.instructions.iter().map(String::as_str));
        Cow::Owned(parts.collect::<Vec<_>>().join("\n\n"))
    }

    /// Returns the tools of the turn, if they differ from those of the agent.
    pub(crate) fn catalog(&self) -> Option<&Catalog> {
        self.tools.catalog.as_ref()
    }

    pub(super) fn to_record(&self) -> PluginTurn {
        let TurnTools { added, left_out, .. } = &self.tools;
        let (added, left_out) = (added.clone(), left_out.clone());
        PluginTurn { states: self.draft.changed(), added, left_out }
    }

    /// Returns the states with the plugins' changes.
    pub(crate) fn states(&self) -> Vec<super::reader::StateValue> {
        self.draft.clone().into_states()
    }
}

pub(super) struct TurnTools {
    /// The catalog of the turn; `None` if the tools are those of the agent.
    catalog: Option<Catalog>,
    added: BTreeSet<String>,
    left_out: BTreeSet<String>,
}

impl TurnTools {
    /// Computes the tools of a turn from the tools that plugins have added and left out. `shown_before` lists all tools
    /// that plugins have added for earlier turns.
    pub(super) fn new(
        agent: &Catalog,
        added: Vec<Registration>,
        mut left_out: BTreeSet<String>,
        shown_before: &BTreeSet<String>,
        reserved: &[&str],
    ) -> Result<Self, String> {
        for tool in &added {
            if reserved.contains(&tool.name()) {
                return Err(format!(
                    "the tool `{}`, added at {}, has the name of a tool that the run itself shows its model; give it another name",
                    tool.name(),
                    tool.location()
                ));
            }
            let other = agent.get(tool.name()).filter(|it| !left_out.contains(&it.name));
            if let Some(other) = other {
                let name = other.name.clone();
                let (first, second) = (other.location, tool.location());
                return Err(RegistryProblem::Duplicate { name, first, second }.to_string());
            }
        }
        let names: BTreeSet<String> = added.iter().map(|it| it.name().to_owned()).collect();
        let added = Registry::of(added).map_err(|error| error.to_string())?.catalog();
        let is_there = |it: &&String| agent.get(it).is_some() && !left_out.contains(*it);
        let gone: Vec<&String> = left_out
            .union(shown_before)
            .filter(|it| !names.contains(*it) && !is_there(it))
            .collect();
        let gone = Registry::of(gone.into_iter().map(|it| gone_tool(it)));
        let gone = gone.map_err(|error| error.to_string())?.catalog();
        let is_other = !(names.is_empty() && left_out.is_empty() && gone.is_empty());
        let catalog = is_other.then(|| {
            let left = agent.without(left_out.iter().map(String::as_str));
            left.followed_by(&added).followed_by(&gone)
        });
        left_out.retain(|it| !names.contains(it));
        Ok(Self { catalog, added: names, left_out })
    }

    /// Restores the tools of a turn from its record. A tool that no plugin adds any more fails when called.
    pub(super) fn again(
        agent: &Catalog,
        mut added: Vec<Registration>,
        recorded: &PluginTurn,
        shown_before: &BTreeSet<String>,
    ) -> Result<Self, String> {
        added.retain(|it| recorded.added.contains(it.name()));
        // An added tool may replace a tool of the agent, which must not come back in its place.
        let left_out = recorded.left_out.union(&recorded.added).cloned().collect();
        let shown_before = shown_before.union(&recorded.added).cloned().collect();
        // The tools were checked before the model was shown them.
        Self::new(agent, added, left_out, &shown_before, &[])
    }
}

/// Makes a hidden tool that fails when called, in place of a tool that a plugin has left out or no longer adds.
fn gone_tool(name: &str) -> DynamicTool {
    let gone = format!("`{name}` is not among the tools any more");
    let work = move |_, _| {
        let error = ToolError::new(GONE_TOOL, gone.clone());
        let error = error.class(ErrorClass::Final).hint("go on without it");
        async move { Err::<Output, _>(error) }
    };
    DynamicTool::new(name, "Is not there any more.", json!({"type": "object"}), work)
        .effect(Effect::Read)
        .danger(Danger::Safe)
        .exposure(Exposure::Hidden)
        .sinks(None::<&str>)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pay() -> DynamicTool {
        let work = |_, _| async { Ok::<Output, ToolError>(Output::text("paid")) };
        DynamicTool::new("pay", "Pays.", json!({"type": "object"}), work)
    }

    /// A plugin had replaced the agent's tool, and adds nothing after the process has died.
    #[test]
    fn a_tool_that_a_plugin_had_replaced_does_not_come_back_for_a_recorded_turn() {
        let agent = Registry::of([pay()]).expect("one tool").catalog();
        let added = BTreeSet::from(["pay".to_owned()]);
        let recorded = PluginTurn { added, ..PluginTurn::default() };
        let tools = TurnTools::again(&agent, Vec::new(), &recorded, &BTreeSet::new());
        let catalog = tools.expect("a catalog").catalog.expect("another catalog");
        let pay = catalog.get("pay").expect("a tool that fails");
        assert_eq!(pay.description, "Is not there any more.");
    }
}
