//! A property: what an agent may call is a part of what its parent may, whatever profiles, policies and trees there are.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::json;
use toolwright::dialect::Dialect;
use toolwright::policy::{Mode, Policy, PolicyBuilder, Rule};
use toolwright::{DynamicTool, Effect, Footprint};
use toolwright_agent::{Agent, Message, Model, ModelAnswer, ModelError, ModelRequest, SubAgent};

use crate::support::call;

pub const TOOLS: [&str; 5] = ["a", "b", "c", "d", "e"];
pub const AGENTS: [&str; 3] = ["x", "y", "z"];

/// Calls every tool there may be in its first answer, and starts every agent in its second, whatever it was shown.
struct Greedy;

impl Model for Greedy {
    fn name(&self) -> &str {
        "greedy"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let answers = request.history.iter().filter(|it| matches!(it, Message::Assistant { .. }));
        let path = request.history.iter().find_map(|message| match message {
            Message::User { text, .. } => Some(text.clone()),
            _ => None,
        });
        let path = path.unwrap_or_default();
        let arguments = json!({ "by": path }).to_string();
        let answer = match answers.count() {
            0 => {
                let all = TOOLS.iter().map(|name| call(name, name, &arguments));
                ModelAnswer::new("", all.collect())
            }
            1 => {
                let start = |name: &&str| {
                    let task = json!({ "agent": name, "task": format!("{path}/{name}") });
                    call(name, "spawn_agent", &task.to_string())
                };
                ModelAnswer::new("", AGENTS.iter().map(start).collect())
            }
            _ => ModelAnswer::text("Done."),
        };
        Box::pin(async move { Ok(answer) })
    }
}

pub type Log = Arc<Mutex<Vec<(String, String)>>>;

pub fn tool(name: &'static str, log: &Log) -> DynamicTool {
    let log = Arc::clone(log);
    let schema = json!({ "type": "object", "properties": { "by": { "type": "string" } }, "required": ["by"] });
    DynamicTool::new(name, "Does something.", schema, move |input, _| {
        let log = Arc::clone(&log);
        async move {
            let by = input["by"].as_str().unwrap_or_default().to_owned();
            log.lock().unwrap().push((by, name.to_owned()));
            Ok("done")
        }
    })
    .effect(Effect::Idempotent)
    .footprint_by(|_| Footprint::nothing())
}

/// What one agent says of the tools: which its profile selects, which its policy denies.
#[derive(Debug, Clone)]
pub struct Says {
    selects: Vec<bool>,
    starts: bool,
    pub denies: Vec<bool>,
}

pub fn says() -> impl Strategy<Value = Says> {
    let bits = || prop::collection::vec(any::<bool>(), TOOLS.len());
    (bits(), any::<bool>(), bits()).prop_map(|(selects, starts, denies)| Says {
        selects,
        starts,
        denies,
    })
}

impl Says {
    pub fn policy(&self) -> PolicyBuilder {
        let denied = TOOLS.iter().zip(&self.denies).filter(|(_, denies)| **denies);
        denied.fold(Policy::builder().mode(Mode::Unrestricted), |policy, (name, _)| {
            policy.rule(Rule::deny("no").named(format!("no-{name}")).tool(*name))
        })
    }

    pub fn profile(&self) -> Vec<&'static str> {
        let selected = TOOLS.iter().zip(&self.selects).filter(|(_, selects)| **selects);
        let spawn = self.starts.then_some("spawn_agent");
        let mut profile: Vec<_> = selected.map(|(name, _)| *name).chain(spawn).collect();
        if profile.is_empty() {
            profile.push("a");
        }
        profile
    }

    pub fn lets(&self, tool: &str) -> bool {
        let index = TOOLS.iter().position(|it| *it == tool).unwrap();
        self.profile().contains(&tool) && !self.denies[index]
    }
}

fn called(root: &Says, agents: &[Says]) -> Vec<(String, String)> {
    let log = Log::default();
    let tools = TOOLS.iter().map(|name| tool(name, &log));
    let builder = Agent::builder(Greedy).tools(tools).policy(root.policy()).max_turns(500);
    let builder = AGENTS.iter().zip(agents).fold(builder, |builder, (name, says)| {
        let agent = SubAgent::new(*name, "Works.").profile(says.profile()).policy(says.policy());
        builder.sub_agent(agent.max_turns(60))
    });
    let agent = builder.build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _ended = runtime.block_on(async { agent.run("root").await });
    std::mem::take(&mut *log.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn what_an_agent_calls_is_what_it_and_every_agent_above_it_may_call(
        root in says(),
        agents in prop::collection::vec(says(), AGENTS.len()),
    ) {
        let called = called(&root, &agents);
        let by_name = |name: &str| &agents[AGENTS.iter().position(|it| *it == name).unwrap()];
        for (by, tool) in &called {
            let mut path = by.split('/');
            prop_assert_eq!(path.next(), Some("root"));
            let index = TOOLS.iter().position(|it| it == tool).unwrap();
            prop_assert!(!root.denies[index], "{} called {}", by, tool);
            let path: Vec<&str> = path.collect();
            prop_assert!(path.len() <= SubAgent::DEPTH);
            for (depth, name) in path.iter().enumerate() {
                let says = by_name(name);
                prop_assert!(says.lets(tool), "{} called {}, {:?}", by, tool, says);
                let has_started = depth + 1 < path.len();
                prop_assert!(!has_started || says.starts, "{} started one", name);
            }
        }
        // It is not empty because nothing runs: the run calls what it may, and so do its sub-agents.
        let expected = |lets: &dyn Fn(usize) -> bool| (0..TOOLS.len()).filter(|it| lets(*it)).count();
        let of = |path: &str| called.iter().filter(|(by, _)| by == path).count();
        prop_assert_eq!(of("root"), expected(&|index| !root.denies[index]));
        for (name, says) in AGENTS.iter().zip(&agents) {
            let lets = |index: usize| !root.denies[index] && says.lets(TOOLS[index]);
            prop_assert_eq!(of(&format!("root/{name}")), expected(&lets));
        }
    }
}
