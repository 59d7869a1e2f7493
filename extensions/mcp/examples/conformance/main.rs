//! What the conformance suite of the protocol expects of a server, over HTTP: prints its URL and serves until it is ended.

mod asking;

use std::error::Error;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use toolwright::{
    CancellationToken, Content, DynamicTool, Effect, Executor, Output, Registry, ToolContext,
    ToolError, tool,
};
use toolwright_mcp::{
    Arguments, Completing, Completions, ConnectedClient, ElicitationOutcome, LogLevel, McpServer,
    Prompt, PromptMessage, Prompts, Resource, ResourceContent, Resources,
};

/// A picture of one red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound without samples.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const STEP: Duration = Duration::from_millis(50);

/// Answer with text.
#[tool(effect = read, reads())]
async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

fn pixel() -> Content<'static> {
    Content::Image { media_type: "image/png".into(), data: PIXEL.into() }
}

fn resource(uri: &'static str, media_type: &'static str, text: &'static str) -> Content<'static> {
    let (uri, media_type) = (uri.into(), Some(media_type.into()));
    Content::Resource { uri, media_type, text: Some(text.into()) }
}

/// Answer with a picture.
#[tool(effect = read, reads())]
async fn test_image_content() -> Output {
    Output::default().with(pixel())
}

/// Answer with a sound.
#[tool(effect = read, reads())]
async fn test_audio_content() -> Output {
    Output::default().with(Content::Audio { media_type: "audio/wav".into(), data: SILENCE.into() })
}

/// Answer with a resource.
#[tool(effect = read, reads())]
async fn test_embedded_resource() -> Output {
    let text = "This is an embedded resource content.";
    Output::default().with(resource("test://embedded-resource", "text/plain", text))
}

/// Answer with text, a picture and a resource.
#[tool(effect = read, reads())]
async fn test_multiple_content_types() -> Output {
    let text = r#"{"test":"data","value":123}"#;
    Output::default()
        .with(Content::text("Multiple content types test:"))
        .with(pixel())
        .with(resource("test://mixed-content-resource", "application/json", text))
}

/// Log three messages.
#[tool(effect = read, reads())]
async fn test_tool_with_logging(client: &ConnectedClient) -> &'static str {
    client.log(LogLevel::Info, "Tool execution started").await;
    tokio::time::sleep(STEP).await;
    client.log(LogLevel::Info, "Tool processing data").await;
    tokio::time::sleep(STEP).await;
    client.log(LogLevel::Info, "Tool execution completed").await;
    "Three messages were logged."
}

/// Fail.
#[tool(effect = read, reads())]
async fn test_error_handling() -> Result<(), ToolError> {
    Err(ToolError::new("test", "This tool intentionally returns an error for testing"))
}

/// Report progress.
#[tool(effect = read, reads())]
async fn test_tool_with_progress(context: &ToolContext) -> &'static str {
    context.progress("begun", Some(0.0));
    tokio::time::sleep(STEP).await;
    context.progress("half", Some(0.5));
    tokio::time::sleep(STEP).await;
    context.progress("done", Some(1.0));
    "Three reports were made."
}

/// Ask the model of the client.
#[tool(effect = read, reads(), timeout = "30s")]
async fn test_sampling(
    client: &ConnectedClient,
    /// What the model is asked.
    prompt: String,
) -> Result<String, ToolError> {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    let answer = client.sample(json!({"messages": [message], "maxTokens": 100})).await?;
    Ok(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
}

async fn asked(
    client: &ConnectedClient,
    message: &str,
    properties: Value,
) -> Result<String, ToolError> {
    let schema = json!({"type": "object", "properties": properties, "required": []});
    Ok(match client.elicit(message, schema).await? {
        ElicitationOutcome::Accepted(content) => {
            format!("Elicitation completed: action=accept, content={content}")
        }
        ElicitationOutcome::Declined => "Elicitation completed: action=decline".to_owned(),
        _ => "Elicitation completed: action=cancel".to_owned(),
    })
}

/// Ask the user of the client.
#[tool(effect = read, reads(), timeout = "30s")]
async fn test_elicitation(
    client: &ConnectedClient,
    /// What the user reads.
    message: String,
) -> Result<String, ToolError> {
    let properties = json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    });
    asked(client, &message, properties).await
}

/// Ask the user of the client, with a default for each answer.
#[tool(effect = read, reads(), timeout = "30s")]
async fn test_elicitation_sep1034_defaults(client: &ConnectedClient) -> Result<String, ToolError> {
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    asked(client, "Please check the values", properties).await
}

/// Ask the user of the client to choose.
#[tool(effect = read, reads(), timeout = "30s")]
async fn test_elicitation_sep1330_enums(client: &ConnectedClient) -> Result<String, ToolError> {
    let titled = |first: &str| {
        json!([
            {"const": "value1", "title": first},
            {"const": "value2", "title": "Second"},
            {"const": "value3", "title": "Third"},
        ])
    };
    let plain = json!(["option1", "option2", "option3"]);
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled("First Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("First Choice")}},
    });
    asked(client, "Please choose", properties).await
}

