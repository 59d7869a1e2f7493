//! The parts of an agent as its model sees them. They are recorded with a run, so that a process with a different agent
//! reports it.

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
    /// The digest of the instructions.
    instructions: String,
    /// The fingerprints of their definitions, by their names.
    tools: BTreeMap<String, String>,
    /// The ids of its plugins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<String>,
    /// The names and stages of its guards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guards: Vec<String>,
}

impl MadeOf {
    pub(super) fn of(agent: &Agent) -> Self {
        let catalog = agent.0.executor.catalog();
        let tool = |it: &toolwright::Definition| (it.name.to_string(), fingerprint(it));
        Self {
            model: agent.model().name().to_owned(),
            instructions: hex::encode(Sha256::digest(agent.0.instructions.source().as_bytes())),
            tools: catalog.definitions().map(tool).collect(),
            plugins: agent.0.plugins.ids().map(str::to_owned).collect(),
            guards: agent.0.guards.names().collect(),
        }
    }

    /// Lists how another agent differs from this one.
    pub(super) fn differences(&self, now: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        if self.model != now.model {
            differences.push(format!("the model was `{}` and is `{}`", self.model, now.model));
        }
        if self.instructions != now.instructions {
            differences.push("the instructions are others".to_owned());
        }
        let names = |one: &Self, other: &Self| -> Vec<String> {
            let has = |name: &&String| !other.tools.contains_key(*name);
            one.tools.keys().filter(has).map(|name| format!("`{name}`")).collect()
        };
        let (gone, new) = (names(self, now), names(now, self));
        let is_other = |(name, print): &(&String, &String)| {
            self.tools.get(*name).is_some_and(|before| before != *print)
        };
        let others = now.tools.iter().filter(is_other);
        let others: Vec<String> = others.map(|(name, _)| format!("`{name}`")).collect();
        for (tools, what) in [(gone, "gone"), (new, "new"), (others, "defined otherwise")] {
            if !tools.is_empty() {
                differences.push(format!("tools that are {what}: {}", tools.join(", ")));
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
