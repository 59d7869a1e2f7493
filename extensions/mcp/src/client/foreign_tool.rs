//! Makes a tool of this application from a foreign definition, with as much trust as the configuration gives to its
//! server.

use std::sync::Arc;

use rmcp::model::ToolAnnotations;
use toolwright::{Danger, DynamicTool, Effect};

use super::Handle;
use super::config::Trust;
use super::connection::Server;
use super::definition::ForeignTool;
use super::untrusted::escaped;

/// The reason why a person is asked about the tools of a server that is not trusted.
const NOT_TRUSTED: &str =
    "it is a tool of another program, whose word on what it does is not trusted";

/// The maximum length of a description that models see, in characters.
const LONGEST_DESCRIPTION: usize = 4000;

pub(super) fn of(handle: Handle, server: &Arc<Server>, tool: Arc<ForeignTool>) -> DynamicTool {
    let trust = server.trust();
    let (name, description) = (tool.name.clone(), description(&tool));
    let (schema, output) = (tool.input_schema.clone(), tool.output_schema.clone());
    let (effect, danger) = judge(trust, &tool.annotations);
    let title = tool.title.clone().map(|it| escaped(&it));
    let (has_own_timeout, identity) = (server.call_timeout().is_some(), server.identity());
    let server = Arc::clone(server);
    let (asked, shown) = (handle.clone(), Arc::clone(&tool));
    let mut made = DynamicTool::new(name, description, schema, move |input, context| {
        let (handle, server, tool) = (handle.clone(), Arc::clone(&server), Arc::clone(&tool));
        async move {
            let patience = server.call_timeout();
            handle.servers()?.call(&server, &tool, input, patience, &context).await
        }
    });
    // The `implementation` is part of an approval, so an approval does not count for another server of the same name.
    made = made.effect(effect).danger(danger).tag("mcp").implementation(identity);
    made = made.preview_by(move |input, _| {
        let change = asked.servers().map(|servers| servers.change(&shown));
        let input = escaped(&input.to_string());
        let call = format!("calls `{}` with {input}", shown.name);
        std::future::ready(change.map(|change| match change {
            Some(change) => format!("{change}\n{call}"),
            None => call,
        }))
    });
    if has_own_timeout {
        made = made.timeout(None);
    }
    if let Some(title) = title {
        made = made.title(title);
    }
    if let Some(output) = output {
        made = made.output_schema(output);
    }
    match trust {
        Trust::None => made.approval(NOT_TRUSTED),
        Trust::Annotations => made,
    }
}

/// Returns the description that models see. It includes the digest of the definition, so an earlier approval no longer
/// applies after the server has changed anything in the definition.
fn description(tool: &ForeignTool) -> String {
    let described = escaped(&tool.description);
    let mut text: String = described.chars().take(LONGEST_DESCRIPTION).collect();
    if text.len() < described.len() {
        text.push('…');
    }
    let source = format!("(From the MCP server `{}`, definition {}.)", tool.server, tool.digest());
    match text.trim() {
        "" => source,
        text => format!("{text}\n\n{source}"),
    }
}

pub(super) fn judge(trust: Trust, annotations: &ToolAnnotations) -> (Effect, Danger) {
    if trust == Trust::None {
        return (Effect::Once, Danger::Moderate);
    }
    if annotations.read_only_hint == Some(true) {
        return (Effect::Read, Danger::Moderate);
    }
    let effect = match annotations.idempotent_hint {
        Some(true) => Effect::Idempotent,
        _ => Effect::Once,
    };
    // The protocol says that a tool without this hint may destroy data.
    let danger = match annotations.destructive_hint {
        Some(false) => Danger::Moderate,
        _ => Danger::Dangerous,
    };
    (effect, danger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_count_only_where_the_server_is_trusted() {
        let reads = ToolAnnotations::new().read_only(true).destructive(false).idempotent(true);
        assert_eq!(judge(Trust::None, &reads), (Effect::Once, Danger::Moderate));
        let by = |annotations| judge(Trust::Annotations, &annotations);
        assert_eq!(by(reads), (Effect::Read, Danger::Moderate));
        assert_eq!(by(ToolAnnotations::new()), (Effect::Once, Danger::Dangerous));
        assert_eq!(
            by(ToolAnnotations::new().idempotent(true)),
            (Effect::Idempotent, Danger::Dangerous)
        );
        assert_eq!(by(ToolAnnotations::new().destructive(false)), (Effect::Once, Danger::Moderate));
    }

    #[test]
    fn whatever_the_server_changes_stands_in_the_description() {
        let tool = |fingerprint: &str, description: &str| ForeignTool {
            name: "x__t".to_owned(),
            server: "x".to_owned(),
            theirs: "t".to_owned(),
            title: None,
            description: description.to_owned(),
            input_schema: serde_json::json!({"type": "object"}),
            output_schema: None,
            annotations: ToolAnnotations::new(),
            fingerprint: fingerprint.to_owned(),
        };
        let digits = "0123456789abcdef0123456789abcdef";
        let whole = format!("{digits}fedcba9876543210fedcba9876543210");
        let source = format!("(From the MCP server `x`, definition {digits}.)");
        let shown = description(&tool(&whole, "Does\u{202e} it."));
        assert_eq!(shown, format!("Does\\u{{202e}} it.\n\n{source}"));
        // A change of a single digit within the first 128 bits is enough.
        let other = whole.replacen("def0123456789abcdef", "def0123456789abcdee", 1);
        assert_ne!(shown, description(&tool(&other, "Does\u{202e} it.")));
        let long = description(&tool(&whole, &"x".repeat(5000)));
        assert!(long.starts_with(&format!("{}…\n\n(From", "x".repeat(LONGEST_DESCRIPTION))));
        assert_eq!(description(&tool(&whole, "")), source);
    }
}
