//! The tools that ask their client in the middle of a call, as the conformance suite expects them of the revision 2026-07-28.

use serde_json::{Value, json};
use toolwright::{DynamicTool, Effect, Registry, ToolError, tool};
use toolwright_mcp::{ConnectedClient, ElicitationOutcome, LogLevel};

/// A form with one field.
fn form(field: &str, kind: &str) -> Value {
    json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]})
}

fn told(answer: &ElicitationOutcome, field: &str) -> String {
    match answer {
        ElicitationOutcome::Accepted(content) => content[field].to_string(),
        _ => "nobody".to_owned(),
    }
}

fn sampling(question: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": question}});
    json!({"messages": [message], "maxTokens": 100})
}

async fn name(client: &ConnectedClient) -> Result<String, ToolError> {
    let form = form("name", "string");
    let answer = client.question("user_name").elicit("What is your name?", form).await?;
    Ok(told(&answer, "name"))
}

async fn confirm(client: &ConnectedClient) -> Result<&'static str, ToolError> {
    client.question("confirm").elicit("Please confirm", form("ok", "boolean")).await?;
    Ok("state-ok")
}

/// Greet the user by name.
#[tool(effect = read, reads())]
async fn test_input_required_result_elicitation(
    client: &ConnectedClient,
) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", name(client).await?))
}

/// Ask the model of the client.
#[tool(effect = read, reads())]
async fn test_input_required_result_sampling(
    client: &ConnectedClient,
) -> Result<String, ToolError> {
    let answer = client.sample(sampling("What is the capital of France?")).await?;
    Ok(answer["content"]["text"].as_str().unwrap_or_default().to_owned())
}

/// Name the roots of the client.
#[tool(effect = read, reads())]
async fn test_input_required_result_list_roots(
    client: &ConnectedClient,
) -> Result<String, ToolError> {
    let roots = client.roots().await?;
    Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(" "))
}

/// Ask for confirmation.
#[tool(effect = read, reads())]
async fn test_input_required_result_request_state(
    client: &ConnectedClient,
) -> Result<&'static str, ToolError> {
    confirm(client).await
}

/// Ask for confirmation.
#[tool(effect = read, reads())]
async fn test_input_required_result_tampered_state(
    client: &ConnectedClient,
) -> Result<&'static str, ToolError> {
    confirm(client).await
}

/// Ask three questions at once.
#[tool(effect = read, reads())]
async fn test_input_required_result_multiple_inputs(
    client: &ConnectedClient,
) -> Result<String, ToolError> {
    let greeting = client.sample(sampling("Generate a greeting"));
    let (name, greeting, roots) = futures::try_join!(name(client), greeting, client.roots())?;
    Ok(format!("{name}: {}, {} roots", greeting["content"]["text"], roots.len()))
}

/// Ask one question after the other.
#[tool(effect = read, reads())]
async fn test_input_required_result_multi_round(
    client: &ConnectedClient,
) -> Result<String, ToolError> {
    let first = client.elicit("Step 1: What is your name?", form("name", "string")).await?;
    let color = form("color", "string");
    let second = client.elicit("Step 2: What is your favorite color?", color).await?;
    Ok(format!("{} likes {}", told(&first, "name"), told(&second, "color")))
}

/// Ask whom the client has.
#[tool(effect = read, reads())]
async fn test_input_required_result_capabilities(
    client: &ConnectedClient,
) -> Result<String, ToolError> {
    match client.can_elicit() {
        true => name(client).await,
        false => Ok(client.sample(sampling("Who are you?")).await?.to_string()),
    }
}

/// Ask the model of the client, which it has to have.
#[tool(effect = read, reads())]
async fn test_missing_capability(client: &ConnectedClient) -> Result<String, ToolError> {
    Ok(client.sample(sampling("Who are you?")).await?.to_string())
}

/// Ask the user of the client.
#[tool(effect = read, reads())]
async fn test_streaming_elicitation(client: &ConnectedClient) -> Result<String, ToolError> {
    name(client).await
}

/// Log a message.
#[tool(effect = read, reads())]
async fn test_logging_tool(client: &ConnectedClient) -> &'static str {
    client.log(LogLevel::Info, "It is logged where the request asks for it").await;
    "logged"
}

/// Change the list of tools.
#[tool(effect = idempotent, writes())]
async fn test_trigger_tool_change(registry: &Registry) -> Result<&'static str, ToolError> {
    let name = "changing";
    if registry.unregister(name).is_err() {
        let schema = json!({"type": "object", "properties": {}});
        let tool = DynamicTool::new(name, "Comes and goes", schema, |_, _| async { Ok("there") });
        registry.register(tool.effect(Effect::Read)).map_err(ToolError::internal)?;
    }
    Ok("changed")
}
