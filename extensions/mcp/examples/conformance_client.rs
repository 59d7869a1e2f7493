//! What the conformance suite of the protocol expects of a client: connects to the URL that it is given, lists the tools,
//! and makes the calls that the scenario asks for.

use std::error::Error;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolwright::{Call, Catalog, Executor, Registry};
use toolwright_mcp::{
    Authorization, Authorizer, AuthorizerError, MCP_TOOLS, McpConfig, McpServers,
};

/// Where the suite expects that a browser is sent; nobody listens there.
const CALLBACK: &str = "http://localhost:3000/callback";

/// Signs in like a person who agrees to everything: asks, and reads where a browser would be sent.
struct Agreeing(reqwest::Client);

impl Authorizer for Agreeing {
    fn redirect_uri(&self) -> String {
        CALLBACK.to_owned()
    }

    fn authorize<'a>(
        &'a self,
        _: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<String, AuthorizerError>> {
        let failed = |error: reqwest::Error| AuthorizerError::new(error.to_string());
        Box::pin(async move {
            let answer = self.0.get(url).send().await.map_err(failed)?;
            let to = answer.headers().get("location").and_then(|to| to.to_str().ok());
            let to = to.filter(|to| to.starts_with(CALLBACK));
            to.map(str::to_owned).ok_or_else(|| AuthorizerError::new("nobody was sent back"))
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("a URL is missing")?;
    let mut server = json!({"url": url, "trust": "annotations"});
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    if scenario.starts_with("auth/") {
        server["oauth"] = sign_in(&scenario, &context()?);
    }
    let config = json!({"mcpServers": {"suite": server}});
    let registry = Registry::of(MCP_TOOLS)?;
    let redirects = reqwest::redirect::Policy::none();
    let authorizer = Agreeing(reqwest::Client::builder().redirect(redirects).build()?);
    let mut authorization = Authorization::new().authorizer(authorizer);
    if let Some(secret) = context()?["client_secret"].as_str() {
        authorization = authorization.client_secret("suite", secret);
    }
    let servers = McpServers::authorized(
        McpConfig::from_json(&config.to_string())?,
        &registry,
        authorization,
    );
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

/// What the scenario gives a client to sign in with.
fn sign_in(scenario: &str, context: &Value) -> Value {
    let mut oauth = json!({
        "client_metadata_url": "https://conformance-test.local/client-metadata.json",
    });
    if let Some(id) = context["client_id"].as_str() {
        oauth["client_id"] = id.into();
    }
    if scenario.contains("client-credentials") {
        oauth["grant"] = "client_credentials".into();
    }
    oauth
}

fn context() -> Result<Value, Box<dyn Error>> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    Ok(serde_json::from_str(&context)?)
}

/// The calls that the scenario asks for, or one of each tool.
fn calls(catalog: &Catalog, schema: Option<Value>) -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    let context = context()?;
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
