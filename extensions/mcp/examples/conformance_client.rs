//! What the conformance suite of the protocol expects of a client: connects to the URL that it is given, lists the tools,
//! and makes the calls that the scenario asks for.

use std::error::Error;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolwright::{Call, Catalog, Executor, Registry, ToolError};
use toolwright_mcp::{
    Answers, Elicit, Elicitation, ElicitationOutcome, McpConfig, McpServers, MemoryTokens, OAuth,
    SignIn, SignInRequest,
};

/// Agrees to what is proposed, and confirms what is asked.
struct Agrees;

impl Elicit for Agrees {
    fn elicit<'a>(&'a self, question: &'a Elicitation) -> BoxFuture<'a, ElicitationOutcome> {
        let mut answer = question.defaults();
        let required = question.schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if answer.get(name).is_none() {
                answer[name] = match question.schema["properties"][name]["type"].as_str() {
                    Some("boolean") => true.into(),
                    Some("integer" | "number") => 1.into(),
                    _ => "yes".into(),
                };
            }
        }
        Box::pin(async { ElicitationOutcome::Accepted(answer) })
    }
}

/// Opens the page without a browser: the authorization server of the suite says yes at once.
struct Yes;

impl SignIn for Yes {
    fn redirect_uri(&self) -> &str {
        "http://127.0.0.1:3999/callback"
    }

    fn sign_in(&self, request: SignInRequest) -> BoxFuture<'_, Result<String, ToolError>> {
        Box::pin(async move {
            let failed = |error: reqwest::Error| ToolError::new("sign_in", error.to_string());
            let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
            let answer = client.build().map_err(failed)?.get(&request.url).send().await;
            let answer = answer.map_err(failed)?;
            let page = answer.headers().get("location").and_then(|it| it.to_str().ok());
            page.map(str::to_owned).ok_or_else(|| {
                ToolError::new("sign_in", format!("found no redirect: {}", answer.status()))
            })
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("a URL is missing")?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Value = serde_json::from_str(&context)?;
    let oauth = match context["client_id"].as_str() {
        Some(id) => json!({"client_id": id, "client_secret_env": "MCP_SUITE_SECRET"}),
        None => {
            json!({"client_metadata_url": "https://conformance-test.local/client-metadata.json"})
        }
    };
    let suite = json!({"url": url, "trust": "annotations", "oauth": oauth});
    let config = json!({"mcpServers": {"suite": suite}});
    let registry = Registry::empty();
    let servers = McpServers::with_oauth(
        McpConfig::from_json(&config.to_string())?,
        OAuth::new(MemoryTokens::default()).sign_in(Yes),
    )
    .answering(Answers::new().elicit(Agrees));
    let builder = Executor::builder(registry.clone()).unrestricted();
    let executor = builder.with(servers.clone()).build()?;
    let unusable = servers.register_all().await?;
    if let Some(failed) = unusable.servers.into_iter().next() {
        return Err(failed.error.into());
    }
    for refused in unusable.tools {
        println!("{}: {}", refused.tool, refused.reason);
    }
    let catalog = registry.catalog();
    // As the server wrote it; the tool that is called here has it in the form of this library.
    let about = Call::new("mcp_info", r#"{"name": "suite__json_schema_2020_12_tool"}"#);
    let about = executor.call(&about).await.text().into_owned();
    let schema = about.find('{').zip(about.rfind('}')).and_then(|(from, to)| {
        let definition: Value = serde_json::from_str(&about[from..=to]).ok()?;
        definition.get("inputSchema").cloned()
    });
    for (tool, arguments) in calls(&catalog, &context, schema)? {
        let answer = executor.call(&Call::new(&*tool, arguments.to_string())).await;
        println!("{tool}: {}", answer.text());
    }
    servers.close().await;
    Ok(())
}

/// The calls that the scenario asks for, or one of each tool.
fn calls(
    catalog: &Catalog,
    context: &Value,
    schema: Option<Value>,
) -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    if let Some(calls) = context["toolCalls"].as_array() {
        let calls = calls.iter().map(|call| {
            let name = call["name"].as_str().unwrap_or_default();
            (format!("suite__{name}"), call["arguments"].clone())
        });
        return Ok(calls.collect());
    }
    let foreign = catalog.definitions().filter(|it| it.name.starts_with("suite__"));
    let calls = foreign.map(|definition| {
        let properties = definition.input_schema["properties"].as_object().cloned();
        let arguments = properties.unwrap_or_default().into_iter().map(|(name, _)| {
            let value = match (&*name, &schema) {
                ("schema", Some(schema)) => schema.clone(),
                _ => json!(5),
            };
            (name, value)
        });
        (definition.name.clone(), Value::Object(arguments.collect()))
    });
    Ok(calls.collect())
}
