//! rig: the definitions of a `ToolSet`, which it makes again for each request.
//!
//! The cheapest path is the one that is measured: the definitions, written into the request as they are. rig's agent
//! does more for a request (its registry clones each registration as well). Its client clones the definitions once
//! more and makes a `Value` of the whole request before the text; it is shown for comparison.

use ::rig::completion::CompletionRequest;
use ::rig::message::ToolName;
use ::rig::providers::anthropic::wire::{AnthropicConfig, Messages, ToolInputStreaming};
use ::rig::rig_tool;
use ::rig::tool::{DynamicTool, ErasedTool, ToolOutput, ToolSet};
use ::rig::wire::{Body, Mode, Wire};
use anyhow::{Result, bail};
use std::convert::Infallible;

use super::{AnthropicTool, MAX_TOKENS, MODEL, QUESTION, TOOLS, write_request};
use crate::thousand::{self, Window};

/// Finds lines in files.
#[rig_tool]
async fn find_text(
    /// What to look for.
    pattern: String,
    /// How many matches to return.
    limit: usize,
    /// The folder to search; all when absent.
    folder: Option<String>,
    /// Match whole words only.
    whole_words: bool,
    /// How much to show around a match.
    window: Window,
) -> Result<String, Infallible> {
    let around = limit * (window.before + window.after + 1) as usize;
    Ok(format!("{pattern} {folder:?} {whole_words} {around} {}", window.label))
}

pub struct Rig {
    set: ToolSet,
    client: Messages,
}

impl Rig {
    pub fn new() -> Result<Self> {
        let mut set = ToolSet::default();
        for name in thousand::names(TOOLS) {
            let (about, schema) = (ErasedTool::description(&FindText), FindText.parameters());
            set.add_dynamic_tool(DynamicTool::new(ToolName::new(name)?, about, schema, |given| {
                Box::pin(async move { Ok(ToolOutput::json(given)) })
            }));
        }
        let client = Messages {
            provider: AnthropicConfig::new("nobody's"),
            model: MODEL.to_owned(),
            default_max_tokens: None,
            prompt_caching: false,
            static_prefix_cache_ttl: None,
            strict_tools: false,
            tool_input_streaming: ToolInputStreaming::default(),
        };
        Ok(Self { set, client })
    }

    /// Writes the definitions under Anthropic's keys.
    pub fn write(&self, buffer: &mut Vec<u8>) -> Result<()> {
        let definitions = self.set.tool_definitions();
        let tools: Vec<_> = definitions
            .iter()
            .map(|tool| AnthropicTool {
                name: tool.name.as_str(),
                description: &tool.description,
                input_schema: &tool.parameters,
            })
            .collect();
        write_request(tools, buffer)
    }

    /// Writes the body that rig's Anthropic client sends.
    pub fn client_writes(&self, buffer: &mut Vec<u8>) -> Result<()> {
        let request = CompletionRequest::new(QUESTION)
            .tools(self.set.tool_definitions())
            .max_tokens(u64::from(MAX_TOKENS));
        match self.client.encode(request, Mode::Unary)?.request.into_body() {
            Body::Bytes(body) => *buffer = body,
            Body::Multipart(_) => bail!("the request is no JSON"),
        }
        Ok(())
    }
}
