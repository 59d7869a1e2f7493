//! Toolwright: `#[tool]` functions, collected at link time.

use std::path::Path;

use anyhow::{Context, Result};

use super::source::{self, CALLS, NOW, PROOF, Source, Tool};

pub fn source(count: usize) -> Result<Source> {
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolwright");
    let facade = facade.canonicalize().context("finding the facade")?;
    Ok(Source {
        // Outputs derive only `Serialize`, as those of the other contestants do.
        dependencies: format!(
            "serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\ntoolwright = {{ path = {:?} }}",
            facade.display()
        ),
        library: library(count),
        proof: format!("{USES}{CALLS}\nfn main() {{{MAIN}{PROOF}}}\n"),
    })
}

fn library(count: usize) -> String {
    let mut library =
        String::from("use toolwright::{Call, Executor, Registry, ToolError, tool};\n\n");
    library += &source::shared_types("#[toolwright::data]", "#[derive(serde::Serialize)]");
    for tool in source::tools(count) {
        library += &written(&tool);
    }
    library += AROUND;
    library += NOW;
    library
}

fn written(tool: &Tool) -> String {
    format!(
        "{output_type}/// {about}
#[tool(group = \"bench\")]
pub async fn {name}(
{parameters}) -> Result<{output}, ToolError> {{
    Ok({{
{body}
    }})
}}

",
        output_type = tool.output_type("#[derive(serde::Serialize)]"),
        about = tool.about(),
        name = tool.name(),
        parameters = tool.documented(""),
        output = tool.output,
        body = tool.body(),
    )
}

const AROUND: &str = r#"
pub fn definitions() -> Vec<(String, String, serde_json::Value)> {
    let registry = Registry::linked().expect("the tools make a registry");
    registry.definitions().map(|it| (it.name.clone(), it.description.clone(), it.input_schema.clone())).collect()
}

pub fn call_now(name: &str, text: &str) -> Result<String, ToolError> {
    let registry = Registry::linked().expect("the tools make a registry");
    let executor = Executor::builder(registry).unrestricted().build().map_err(ToolError::internal)?;
    Ok(now(executor.call(&Call::new(name, text))).into_text())
}
"#;

const USES: &str = "use serde_json::Value;\n";

const MAIN: &str = r#"
    let listed: Vec<(String, String, Value)> = contestant::definitions();
    let answers = CALLS.map(|(name, text)| contestant::call_now(name, text).expect("an answer"));
"#;
