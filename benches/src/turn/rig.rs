//! rig: its agent with the scripted model of its test kit, whose answers carry no raw document of a provider.

use anyhow::{Context, Result, ensure};
use rig::agent::AgentBuilder;
use rig::completion::{AssistantContent, Message};
use rig::message::{ToolCall, ToolFunction, ToolName};
use rig::rig_tool;
use rig::test_utils::{MockCompletionModel, MockTurn};
use rig::tool::{DynamicTool, ToolOutput};
use serde_json::{Value, json};
use std::convert::Infallible;

use super::{CALLS, HISTORY, LAST_WORD, QUESTION, SYSTEM, TOOLS};

/// Adds two numbers.
#[rig_tool]
async fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> Result<String, Infallible> {
    Ok((a + b).to_string())
}

pub struct Rig {
    agent: rig::agent::Agent,
    model: MockCompletionModel,
    history: Vec<Message>,
}

impl Rig {
    /// Makes an agent whose script lasts for the given number of turns.
    pub fn new(turns: u32) -> Result<Self> {
        let calls = || {
            let call = |(index, (a, b, _)): (usize, &(i64, i64, &str))| -> Result<_> {
                Ok(AssistantContent::ToolCall(called(&format!("call_{index}"), *a, *b)?))
            };
            CALLS.iter().enumerate().map(call).collect::<Result<Vec<_>>>()
        };
        let mut script = Vec::new();
        for _ in 0..turns {
            // Without an explicit raw document, the mock would serialise one from each answer.
            script.push(MockTurn::from_contents(calls()?).with_raw(Value::Null));
            script.push(MockTurn::text(LAST_WORD).with_raw(Value::Null));
        }
        let model = MockCompletionModel::from_turns(script);
        let mut agent = AgentBuilder::new(model.clone()).preamble(SYSTEM).tool(Add);
        for number in 1..TOOLS {
            agent = agent.dynamic_tool(other_tool(&format!("tool_{number}"))?);
        }
        Ok(Self { agent: agent.build(), model, history: history()? })
    }
}

impl super::Agent for Rig {
    async fn turn(&self) -> Result<String> {
        let history = self.history.clone();
        let response = self.agent.prompt(QUESTION).history(history).max_turns(25).await?;
        Ok(response.output().to_string())
    }

    fn read(&self) -> Result<String> {
        let requests = self.model.requests();
        let last = requests.last().context("no request")?;
        ensure!(last.tools.len() == TOOLS, "{} tools", last.tools.len());
        Ok(format!("{:?}", last.chat_history.last().context("an empty history")?))
    }
}

fn called(id: &str, a: i64, b: i64) -> Result<ToolCall> {
    let Value::Object(arguments) = json!({ "a": a, "b": b }) else { unreachable!("an object") };
    Ok(ToolCall::from_wire(id, ToolFunction::new(ToolName::new("add")?, arguments.into())))
}

fn history() -> Result<Vec<Message>> {
    let mut history = Vec::new();
    for number in 0..HISTORY / 4 {
        let sum = i64::try_from(number)? + 1;
        let call = called(&format!("earlier_{number}"), sum - 1, 1)?;
        let result = Message::tool_result(call.id.clone(), ToolName::new("add")?, sum.to_string());
        history.push(Message::user(format!("What is the sum of order {number}?")));
        let text = AssistantContent::text("I add it up.");
        let content = vec![text, AssistantContent::ToolCall(call)];
        history.push(Message::Assistant(rig::message::AssistantMessage::new(content)));
        history.push(result);
        history.push(Message::assistant(format!("It is {sum}.")));
    }
    Ok(history)
}

fn other_tool(name: &str) -> Result<DynamicTool> {
    let schema = json!({ "type": "object", "properties": {} });
    Ok(DynamicTool::new(ToolName::new(name)?, "Another tool.", schema, |arguments| {
        Box::pin(async move { Ok(ToolOutput::json(arguments)) })
    }))
}
