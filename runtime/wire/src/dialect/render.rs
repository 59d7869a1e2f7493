//! Renders a tool, or a list of tools, in the form of a provider's request.

use serde_json::value::RawValue;

use super::finding::{Finding, Rule, Severity};
use super::limits::SchemaSize;
use super::node::Node;
use super::rules::Rules;
use super::{DescribedTool, Dialect, RenderedTool, limits, names, reduce};
use toolwright_core::tool::Effect;

/// Renders one tool for the provider, or returns why the provider would refuse it.
pub(super) fn tool(
    dialect: Dialect,
    tool: &DescribedTool<'_>,
) -> Result<RenderedTool, Vec<Finding>> {
    let mut findings = Vec::new();
    let name = names::map_names(dialect, tool.name, &mut findings).into_owned();
    let schema = reduce::input(dialect, tool, &mut findings);
    let output = tool.output_schema.filter(|_| dialect == Dialect::Mcp);
    let output = output.and_then(|schema| {
        let is_object = schema.get("type").is_some_and(|it| it == "object");
        if !is_object {
            let message = "the output is no object, which is all that the protocol structures, so it goes as text without a schema";
            findings.push(Finding {
                tool: tool.name.to_owned(),
                dialect,
                severity: Severity::Note,
                rule: Rule::Root,
                pointer: "/output_schema".to_owned(),
                message: message.to_owned(),
                fix: String::new(),
            });
        }
        is_object.then(|| reduce::output(dialect, tool, schema, &mut findings))
    });
    let rules = Rules::of(dialect);
    let counted = SchemaSize::of(&schema);
    for message in limits::find_excess(&rules.limits, &counted) {
        findings.push(Finding {
            tool: tool.name.to_owned(),
            dialect,
            severity: Severity::Error,
            rule: Rule::Size,
            pointer: "/input_schema".to_owned(),
            message,
            fix: "ask for less in one tool, or show it in a form that is not strict".to_owned(),
        });
    }
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    let json = shape(dialect, tool, &name, schema, output);
    let json = serde_json::to_string(&json).map_err(|_| findings.clone())?;
    let SchemaSize { optional, unions, .. } = counted;
    Ok(RenderedTool { name, json, notes: findings, optional, unions })
}

/// Renders the tools of one request. Returns the value of `tools`, and each tool in its rendered form. `unlisted`
/// contains the names of tools that can be called although they are not in the request.
pub(super) fn tools<'a>(
    dialect: Dialect,
    tools: impl IntoIterator<Item = DescribedTool<'a>>,
    unlisted: impl Iterator<Item = &'a str>,
) -> Result<(Box<RawValue>, Vec<RenderedTool>), Vec<Finding>> {
    let limits = &Rules::of(dialect).limits;
    let mut findings = Vec::new();
    let mut written: Vec<(&str, RenderedTool)> = Vec::new();
    for tool in tools {
        match self::tool(dialect, &tool) {
            Ok(rendered) => written.push((tool.name, rendered)),
            Err(problems) => findings.extend(problems),
        }
    }
    let names = written.iter().map(|(name, rendered)| (*name, rendered.name.as_str()));
    // A tool that is not in the request is called by its original name.
    let names = names.chain(unlisted.map(|name| (name, name)));
    names::judge_collisions(dialect, names, &mut findings);
    let optional = written.iter().map(|(_, it)| it.optional).sum();
    let unions = written.iter().map(|(_, it)| it.unions).sum();
    let too_many = [("tools", written.len(), limits.tools)]
        .into_iter()
        .chain(limits::in_request(limits, optional, unions));
    for (what, count, most) in too_many {
        let Some(most) = most.filter(|most| count > *most) else { continue };
        findings.push(Finding {
            tool: String::new(),
            dialect,
            severity: Severity::Error,
            rule: Rule::ToolCount,
            pointer: String::new(),
            message: format!("there are {count} {what}, the provider takes {most} in one request"),
            fix: "show fewer tools".to_owned(),
        });
    }
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    let rendered: Vec<RenderedTool> = written.into_iter().map(|(_, rendered)| rendered).collect();
    let list: Vec<&str> = rendered.iter().map(|it| it.json.as_str()).collect();
    let list = format!("[{}]", list.join(","));
    let text = match dialect {
        Dialect::Gemini | Dialect::GeminiOpenApi => {
            format!(r#"[{{"functionDeclarations":{list}}}]"#)
        }
        _ => list,
    };
    let raw = RawValue::from_string(text).map_err(|_| findings)?;
    Ok((raw, rendered))
}

fn shape(
    dialect: Dialect,
    tool: &DescribedTool<'_>,
    name: &str,
    schema: Node,
    output: Option<Node>,
) -> Node {
    let text = |key: &str, text: &str| (key.to_owned(), Node::text(text));
    let mut head = vec![text("name", name), text("description", tool.description)];
    let is_deferred = tool.deferred && dialect.has_tool_search();
    match dialect {
        Dialect::Anthropic | Dialect::AnthropicStrict => {
            head.push(("input_schema".into(), schema));
            if dialect == Dialect::AnthropicStrict {
                head.push(("strict".into(), true.into()));
            }
        }
        Dialect::OpenAiChat | Dialect::OpenAiChatStrict => {
            head.push(("parameters".into(), schema));
            if dialect == Dialect::OpenAiChatStrict {
                head.push(("strict".into(), true.into()));
            }
            head = vec![text("type", "function"), ("function".into(), Node::Object(head))];
        }
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => {
            head.insert(0, text("type", "function"));
            head.push(("parameters".into(), schema));
            // The API treats a function as strict unless `strict` is `false`.
            let strict = dialect == Dialect::OpenAiResponsesStrict;
            head.push(("strict".into(), strict.into()));
        }
        // Gemini refuses an object without properties. A tool without a schema has no parameters.
        Dialect::Gemini | Dialect::GeminiOpenApi if takes_nothing(&schema) => {
            if let Some(words) = schema.get("description").and_then(Node::as_str) {
                let description = format!("{}\n\n{words}", tool.description);
                head[1] = text("description", description.trim());
            }
        }
        Dialect::Gemini => head.push(("parametersJsonSchema".into(), schema)),
        Dialect::GeminiOpenApi => head.push(("parameters".into(), schema)),
        Dialect::Mcp => {
            if let Some(title) = tool.title {
                head.insert(1, text("title", title));
            }
            head.push(("inputSchema".into(), schema));
            if let Some(output) = output {
                head.push(("outputSchema".into(), output));
            }
            if let Some(effect) = tool.effect {
                let hint = |key: &str, value: bool| (key.to_owned(), Node::from(value));
                let mut hints = vec![hint("readOnlyHint", effect == Effect::Read)];
                if effect != Effect::Read {
                    hints.push(hint("idempotentHint", effect == Effect::Idempotent));
                }
                head.push(("annotations".into(), Node::Object(hints)));
            }
        }
    }
    if is_deferred {
        head.push(("defer_loading".into(), true.into()));
    }
    Node::Object(head)
}

/// Returns whether an input schema has no properties, so that it says nothing but its description.
fn takes_nothing(schema: &Node) -> bool {
    let Node::Object(keywords) = schema else { return false };
    keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("type" | "description", _) => true,
        ("properties", Node::Object(it)) => it.is_empty(),
        ("required", Node::List(it)) => it.is_empty(),
        ("additionalProperties", value) => *value == Node::from(false),
        _ => false,
    })
}
