//! Hands runs off to other agents: finds the agent to which a run was handed off last, and the calls of `hand_off` that
//! are refused. The decisions are pure: they follow from the history, the state and the hand-offs that the application
//! allows.

use serde_json::Value;
use toolwright::provider::ToolCall;
use toolwright::unstable::delegation::Delegation;
use toolwright::{Answer, Catalog, ErrorClass, Run, ToolError};

use super::{AgentRun, Stopped, Turn};
use crate::agent::Agent;
use crate::events::NoticeKind;
use crate::history::{Message, json_of};

/// The tool by which a model hands its run off.
pub(crate) const HAND_OFF: &str = "hand_off";

/// How often a run may be handed off after a message of its user.
pub(crate) const HANDED_OFF: u32 = 5;

/// Marks the tool `hand_off` of this library, so that a tool of an application with the same name is not mistaken for
/// it.
pub(crate) struct HandOffTool;

/// The agent to which a run was handed off, and which continues it.
pub(super) struct ActingAgent {
    pub(super) name: String,
    pub(super) agent: Agent,
    /// The run with the tools and rules of the agent.
    run: Run,
    /// The generation of the registry from which the tools were selected.
    generation: u64,
}

/// The facts that decide whether a call hands a run off.
struct Standing<'s> {
    /// The name of the agent whose model makes the call. This agent may hand the run off to `targets`.
    acting: &'s str,
    targets: &'s [String],
    /// How many times the run was handed off since the last message of its user.
    handed_off: u32,
    /// How many calls the turn has.
    calls: usize,
}

/// Returns the name of the agent to which a run with this history was handed off last.
pub(crate) fn last_target(history: &[Message]) -> Option<String> {
    history.iter().rev().find_map(|message| match message {
        Message::ToolResults(answered) => answered.iter().rev().find_map(target),
        _ => None,
    })
}

/// Returns the name of the agent to which a call has handed the run off.
fn target((call, answer): &(ToolCall, Answer)) -> Option<String> {
    if !is_hand_off(call, answer) {
        return None;
    }
    json_of(answer)["handed_off_to"].as_str().map(str::to_owned)
}

/// Returns whether the answer to a call says that the call handed its run off.
pub(super) fn is_hand_off(call: &ToolCall, answer: &Answer) -> bool {
    call.name == HAND_OFF && !answer.is_error()
}

/// Returns whether the tool `hand_off` of a catalog belongs to this crate, and not to the application.
pub(crate) fn is_marked(catalog: &Catalog) -> bool {
    catalog.get(HAND_OFF).is_some_and(|it| it.metadata::<HandOffTool>().is_some())
}

/// Returns why a call does not hand the run off; `None` if it does.
fn refusal(call: &ToolCall, standing: &Standing<'_>) -> Option<ToolError> {
    let Standing { acting, targets, handed_off, calls } = *standing;
    let refused = |why: String, hint: String| {
        let why = format!("the run was not handed off: {why}");
        Some(ToolError::new("not_handed_off", why).class(ErrorClass::Invalid).hint(hint))
    };
    let names: Vec<String> = targets.iter().map(|it| format!("`{it}`")).collect();
    let those = match names.as_slice() {
        [] => "go on with the task yourself".to_owned(),
        names => format!("hand it off to one of {}, or go on yourself", names.join(", ")),
    };
    if calls > 1 {
        let why = format!("`{HAND_OFF}` was called beside other calls");
        return refused(why, "call it alone, once the other calls are answered".to_owned());
    }
    let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let Some(agent) = input["agent"].as_str() else {
        return refused("found no name under `agent`".to_owned(), those);
    };
    if agent == acting {
        let why = format!("`{agent}` is the agent that works on it already");
        return refused(why, "go on with the task yourself".to_owned());
    }
    if !targets.iter().any(|it| it == agent) {
        return refused(format!("`{acting}` has no agent `{agent}` to hand it off to"), those);
    }
    if handed_off >= HANDED_OFF {
        let why = format!(
            "that was done {handed_off} times since the user last spoke, the most that it may be"
        );
        return refused(why, "go on with the task yourself, or end".to_owned());
    }
    None
}

impl AgentRun {
    /// Returns the agent that drives the run now.
    pub(super) fn acting(&self) -> &Agent {
        self.acting.as_ref().map_or(&self.agent, |it| &it.agent)
    }

