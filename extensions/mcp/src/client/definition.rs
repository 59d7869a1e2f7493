//! The definitions of one server's tools, by the names that models see. Each definition has a fingerprint, or a reason
//! why it is refused. The functions are pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolwright::unstable::foreign::{TypeNames, input_schema};

use super::RefusedTool;
use super::names;

/// The error kind for a call whose tool's definition has changed.
pub(crate) const CHANGED: &str = "definition_changed";

/// The key that marks the placeholder of a definition that could not be read; its value is the reason.
pub(crate) const UNREADABLE: &str = "toolwright/unreadable";

/// How many hexadecimal digits of a fingerprint identify a definition: 128 bits.
pub(crate) const DIGITS: usize = 32;

/// A tool in a server's list, as it was parsed.
#[derive(Debug)]
pub(crate) enum ListedTool {
    Tool(Box<Tool>),
    /// A tool whose definition cannot be read: its name, and the reason.
    Wrong(String, String),
}

impl From<Tool> for ListedTool {
    fn from(tool: Tool) -> Self {
        Self::Tool(Box::new(tool))
    }
}

impl ListedTool {
    /// Reads the definition of one tool, independently of the others.
    pub(crate) fn read(written: Value) -> Self {
        let name = written.get("name").and_then(Value::as_str).unwrap_or("(without a name)");
        let name = name.to_owned();
        if let Some(why) = written.get(UNREADABLE).and_then(Value::as_str) {
            return Self::Wrong(name, format!("it cannot be read: {why}"));
        }
        let schema = |key: &str, found: Option<&Value>| {
            let found = match found? {
                Value::Object(_) => return None,
                Value::Null => "null".to_owned(),
                Value::Bool(it) => it.to_string(),
                Value::Number(_) => "a number".to_owned(),
                Value::String(_) => "a string".to_owned(),
                Value::Array(_) => "a list".to_owned(),
            };
            Some(format!("its {key} is {found}, expected an object"))
        };
        let missing = || "it has no inputSchema, expected an object".to_owned();
        let input = written.get("inputSchema");
        let why = match input {
            None => Some(missing()),
            Some(_) => schema("inputSchema", input)
                .or_else(|| schema("outputSchema", written.get("outputSchema"))),
        };
        match (why, serde_json::from_value::<Tool>(written)) {
            (_, Ok(tool)) => tool.into(),
            (Some(why), Err(_)) => Self::Wrong(name, why),
            (None, Err(error)) => Self::Wrong(name, format!("it cannot be read: {error}")),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Wrong(name, _) => name,
        }
    }
}

/// A foreign tool that can be called.
#[derive(Debug)]
pub(crate) struct ForeignTool {
    /// The name that the tool has here.
    pub(crate) name: String,
    pub(crate) server: String,
    /// The name that the tool has on its server.
    pub(crate) theirs: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    pub(crate) output_schema: Option<Value>,
    pub(crate) annotations: ToolAnnotations,
    /// A hash of everything that the server says about the tool, so that a change is noticed.
    pub(crate) fingerprint: String,
}

impl ForeignTool {
    /// Returns the first digits of the fingerprint, which models and people see. They are so many that no server can
    /// craft another definition with the same digits.
    pub(crate) fn digest(&self) -> &str {
        self.fingerprint.get(..DIGITS).unwrap_or(&self.fingerprint)
    }
}

/// Returns the SHA-256 digest of a text, in hexadecimal digits.
pub(crate) fn hex_digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tools of one server at a point in time.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    tools: BTreeMap<String, Arc<ForeignTool>>,
    refused: Vec<RefusedTool>,
}

