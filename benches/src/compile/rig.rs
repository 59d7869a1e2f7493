//! rig: `#[rig_tool]` functions in rig's `ToolSet`.

use super::source::{self, CALLS, NOW, PROOF, Source, Tool};

pub fn source(count: usize) -> Source {
    let mut library = String::from(
        "use rig::completion::ToolDefinition;
use rig::rig_tool;
use rig::tool::{ToolContext, ToolExecutionError, ToolSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

",
    );
    library += &source::shared_types("#[derive(Deserialize, JsonSchema)]", "#[derive(Serialize)]");
    let mut added = String::new();
    for tool in source::tools(count) {
        library += &written(&tool);
        added += &format!("    tools.add_tool(Tool{});\n", tool.number);
    }
    library += &format!(
        "
pub fn tools() -> ToolSet {{
    let mut tools = ToolSet::default();
{added}    tools
}}

pub fn definitions(tools: &ToolSet) -> Vec<ToolDefinition> {{
    tools.tool_definitions()
}}

pub async fn call(tools: &ToolSet, name: &str, text: &str) -> Result<String, ToolExecutionError> {{
    let mut context = ToolContext::new();
    Ok(tools.execute(name, text, &mut context).await.into_result()?.render())
}}

pub fn call_now(tools: &ToolSet, name: &str, text: &str) -> Result<String, ToolExecutionError> {{
    now(call(tools, name, text))
}}
"
    );
    library += NOW;
    Source {
        dependencies: DEPENDENCIES.to_owned(),
        library,
        proof: format!("{USES}{CALLS}\nfn main() {{{MAIN}{PROOF}}}\n"),
    }
}

fn written(tool: &Tool) -> String {
    format!(
        "{output_type}/// {about}
#[rig_tool]
pub async fn {name}(
{parameters}) -> Result<{output}, ToolExecutionError> {{
    Ok({{
{body}
    }})
}}

",
        output_type = tool.output_type("#[derive(Serialize)]"),
        about = tool.about(),
        name = tool.name(),
        parameters = tool.documented(""),
        output = tool.output,
        body = tool.body(),
    )
}

const DEPENDENCIES: &str = r#"rig = { version = "0.44", default-features = false, features = ["agent", "derive"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1""#;

const USES: &str = "use serde_json::Value;\n";

const MAIN: &str = r#"
    let tools = contestant::tools();
    let listed: Vec<(String, String, Value)> = contestant::definitions(&tools)
        .into_iter()
        .map(|tool| (tool.name.to_string(), tool.description, tool.parameters))
        .collect();
    let answers =
        CALLS.map(|(name, text)| contestant::call_now(&tools, name, text).expect("an answer"));
"#;
