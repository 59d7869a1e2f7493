//! The tools of one server as they are defined there: under our names, with a fingerprint of each, and with reasons for
//! those that are refused. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolwright::unstable::foreign::{TypeNames, input_schema};

use super::RefusedTool;
use super::names;

/// The kind of the error of a call whose tool is defined differently now.
pub(crate) const CHANGED: &str = "definition_changed";

/// One foreign tool that can be called.
#[derive(Debug, PartialEq)]
pub(crate) struct ForeignTool {
    /// Its name here.
    pub(crate) name: String,
    pub(crate) server: String,
    /// Its name there.
    pub(crate) theirs: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    pub(crate) output_schema: Option<Value>,
    pub(crate) annotations: ToolAnnotations,
    /// Of everything that the server says of it.
    pub(crate) fingerprint: String,
}

/// The tools of one server at one time.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    tools: BTreeMap<String, Arc<ForeignTool>>,
    refused: Vec<RefusedTool>,
}

impl Definitions {
    pub(crate) fn of(server: &str, listed: Vec<Tool>) -> Self {
        let mut definitions = Self::default();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for tool in &listed {
            *times.entry(tool.name.to_string()).or_default() += 1;
        }
        for tool in listed {
            let theirs = tool.name.to_string();
            let refusal = match times.get(&theirs) {
                Some(2..) => Some("the server lists several tools of this name".to_owned()),
                _ => definitions.add(server, tool).err(),
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
        let fingerprint =
            Sha256::digest(canonical(written)).into_iter().map(|it| format!("{it:02x}"));
        let fingerprint = fingerprint.collect();
        let theirs = tool.name.into_owned();
        let name = names::ours(server, &theirs);
        if self.tools.contains_key(&name) {
            return Err(format!("another tool of the server is `{name}` here"));
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

/// Keys in one order, so that a server that writes them in another has not changed anything.
fn canonical(json: String) -> String {
    toolwright::unstable::arguments::canonical(&json).unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(tools: Value) -> Definitions {
        Definitions::of("x", serde_json::from_value(tools).expect("tools"))
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