impl Definitions {
    pub(crate) fn of(server: &str, listed: Vec<ListedTool>) -> Self {
        let mut definitions = Self::default();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for tool in &listed {
            *times.entry(tool.name().to_owned()).or_default() += 1;
        }
        for tool in listed {
            let theirs = tool.name().to_owned();
            let refusal = match (times.get(&theirs), tool) {
                (_, ListedTool::Wrong(_, why)) => Some(why),
                (Some(2..), _) => Some("the server lists several tools of this name".to_owned()),
                (_, ListedTool::Tool(tool)) => definitions.add(server, *tool).err(),
            };
            if let Some(reason) = refusal {
                let refused = RefusedTool { server: server.to_owned(), tool: theirs, reason };
                if !definitions.refused.contains(&refused) {
                    definitions.refused.push(refused);
                }
            }
        }
        definitions
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<ForeignTool>> {
        self.tools.get(name).cloned()
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = Arc<ForeignTool>> {
        self.tools.values().cloned()
    }

    pub(crate) fn refused(&self) -> &[RefusedTool] {
        &self.refused
    }

    fn add(&mut self, server: &str, tool: Tool) -> Result<(), String> {
        let written = serde_json::to_string(&tool).map_err(|error| error.to_string())?;
        let fingerprint = hex_digest(&canonical(written));
        let theirs = tool.name.into_owned();
        let name = names::ours(server, &theirs);
        if self.tools.contains_key(&name) {
            return Err(format!("another tool of the server already has the name `{name}` here"));
        }
        let object =
            |schema: Arc<rmcp::model::JsonObject>| Value::Object(Arc::unwrap_or_clone(schema));
        let (input, output) = (object(tool.input_schema), tool.output_schema.map(object));
        for (what, schema) in [("input", Some(&input)), ("output", output.as_ref())] {
            let Some(schema) = schema else { continue };
            input_schema(schema, TypeNames::JsonSchema).map_err(|problems| {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                format!("its {what} schema cannot be used: {}", problems.join("; "))
            })?;
        }
        let tool = ForeignTool {
            name: name.clone(),
            server: server.to_owned(),
            theirs,
            title: tool.title,
            description: tool.description.unwrap_or_default().into_owned(),
            input_schema: input,
            output_schema: output,
            annotations: tool.annotations.unwrap_or_default(),
            fingerprint,
        };
        self.tools.insert(name, Arc::new(tool));
        Ok(())
    }
}

/// Returns the JSON with its keys sorted, so that another order of keys does not count as a change.
fn canonical(json: String) -> String {
    toolwright::unstable::arguments::canonical(&json).unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(tools: Value) -> Definitions {
        let Value::Array(tools) = tools else { panic!("a list") };
        Definitions::of("x", tools.into_iter().map(ListedTool::read).collect())
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_reason_and_the_rest_works() {
        let definitions = listed(json!([
            {"name": "good", "inputSchema": {"type": "object"}},
            {"name": "twice", "inputSchema": {"type": "object"}},
            {"name": "bad", "inputSchema": {"type": "object", "properties": {"n": {"type": "nmuber"}}}},
            {"name": "worse", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "$ref": "#/gone"}},
            {"name": "twice", "inputSchema": {"type": "object"}},
        ]));
        let names: Vec<String> = definitions.tools().map(|it| it.name.clone()).collect();
        assert_eq!(names, ["x__good"]);
        let reasons: Vec<String> =
            definitions.refused().iter().map(|it| format!("{}: {}", it.tool, it.reason)).collect();
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        assert_eq!(reasons[0], "twice: the server lists several tools of this name");
        assert!(reasons[1].starts_with("bad: its input schema cannot be used: /properties/n/type"));
        assert!(reasons[2].starts_with("worse: its output schema cannot be used"));
    }

    #[test]
    fn a_tool_without_a_schema_is_refused_with_what_was_found_and_the_rest_works() {
        let definitions = listed(json!([
            {"name": "missing"},
            {"name": "null", "inputSchema": null},
            {"name": "true", "inputSchema": true},
            {"name": "text", "inputSchema": {"type": "object"}, "outputSchema": "x"},
            {"inputSchema": {}},
            {"name": "deep", UNREADABLE: "recursion limit exceeded"},
            {"name": "good", "inputSchema": {"type": "object"}},
        ]));
        assert_eq!(definitions.tools().map(|it| it.name.clone()).collect::<Vec<_>>(), ["x__good"]);
        let reason = |tool: &str| {
            let refused = definitions.refused().iter().find(|it| it.tool == tool);
            refused.expect(tool).reason.clone()
        };
        assert_eq!(reason("missing"), "it has no inputSchema, expected an object");
        assert_eq!(reason("null"), "its inputSchema is null, expected an object");
        assert_eq!(reason("true"), "its inputSchema is true, expected an object");
        assert_eq!(reason("text"), "its outputSchema is a string, expected an object");
        assert_eq!(reason("(without a name)"), "it cannot be read: missing field `name`");
        assert_eq!(reason("deep"), "it cannot be read: recursion limit exceeded");
    }

    #[test]
    fn every_part_of_a_definition_counts_for_its_fingerprint_and_the_order_of_keys_does_not() {
        let fingerprint = |tool: Value| {
            listed(json!([tool])).get("x__t").expect("it is listed").fingerprint.clone()
        };
        let plain = json!({"name": "t", "description": "a", "inputSchema": {"type": "object", "properties": {}}});
        let first = fingerprint(plain.clone());
        for (key, value) in [
            ("description", json!("b")),
            ("title", json!("T")),
            ("inputSchema", json!({"type": "object", "properties": {"x": {}}})),
            ("outputSchema", json!({"type": "object"})),
            ("annotations", json!({"readOnlyHint": true})),
        ] {
            let mut changed = plain.clone();
            changed[key] = value;
            assert_ne!(fingerprint(changed), first, "{key}");
        }
        let other: Value = serde_json::from_str(
            r#"{"inputSchema": {"properties": {}, "type": "object"}, "description": "a", "name": "t"}"#,
        )
        .expect("JSON");
        assert_eq!(fingerprint(other), first);
    }
}
