//! The fetched documents judge: each takes what it should and refuses what it should not.

use oracles::document::Document;
use serde_json::{Value, json};

fn taken(document: Document, definition: &str, value: &Value) {
    let objections = document.definition(definition).unwrap().objections(value);
    assert!(objections.is_empty(), "{definition} refuses {value}: {objections:?}");
}

fn refused(document: Document, definition: &str, value: &Value) {
    let objections = document.definition(definition).unwrap().objections(value);
    assert!(!objections.is_empty(), "{definition} takes {value}");
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
}

#[test]
fn anthropic_takes_a_closed_tool_with_a_legal_name() {
    let tool = json!({
        "name": "read_file", "description": "Reads.", "input_schema": schema(), "strict": true,
    });
    taken(Document::Anthropic, "Tool", &tool);
    taken(Document::Anthropic, "CreateMessageParams.tools", &json!([tool]));
    let other = |key: &str, value: Value| {
        let mut tool = tool.clone();
        tool[key] = value;
        tool
    };
    refused(Document::Anthropic, "Tool", &other("name", json!("read.file")));
    refused(Document::Anthropic, "Tool", &other("inputSchema", schema()));
    refused(Document::Anthropic, "Tool", &other("input_schema", json!({"type": "array"})));
    refused(Document::Anthropic, "CreateMessageParams.tools", &json!([other("danger", json!(1))]));
}

#[test]
fn anthropic_takes_a_call_and_its_result() {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}});
    taken(Document::Anthropic, "RequestToolUseBlock", &call);
    refused(Document::Anthropic, "RequestToolUseBlock", &json!({"type": "tool_use", "id": "a b"}));
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "text"});
    taken(Document::Anthropic, "RequestToolResultBlock", &result);
    taken(Document::Anthropic, "InputMessage", &json!({"role": "user", "content": [result]}));
    let wrong = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": {"a": 1}});
    refused(Document::Anthropic, "RequestToolResultBlock", &wrong);
    refused(Document::Anthropic, "InputMessage", &json!({"role": "tool", "content": "text"}));
}

#[test]
fn openai_chat_takes_a_function_inside_and_responses_one_flat() {
    let inside = json!({"type": "function", "function": {"name": "f", "parameters": schema()}});
    taken(Document::OpenAi, "ChatCompletionTool", &inside);
    taken(Document::OpenAi, "CreateChatCompletionRequest.tools", &json!([inside]));
    refused(Document::OpenAi, "FunctionTool", &inside);
    let flat = json!({"type": "function", "name": "f", "parameters": schema(), "strict": false});
    taken(Document::OpenAi, "FunctionTool", &flat);
    taken(Document::OpenAi, "ToolsArray", &json!([flat]));
    refused(Document::OpenAi, "ChatCompletionTool", &flat);
    refused(Document::OpenAi, "ToolsArray", &json!([inside]));
}

#[test]
fn openai_takes_calls_and_results_of_both_apis() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    taken(Document::OpenAi, "ChatCompletionMessageToolCall", &call);
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "text"});
    taken(Document::OpenAi, "ChatCompletionRequestToolMessage", &result);
    let image = json!({"role": "tool", "tool_call_id": "c", "content": [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ]});
    refused(Document::OpenAi, "ChatCompletionRequestToolMessage", &image);

    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    taken(Document::OpenAi, "FunctionToolCall", &call);
    let result = json!({"type": "function_call_output", "call_id": "c", "output": "text"});
    taken(Document::OpenAi, "FunctionCallOutputItemParam", &result);
    let wrong = json!({"type": "function_call_output", "call_id": "c", "output": {"a": 1}});
    refused(Document::OpenAi, "FunctionCallOutputItemParam", &wrong);
}

#[test]
fn gemini_takes_its_own_subset_and_no_unknown_name() {
    let declaration = json!({"name": "f", "description": "Does.", "parameters": {
        "type": "OBJECT",
        "properties": {"n": {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "1"}},
    }});
    taken(Document::Gemini, "FunctionDeclaration", &declaration);
    let tools = json!([{"functionDeclarations": [declaration]}]);
    taken(Document::Gemini, "GenerateContentRequest.tools", &tools);
    for unknown in ["additionalProperties", "const", "$ref", "oneOf"] {
        let mut wrong = declaration.clone();
        wrong["parameters"][unknown] = json!("x");
        refused(Document::Gemini, "FunctionDeclaration", &wrong);
    }
    let mut listed = declaration;
    listed["parameters"]["type"] = json!(["OBJECT", "NULL"]);
    refused(Document::Gemini, "FunctionDeclaration", &listed);
}

#[test]
fn gemini_takes_a_call_and_its_result() {
    let call = json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]});
    taken(Document::Gemini, "Content", &call);
    let result = json!({"role": "user", "parts": [
        {"functionResponse": {"name": "f", "response": {"result": 1}}},
    ]});
    taken(Document::Gemini, "Content", &result);
    let wrong = json!({"parts": [{"functionResponse": {"name": "f", "response": "text"}}]});
    refused(Document::Gemini, "Content", &wrong);
}

#[test]
fn both_revisions_of_the_protocol_take_a_tool_with_an_object_as_input() {
    for document in [Document::Mcp, Document::Mcp2025] {
        let tool = json!({
            "name": "f", "inputSchema": schema(), "annotations": {"readOnlyHint": true},
        });
        taken(document, "Tool", &tool);
        refused(document, "Tool", &json!({"name": "f", "input_schema": schema()}));
        refused(document, "Tool", &json!({"name": "f", "inputSchema": {"type": "array"}}));
        let wrong = json!({
            "name": "f", "inputSchema": schema(), "annotations": {"readOnlyHint": "yes"},
        });
        refused(document, "Tool", &wrong);
    }
    taken(Document::Mcp2025, "ListToolsResult", &json!({"tools": []}));
    taken(Document::Mcp2025, "CallToolResult", &json!({"content": [{"type": "text", "text": ""}]}));
    refused(Document::Mcp2025, "CallToolResult", &json!({"content": "text"}));
}
