//! What the conformance suite of the protocol expects of a client: connects to the URL that it is given, lists the tools,
//! and makes the calls that the scenario asks for.

use std::error::Error;

use serde_json::{Value, json};
use toolwright::{Call, Catalog, Executor, Registry};
use toolwright_mcp::{MCP_TOOLS, McpConfig, McpServers};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("a URL is missing")?;
    let config = json!({"mcpServers": {"suite": {"url": url, "trust": "annotations"}}});
    let registry = Registry::of(MCP_TOOLS)?;
    let servers = McpServers::new(McpConfig::from_json(&config.to_string())?, &registry);
    let builder = Executor::builder(registry.clone()).unrestricted();
    let executor = builder.resolver(servers.clone()).service(servers.clone()).build()?;
    for refused in servers.register_all().await? {
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
    for (tool, arguments) in calls(&catalog, schema)? {
        let answer = executor.call(&Call::new(&*tool, arguments.to_string())).await;
        println!("{tool}: {}", answer.text());
    }
    servers.close().await;
    Ok(())
}

/// The calls that the scenario asks for, or one of each tool.
fn calls(catalog: &Catalog, schema: Option<Value>) -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Value = serde_json::from_str(&context)?;
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
