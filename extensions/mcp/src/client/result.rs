//! Makes the output of a tool from a foreign tool's answer, and marks it as untrusted. The functions are pure.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};
use toolwright::unstable::foreign::Checker;
use toolwright::{Content, Output, ToolError};

use super::definition::ForeignTool;
use super::untrusted::{escaped, fenced, line};

/// Makes the output of the tool, or the error that the tool reports.
pub(super) fn output(tool: &ForeignTool, answer: CallToolResult) -> Result<Output, ToolError> {
    // The source is named by the name that models see: the server's own name for the tool could contain the end of the
    // fence.
    let source = format!("MCP server `{}`, tool `{}`", tool.server, tool.name);
    let mut blocks: Vec<Content<'static>> =
        answer.content.into_iter().map(|block| content(&source, block)).collect();
    let is_told_structured = blocks.is_empty();
    if let (true, Some(structured)) = (is_told_structured, &answer.structured_content) {
        blocks.push(Content::text(fenced(&source, &structured.to_string())));
    }
    if answer.is_error == Some(true) {
        let words: Vec<String> = blocks.iter().map(said).collect();
        let words = format!("`{}` failed:\n{}", tool.name, words.join("\n"));
        return Err(ToolError::new("foreign_error", words).untrusted(&source));
    }
    let broken = find_mismatch(tool, answer.structured_content.as_ref());
    let mut mark = json!({"server": tool.server, "tool": tool.theirs, "source": source});
    let structured = match (broken, answer.structured_content) {
        (None, structured) => structured,
        (Some(why), structured) => {
            // The call has had its effect, so its answer is passed on as text although it does not match the schema.
            if let (false, Some(structured)) = (is_told_structured, structured) {
                blocks.push(Content::text(fenced(&source, &structured.to_string())));
            }
            mark["breaks_output_schema"] = line(&why).into();
            None
        }
    };
    let mut output = Output::default().metadata("untrusted", mark);
    output = blocks.into_iter().fold(output, Output::with);
    Ok(match structured {
        Some(structured) => output.structured(structured),
        None => output,
    })
}

/// Makes the output from the content of a server's resource.
pub(super) fn resource(server: &str, uri: &str, contents: Vec<ResourceContents>) -> Output {
    // The source does not contain the URI, which could contain the end of the fence.
    let source = format!("MCP server `{server}`, a resource");
    let mark = json!({"server": server, "resource": uri, "source": source});
    let output = Output::default().metadata("untrusted", mark);
    contents.into_iter().map(|it| part(&source, it)).fold(output, Output::with)
}

/// Converts a block of a prompt. A text is not fenced, because the user wants the model to follow it.
pub(super) fn unfenced(server: &str, block: ContentBlock) -> Content<'static> {
    match block {
        ContentBlock::Text(text) => Content::text(escaped(&text.text)),
        block => content(&format!("MCP server `{server}`, a prompt"), block),
    }
}

/// Describes how an answer violates the output schema of its tool.
fn find_mismatch(tool: &ForeignTool, structured: Option<&Value>) -> Option<String> {
    let schema = tool.output_schema.as_ref()?;
    let Some(structured) = structured else {
        return Some("it has no structured content".to_owned());
    };
    let checked = match Checker::new(schema) {
        Ok(checker) => checker.check_text(&structured.to_string()),
        Err(problem) => return Some(problem.to_string()),
    };
    let problems = checked.err()?;
    Some(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

fn content(source: &str, block: ContentBlock) -> Content<'static> {
    match block {
        ContentBlock::Text(text) => Content::text(fenced(source, &text.text)),
        // A picture that is labelled as text would reach the model as text outside of a fence.
        ContentBlock::Image(image) if image.mime_type.starts_with("image/") => {
            Content::Image { media_type: line(&image.mime_type).into(), data: image.data.into() }
        }
        ContentBlock::Audio(audio) if audio.mime_type.starts_with("audio/") => {
            Content::Audio { media_type: line(&audio.mime_type).into(), data: audio.data.into() }
        }
        ContentBlock::Resource(resource) => part(source, resource.resource),
        ContentBlock::ResourceLink(link) => resource_of(&link.uri, link.mime_type, None),
        other => unknown(source, &other),
    }
}

/// Makes the output's block for a part of a resource.
fn part(source: &str, contents: ResourceContents) -> Content<'static> {
    match contents {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            resource_of(&uri, mime_type, Some(fenced(source, &text)))
        }
        ResourceContents::BlobResourceContents { uri, mime_type: Some(kind), blob, .. }
            if kind == "application/pdf" =>
        {
            let name = Some(line(&uri).into());
            Content::Document { name, media_type: kind.into(), data: blob.into() }
        }
        ResourceContents::BlobResourceContents { mime_type: Some(kind), blob, .. }
            if kind.starts_with("image/") =>
        {
            Content::Image { media_type: line(&kind).into(), data: blob.into() }
        }
        ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
            resource_of(&uri, mime_type, None)
        }
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

/// Converts a block of a kind that a later revision has added, or of a wrong media type, into its JSON as fenced text.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_is_labelled_as_text_is_fenced() {
        for (kind, label) in [("image", "text/plain"), ("audio", "text/markdown")] {
            let block = json!({"type": kind, "mimeType": label, "data": "T2JleS4="});
            let block: ContentBlock = serde_json::from_value(block).expect("a block");
            let content = content("MCP server `peer`", block);
            let Content::Text(text) = &content else { panic!("{content:?}") };
            assert!(text.starts_with("<untrusted ") && text.contains(label), "{text}");
        }
    }
}
