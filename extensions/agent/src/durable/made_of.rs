//! The parts of an agent as its model sees them. They are recorded with a run, so that a process that continues the run
//! with a different agent can report the differences.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright::unstable::arguments::fingerprint;

use crate::agent::Agent;

/// The model, the instructions and the tools of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MadeOf {
    model: String,
    /// The digest of the agent's instructions.
    instructions: String,
    /// The fingerprints of the tools' definitions, by the names of the tools.
    tools: BTreeMap<String, String>,
    /// The ids of the agent's plugins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<String>,
    /// The names and stages of the agent's guards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guards: Vec<String>,
    /// The digests of the agents that a run may be handed off to, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    hand_offs: BTreeMap<String, String>,
}

impl MadeOf {
    pub(super) fn of(agent: &Agent) -> Self {
        let catalog = agent.0.executor.catalog();
        let tool = |it: &toolwright::Definition| (it.name.to_string(), fingerprint(it));
        Self {
            model: agent.model().name().to_owned(),
            instructions: digest(agent.0.instructions.source()),
            tools: catalog.definitions().map(tool).collect(),
            plugins: agent.0.plugins.ids().map(str::to_owned).collect(),
            guards: agent.0.guards.names().collect(),
            hand_offs: agent.0.hand_offs.iter().flat_map(|it| it.named()).map(digested).collect(),
        }
    }

    /// Lists how the agent `now` differs from this agent.
    pub(super) fn differences(&self, now: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        if self.model != now.model {
            differences.push(format!("the model was `{}` and is `{}`", self.model, now.model));
        }
        if self.instructions != now.instructions {
            differences.push("the instructions are others".to_owned());
        }
        for (kind, before, now) in [
            ("tools", &self.tools, &now.tools),
            ("agents to hand off to", &self.hand_offs, &now.hand_offs),
        ] {
            for (names, what) in differing(before, now) {
                differences.push(format!("{kind} that are {what}: {}", names.join(", ")));
            }
        }
        for (what, before, now) in
            [("plugins", &self.plugins, &now.plugins), ("guards", &self.guards, &now.guards)]
        {
            let names = |names: &[String]| match names {
                [] => "none".to_owned(),
                _ => names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "),
            };
            if before != now {
                let (before, now) = (names(before), names(now));
                differences.push(format!("the {what} were {before} and are {now}"));
            }
        }
        differences
    }
}

/// Lists the names that only one of the two maps has, and the names whose fingerprints differ.
fn differing(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> impl Iterator<Item = (Vec<String>, &'static str)> {
    let names =
        |one: &BTreeMap<String, String>, is_it: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
            let named = one.iter().filter(|(name, print)| is_it(name, print));
            named.map(|(name, _)| format!("`{name}`")).collect()
        };
    let gone = names(before, &|name, _| !now.contains_key(name));
    let new = names(now, &|name, _| !before.contains_key(name));
    let others = names(now, &|name, print| before.get(name).is_some_and(|it| it != print));
    let all = [(gone, "gone"), (new, "new"), (others, "defined otherwise")];
    all.into_iter().filter(|(names, _)| !names.is_empty())
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// Returns the name of an agent, and the digest of its model and instructions.
fn digested((name, agent): (&str, &Agent)) -> (String, String) {
    let made_of = format!("{}\0{}", agent.model().name(), agent.0.instructions.source());
    (name.to_owned(), digest(&made_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_of(model: &str, instructions: &str, tools: &[(&str, &str)]) -> MadeOf {
        let tools = tools.iter().map(|(name, print)| ((*name).to_owned(), (*print).to_owned()));
        let (model, instructions) = (model.to_owned(), instructions.to_owned());
        MadeOf {
            model,
            instructions,
            tools: tools.collect(),
            plugins: Vec::new(),
            guards: Vec::new(),
            hand_offs: BTreeMap::new(),
        }
    }

    #[test]
    fn what_differs_is_said_and_nothing_else() {
        let before = made_of("a", "1", &[("add", "x"), ("order", "y"), ("look", "z")]);
        assert!(before.differences(&before.clone()).is_empty());
        let now = made_of("b", "2", &[("add", "x"), ("order", "w"), ("refund", "v")]);
        assert_eq!(
            before.differences(&now),
            [
                "the model was `a` and is `b`",
                "the instructions are others",
                "tools that are gone: `look`",
                "tools that are new: `refund`",
                "tools that are defined otherwise: `order`",
            ]
        );
    }
}
