//! By hand: a derived struct for each tool's input, a `match` on the name, and a list of schemas.

use super::source::{self, CALLS, NOW, PROOF, Source, Tool};

pub fn source(count: usize) -> Source {
    let mut library = String::from(
        "use schemars::{JsonSchema, Schema, schema_for};\nuse serde::{Deserialize, Serialize};\n\n",
    );
    library += &source::shared_types("#[derive(Deserialize, JsonSchema)]", "#[derive(Serialize)]");
    library += FAILURE;
    let (mut listed, mut arms) = (String::new(), String::new());
    for tool in source::tools(count) {
        library += &written(&tool);
        let (name, number, about) = (tool.name(), tool.number, tool.about());
        listed += &format!("        ({name:?}, {about:?}, schema_for!(Input{number})),\n");
        arms += &format!("        {name:?} => call_{number}(text).await,\n");
    }
    library += &format!(
        "
pub fn definitions() -> Vec<(&'static str, &'static str, Schema)> {{
    vec![
{listed}    ]
}}

pub async fn call(name: &str, text: &str) -> Result<String, Failure> {{
    match name {{
{arms}        _ => Err(Failure(format!(\"no tool is called `{{name}}`\"))),
    }}
}}

pub fn call_now(name: &str, text: &str) -> Result<String, Failure> {{
    now(call(name, text))
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
    let (number, output) = (tool.number, &tool.output);
    format!(
        "#[derive(Deserialize, JsonSchema)]
pub struct Input{number} {{
{fields}}}

{output_type}/// {about}
pub async fn tool_{number}(
{parameters}) -> Result<{output}, Failure> {{
    Ok({{
{body}
    }})
}}

async fn call_{number}(text: &str) -> Result<String, Failure> {{
    let input: Input{number} = serde_json::from_str(text)?;
    let output = tool_{number}({arguments}).await?;
    Ok(serde_json::to_string(&output)?)
}}

",
        fields = tool.documented("pub "),
        output_type = tool.output_type("#[derive(Serialize)]"),
        about = tool.about(),
        parameters = tool.undocumented(),
        body = tool.body(),
        arguments = tool.names("input."),
    )
}

const DEPENDENCIES: &str = r#"schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1""#;

const FAILURE: &str = "#[derive(Debug)]
pub struct Failure(pub String);

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

";

const USES: &str = "use serde_json::Value;\n";

const MAIN: &str = r#"
    let listed: Vec<(String, String, Value)> = contestant::definitions()
        .into_iter()
        .map(|(name, about, schema)| (name.to_owned(), about.to_owned(), schema.to_value()))
        .collect();
    let answers = CALLS.map(|(name, text)| contestant::call_now(name, text).expect("an answer"));
"#;