/// A tool whose schema has what the revision 2020-12 of JSON Schema brought.
fn schema_tool() -> DynamicTool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": false,
    });
    let name = "json_schema_2020_12_tool";
    let about = "Tool with JSON Schema 2020-12 features";
    let tool =
        DynamicTool::new(name, about, schema, |input, _| async move { Ok(input.to_string()) });
    tool.effect(Effect::Read)
}

struct Shelf {
    changes: broadcast::Sender<String>,
}

impl Resources for Shelf {
    fn list<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        let text = Resource::new("test://static-text", "text")
            .description("A text")
            .media_type("text/plain");
        let binary = Resource::new("test://static-binary", "binary")
            .description("A picture")
            .media_type("image/png");
        let watched = Resource::new("test://watched-resource", "watched").media_type("text/plain");
        Box::pin(async { Ok(vec![text, binary, watched]) })
    }

    fn templates(&self) -> Vec<Resource> {
        let template = Resource::new("test://template/{id}/data", "template");
        vec![template.description("Data of an id").media_type("application/json")]
    }

    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        Some(self.changes.subscribe())
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<ResourceContent>, ToolError>> {
        Box::pin(async move {
            let text = |media_type: &str, text: String| {
                Some(ResourceContent::Text { media_type: Some(media_type.to_owned()), text })
            };
            let id = uri.strip_prefix("test://template/").and_then(|it| it.strip_suffix("/data"));
            Ok(match (uri, id) {
                ("test://static-text", _) => text(
                    "text/plain",
                    "This is the content of the static text resource.".to_owned(),
                ),
                ("test://watched-resource", _) => {
                    text("text/plain", "It does not change.".to_owned())
                }
                ("test://static-binary", _) => Some(ResourceContent::Blob {
                    media_type: Some("image/png".to_owned()),
                    data: PIXEL.to_owned(),
                }),
                (_, Some(id)) => {
                    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                    text("application/json", data.to_string())
                }
                _ => None,
            })
        })
    }
}

struct Texts;

impl Prompts for Texts {
    fn list(&self) -> Vec<Prompt> {
        vec![
            Prompt::new("test_simple_prompt", "A prompt without gaps"),
            Prompt::new("test_prompt_with_arguments", "A prompt with two gaps")
                .argument("arg1", "First test argument")
                .argument("arg2", "Second test argument"),
            Prompt::new("test_prompt_with_embedded_resource", "A prompt with a resource")
                .argument("resourceUri", "The address of the resource"),
            Prompt::new("test_prompt_with_image", "A prompt with a picture"),
            Prompt::new("test_input_required_result_prompt", "A prompt that asks"),
        ]
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Arguments,
        client: &'a ConnectedClient,
    ) -> BoxFuture<'a, Result<Vec<PromptMessage>, ToolError>> {
        let filled = |name: &str| arguments.get(name).cloned().unwrap_or_default();
        let text = |text: String| PromptMessage::User(Content::text(text));
        let messages = match name {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
            "test_prompt_with_arguments" => {
                let (one, two) = (filled("arg1"), filled("arg2"));
                vec![text(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let resource = Content::Resource {
                    uri: filled("resourceUri").into(),
                    media_type: Some("text/plain".into()),
                    text: Some("Embedded resource content for testing.".into()),
                };
                let question = text("Please process the embedded resource above.".to_owned());
                vec![PromptMessage::User(resource), question]
            }
            "test_input_required_result_prompt" => {
                return Box::pin(async move {
                    let question = "What context should the prompt use?";
                    let context = json!({"context": {"type": "string"}});
                    let context = asked(client, question, context).await?;
                    Ok(vec![text(context)])
                });
            }
            _ => vec![
                PromptMessage::User(pixel()),
                text("Please analyze the image above.".to_owned()),
            ],
        };
        Box::pin(async { Ok(messages) })
    }
}

struct Cities;

impl Completions for Cities {
    fn complete<'a>(
        &'a self,
        _: &'a Completing,
        _: &'a str,
        typed: &'a str,
        _: &'a Arguments,
    ) -> BoxFuture<'a, Result<Vec<String>, ToolError>> {
        let cities = ["paris", "park", "party"].into_iter().filter(move |it| it.starts_with(typed));
        Box::pin(async move { Ok(cities.map(str::to_owned).collect()) })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::linked()?;
    registry.register(schema_tool())?;
    let executor = Executor::builder(registry.clone()).unrestricted().per_run::<ConnectedClient>();
    let executor = executor.service(registry).build()?;
    let server = McpServer::new(executor).name("conformance").version("1.0.0").offer_client();
    let server = server.resources(Shelf { changes: broadcast::channel(16).0 });
    let bound =
        server.prompts(Texts).completions(Cities).http("127.0.0.1:0".parse()?)?.bind().await?;
    println!("{}", bound.url());
    bound.serve_until(CancellationToken::new()).await;
    Ok(())
}