    /// Returns the run with the tools and rules of the agent that now drives it.
    pub(super) fn acting_run(&self) -> &Run {
        self.acting.as_ref().map_or(&self.run, |it| &it.run)
    }

    /// Finds the agent that now drives the run, and selects its tools from those of the registry. If the run was handed
    /// off to an agent that does not exist any more, the run does not continue, because the agent with which it began
    /// might be allowed to do more.
    pub(super) fn find_acting(&mut self) -> Result<(), Stopped> {
        let catalog = self.run.catalog();
        let hand_offs = self.agent.0.hand_offs.as_ref();
        if hand_offs.is_none() && catalog.get(HAND_OFF).is_some() {
            // The tool `hand_off` belongs to the application, or to the parent of this sub-agent.
            return Ok(());
        }
        let Some(name) = last_target(&self.history).filter(|it| *it != self.agent.0.name) else {
            if self.acting.take().is_some() {
                self.forget_shown();
            }
            return Ok(());
        };
        let generation = catalog.generation();
        if self.acting.as_ref().is_some_and(|it| it.name == name && it.generation == generation) {
            return Ok(());
        }
        let Some(ready) = hand_offs.and_then(|it| it.get(&name)) else {
            return Err(Stopped::HandedOff { agent: name });
        };
        let delegation = Delegation::to(&*name, ready.profile.clone()).policy(ready.policy.clone());
        let (run, agent) = (delegation.of_run(&self.run), ready.agent.clone());
        self.acting = Some(ActingAgent { name, agent, run, generation });
        self.forget_shown();
        Ok(())
    }

    /// Discards what the model of the previous agent was shown.
    fn forget_shown(&mut self) {
        self.shown = None;
        if let Some(preparing) = &mut self.plugins {
            preparing.again = None;
        }
    }

    /// Continues as another agent if a call of the turn has handed the run off.
    pub(super) fn hand_over(&mut self, turn: &Turn) -> Result<(), Stopped> {
        let [call] = &*turn.calls else { return Ok(()) };
        if call.name != HAND_OFF {
            return Ok(());
        }
        let before = self.acting_name().to_owned();
        self.find_acting()?;
        let now = self.acting_name();
        if before != now {
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            let reason = input["reason"].as_str().unwrap_or_default();
            self.notify(NoticeKind::HandedOff { from: &before, to: now, reason });
        }
        Ok(())
    }

    /// Returns the name of the agent that drives the run now: the agent with which the run began, or the agent to which
    /// it was handed off last.
    fn acting_name(&self) -> &str {
        self.acting.as_ref().map_or(&self.agent.0.name, |it| &it.name)
    }

    fn acting_key(&self) -> Option<&str> {
        self.acting.as_ref().map(|it| &*it.name)
    }

    /// Returns the tools as the model of the agent that now drives the run sees them. The tool `hand_off` names the
    /// agents to which this agent may hand the run off; without such agents, the tool is left out.
    pub(super) fn with_targets(&self, catalog: &Catalog) -> Option<Catalog> {
        if !is_marked(catalog) {
            return None;
        }
        let without = catalog.without([HAND_OFF]);
        let listed = self.agent.0.hand_offs.as_ref().and_then(|it| it.listed(self.acting_key()));
        Some(listed.map_or_else(|| without.clone(), |it| without.followed_by(it)))
    }

    /// Returns the answers to the calls of a turn that request a hand-off and are refused.
    pub(super) fn not_handed_off(&self, turn: &Turn, catalog: &Catalog) -> Vec<Option<Answer>> {
        let called = &turn.calls[..turn.run];
        if called.iter().all(|it| it.name != HAND_OFF) || !is_marked(catalog) {
            return Vec::new();
        }
        let hand_offs = self.agent.0.hand_offs.as_ref();
        let standing = Standing {
            acting: self.acting_name(),
            targets: hand_offs.map_or(&[], |it| it.targets(self.acting_key())),
            handed_off: self.state.handed_off(),
            calls: turn.calls.len(),
        };
        let answer = |call: &ToolCall| match call.name == HAND_OFF {
            true => refusal(call, &standing).map(Answer::from),
            false => None,
        };
        called.iter().map(answer).collect()
    }
}
