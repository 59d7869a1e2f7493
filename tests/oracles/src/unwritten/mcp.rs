//! The Model Context Protocol: "Tools", sections *Tool Names* and *Data Types*, revision 2025-11-25 and
//! later. The published schema says only that a name is text and that a schema has the type `object`.

use serde_json::Value;

use super::{Objections, is_json_schema, name, object_root};

pub(super) fn tool(tool: &Value, objections: &mut Objections) {
    name(&tool["name"], "_-.", 128, objections);
    for key in ["inputSchema", "outputSchema"] {
        if let Some(schema) = tool.get(key) {
            let pointer = format!("/{key}");
            object_root(schema, &[], &pointer, objections);
            is_json_schema(schema, &pointer, objections);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright::dialect::Dialect;

    use crate::unwritten::objections;

    #[test]
    fn a_tool_with_a_legal_name_and_an_object_is_taken() {
        let tool = json!({"name": "trigger.create", "inputSchema": {"type": "object"}});
        assert_eq!(objections(Dialect::Mcp, &tool), [] as [&str; 0]);
    }

    #[test]
    fn a_name_with_a_space_and_a_list_as_output_are_not() {
        let tool = json!({
            "name": "two words", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"},
        });
        assert_eq!(objections(Dialect::Mcp, &tool).len(), 2);
    }
}
