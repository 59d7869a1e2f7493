//! What a foreign tool answered, as the output of a tool: marked as untrusted. Pure.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::json;
use toolwright::{Content, Output, ToolError, error_kind};

use super::definition::ForeignTool;
use super::untrusted::{fenced, line};

/// The output, or the error that the tool reports.
pub(super) fn output(tool: &ForeignTool, answer: CallToolResult) -> Result<Output, ToolError> {
    // Our name of it: what the server calls it could hold the end of the fence.
    let source = format!("MCP server `{}`, tool `{}`", tool.server, tool.name);
    let mut blocks: Vec<Content<'static>> =
        answer.content.into_iter().map(|block| content(&source, block)).collect();
    if let (true, Some(structured)) = (blocks.is_empty(), &answer.structured_content) {
        blocks.push(Content::text(fenced(&source, &structured.to_string())));
    }
    if answer.is_error == Some(true) {
        let words: Vec<String> = blocks.iter().map(said).collect();
        let words = format!("`{}` failed:\n{}", tool.name, words.join("\n"));
        return Err(ToolError::new("foreign_error", words));
    }
    if answer.structured_content.is_none() && tool.output_schema.is_some() {
        let words = format!("`{}` ran, but its result is not what it promises", tool.name);
        return Err(ToolError::new(error_kind::INVALID_OUTPUT, words));
    }
    let mark = json!({"server": tool.server, "tool": tool.theirs});
    let mut output = Output::default().metadata("untrusted", mark);
    output = blocks.into_iter().fold(output, Output::with);
    Ok(match answer.structured_content {
        Some(structured) => output.structured(structured),
        None => output,
    })
}

fn content(source: &str, block: ContentBlock) -> Content<'static> {
    match block {
        ContentBlock::Text(text) => Content::text(fenced(source, &text.text)),
        ContentBlock::Image(image) => {
            Content::Image { media_type: line(&image.mime_type).into(), data: image.data.into() }
        }
        ContentBlock::Audio(audio) => {
            Content::Audio { media_type: line(&audio.mime_type).into(), data: audio.data.into() }
        }
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                resource_of(&uri, mime_type, Some(fenced(source, &text)))
            }
            ResourceContents::BlobResourceContents { uri, mime_type: Some(kind), blob, .. }
                if kind == "application/pdf" =>
            {
                let name = Some(line(&uri).into());
                Content::Document { name, media_type: kind.into(), data: blob.into() }
            }
            ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                resource_of(&uri, mime_type, None)
            }
            other => unknown(source, &other),
        },
        ContentBlock::ResourceLink(link) => resource_of(&link.uri, link.mime_type, None),
        other => unknown(source, &other),
    }
}

fn resource_of(uri: &str, media_type: Option<String>, text: Option<String>) -> Content<'static> {
    Content::Resource {
        uri: line(uri).into(),
        media_type: media_type.map(|it| line(&it).into()),
        text: text.map(Into::into),
    }
}

/// A kind of block that came with a later revision.
fn unknown(source: &str, block: &impl serde::Serialize) -> Content<'static> {
    let text = serde_json::to_string(block).unwrap_or_default();
    Content::text(fenced(source, &text))
}

fn said(block: &Content<'_>) -> String {
    match block {
        Content::Text(text) | Content::Json(text) => text.to_string(),
        Content::Image { media_type, .. }
        | Content::Audio { media_type, .. }
        | Content::Document { media_type, .. } => {
            format!("[{media_type}, left out]")
        }
        Content::Resource { uri, text, .. } => match text {
            Some(text) => text.to_string(),
            None => format!("[resource {uri}]"),
        },
    }
}
