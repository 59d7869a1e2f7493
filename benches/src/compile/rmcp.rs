//! rmcp: `#[tool]` methods in one `#[tool_router]` block, each with a derived struct for its input.
//!
//! A method answers with `ContentBlock::json`, as in the benchmark `call`: `Json<T>` would make rmcp derive and check
//! an output schema, which no other contestant has.

use super::source::{self, CALLS, NOW, PROOF, Source, Tool};

pub fn source(count: usize) -> Source {
    let mut library = String::from(
        "use rmcp::handler::server::tool::{ToolCallContext, ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

",
    );
    library += &source::shared_types("#[derive(Deserialize, JsonSchema)]", "#[derive(Serialize)]");
    let mut methods = String::new();
    for tool in source::tools(count) {
        library += &types(&tool);
        methods += &method(&tool);
    }
    library += &format!(
        "
pub struct Server;

#[tool_router]
impl Server {{
{methods}}}
{AROUND}"
    );
    library += NOW;
    Source {
        dependencies: DEPENDENCIES.to_owned(),
        library,
        proof: format!("{USES}{CALLS}\nfn main() {{{MAIN}{PROOF}}}\n"),
    }
}

fn types(tool: &Tool) -> String {
    format!(
        "#[derive(Deserialize, JsonSchema)]
pub struct Input{number} {{
{fields}}}

{output_type}",
        number = tool.number,
        fields = tool.documented("pub "),
        output_type = tool.output_type("#[derive(Serialize)]"),
    )
}

fn method(tool: &Tool) -> String {
    format!(
        "/// {about}
#[tool]
pub async fn {name}(
    &self,
    Parameters(Input{number} {{ {names} }}): Parameters<Input{number}>,
) -> Result<CallToolResult, ErrorData> {{
    let output = {{
{body}
    }};
    Ok(CallToolResult::success(vec![ContentBlock::json(output)?]))
}}

",
        about = tool.about(),
        name = tool.name(),
        number = tool.number,
        names = tool.names(""),
        body = tool.body(),
    )
}

const AROUND: &str = "
impl ServerHandler for Server {}

pub type Context = RequestContext<RoleServer>;

pub fn tools() -> ToolRouter<Server> {
    Server::tool_router()
}

pub fn definitions(tools: &ToolRouter<Server>) -> Vec<Tool> {
    tools.list_all()
}

pub async fn call(
    tools: &ToolRouter<Server>,
    context: Context,
    name: &str,
    text: &str,
) -> Result<String, ErrorData> {
    let failed = |error: &dyn std::fmt::Display| ErrorData::internal_error(error.to_string(), None);
    let arguments: JsonObject = serde_json::from_str(text).map_err(|error| failed(&error))?;
    let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    let call = ToolCallContext::new(&Server, request, context);
    match tools.call(call).await? {
        CallToolResponse::Complete(result) => match result.content.into_iter().next() {
            Some(ContentBlock::Text(content)) => Ok(content.text),
            _ => Err(failed(&\"the answer is not text\")),
        },
        _ => Err(failed(&\"the call is not complete\")),
    }
}

pub fn call_now(
    tools: &ToolRouter<Server>,
    context: Context,
    name: &str,
    text: &str,
) -> Result<String, ErrorData> {
    now(call(tools, context, name, text))
}
";

const DEPENDENCIES: &str = r#"rmcp = { version = "3.9", default-features = false, features = ["macros", "schemars", "server"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
tokio = { version = "1", features = ["io-util", "rt", "time"] }"#;

const USES: &str = "use contestant::{Context, Server};
use rmcp::model::NumberOrString;
use rmcp::service::serve_directly;
use serde_json::Value;
";

const MAIN: &str = r#"
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let _guard = runtime.enter();
    let (ours, _theirs) = tokio::io::duplex(64);
    let service = serve_directly(Server, ours, None);
    let context = Context::new(NumberOrString::Number(1), service.peer().clone());
    let tools = contestant::tools();
    let listed: Vec<(String, String, Value)> = contestant::definitions(&tools)
        .into_iter()
        .map(|tool| {
            let about = tool.description.unwrap_or_default();
            (tool.name.into(), about.into(), Value::Object((*tool.input_schema).clone()))
        })
        .collect();
    let answers = CALLS.map(|(name, text)| {
        contestant::call_now(&tools, context.clone(), name, text).expect("an answer")
    });
"#;
