//! rig: `#[rig_tool]` functions, through their erased form alone and through rig's own `ToolSet`.
//!
//! The cheapest public path is the one that is measured: the erased form, in a map of our own, of a tool that writes
//! its JSON text itself. It avoids the `Value` that rig makes of a struct, and rig's registry, which wraps each call
//! in an effect and clones the tool's definition in `ToolSet::execute`.

use std::collections::HashMap;
use std::convert::Infallible;

use ::rig::message::{ToolName, ToolResultContent};
use ::rig::rig_tool;
use ::rig::tool::{DynamicTool, ErasedTool, ToolContext, ToolOutput, ToolResult, ToolSet};
use anyhow::{Context, Result, bail};
use serde_json::json;

use super::NAMES;
use super::floor::{self, Matches, Window};

/// Find text in files.
#[rig_tool]
pub async fn find_text(
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
) -> Result<Matches, Infallible> {
    Ok(floor::matches(pattern, limit, folder, whole_words, window))
}

/// Find text in files.
#[rig_tool]
pub async fn find_text_as_text(
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
) -> Result<String, serde_json::Error> {
    serde_json::to_string(&floor::matches(pattern, limit, folder, whole_words, window))
}

pub struct Rig {
    erased: HashMap<String, Box<dyn ErasedTool>>,
    set: ToolSet,
}

impl Rig {
    pub fn new() -> Result<Self> {
        let mut erased: HashMap<String, Box<dyn ErasedTool>> = HashMap::new();
        let mut set = ToolSet::default();
        erased.insert(FindText.name(), Box::new(FindText));
        erased.insert(FindTextAsText.name(), Box::new(FindTextAsText));
        set.add_tool(FindText);
        set.add_tool(FindTextAsText);
        for number in set.len()..NAMES {
            let name = format!("tool_{number}");
            set.add_dynamic_tool(other_tool(&name)?);
            erased.insert(name, Box::new(FindText));
        }
        Ok(Self { erased, set })
    }

    /// Calls the tool that writes its JSON text itself, in its erased form and from our own map.
    pub fn text(&self, text: &str) -> impl Future<Output = Result<String>> {
        self.erased("find_text_as_text", text)
    }

    /// Calls the tool that answers with a struct, in its erased form.
    pub fn structured(&self, text: &str) -> impl Future<Output = Result<String>> {
        self.erased("find_text", text)
    }

    /// Calls the tool that writes its JSON text itself, from rig's set.
    pub async fn registered(&self, text: &str) -> Result<String> {
        let tool = self.set.get("find_text_as_text").context("no such tool")?;
        let mut context = ToolContext::new();
        answer(tool.execute(text.to_owned(), &mut context).await)
    }

    /// Calls it by name through rig's set.
    pub async fn executed(&self, text: &str) -> Result<String> {
        let mut context = ToolContext::new();
        answer(self.set.execute("find_text_as_text", text, &mut context).await)
    }

    async fn erased(&self, name: &str, text: &str) -> Result<String> {
        let tool = self.erased.get(name).context("no such tool")?;
        let mut context = ToolContext::new();
        answer(tool.execute(text.to_owned(), &mut context).await)
    }
}

fn answer(result: ToolResult) -> Result<String> {
    match result.into_result()?.into_content().pop() {
        Some(ToolResultContent::Text(content)) => Ok(content.text),
        Some(ToolResultContent::Json { value }) => Ok(value.to_string()),
        _ => bail!("the answer is neither text nor JSON"),
    }
}

fn other_tool(name: &str) -> Result<DynamicTool> {
    let schema = json!({ "type": "object", "properties": {} });
    Ok(DynamicTool::new(ToolName::new(name)?, "Another tool.", schema, |arguments| {
        Box::pin(async move { Ok(ToolOutput::json(arguments)) })
    }))
}
