//! A stand-in for a model: it answers by a script and opens no connection.
use serde_json::{Value, json};

/// Sends a request to the model, and returns the body of its response. An HTTP client goes here: it posts the request
/// to the provider, as it is, with the key of your account.
pub async fn send(request: &str) -> serde_json::Result<String> {
    let request: Value = serde_json::from_str(request)?;
    let messages = request["messages"].as_array().map_or(0, Vec::len);
    let content = match messages {
        1 => json!([
            { "type": "text", "text": "I look the articles up." },
            call("toolu_1", "price_of", json!({ "article": "tea" })),
            call("toolu_2", "price_of", json!({ "article": "honey" })),
            call("toolu_3", "price_of", json!({ "article": "coffee" })),
        ]),
        _ => {
            let answer = "Tea and honey cost 11.50 together. There is no coffee.";
            json!([call("toolu_4", "finish", json!({ "answer": answer }))])
        }
    };
    serde_json::to_string(&json!({ "type": "message", "role": "assistant", "content": content }))
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}
