//! Renders an answer in the form of the Model Context Protocol.

use serde_json::{Value, json};

use toolwright_core::output::{Answer, Content};

/// Renders an answer as a `CallToolResult` of the Model Context Protocol.
///
/// ```
/// use toolwright::dialect::call_tool_result;
/// use toolwright::{Call, Executor, Registry, tool};
///
/// /// Answers.
/// #[tool(effect = read)]
/// async fn ping() -> &'static str {
///     "pong"
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([PING])?).build()?;
/// let answer = executor.call(&Call::new("ping", "{}")).await;
/// assert_eq!(
///     call_tool_result(&answer),
///     serde_json::json!({"content": [{"type": "text", "text": "pong"}]})
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn call_tool_result(answer: &Answer) -> Value {
    let blocks: Vec<Value> = answer.content().iter().map(block).collect();
    let mut result = json!({"content": blocks});
    // The protocol allows only objects as structured content. Other values are sent as text only.
    if let Some(structured @ Value::Object(_)) = answer.structured() {
        result["structuredContent"] = structured;
    }
    if answer.is_error() {
        result["isError"] = true.into();
    }
    result
}

fn block(content: &Content<'_>) -> Value {
    match content {
        Content::Text(text) | Content::Json(text) => json!({"type": "text", "text": text}),
        Content::Image { media_type, data } => {
            json!({"type": "image", "mimeType": media_type, "data": data})
        }
        Content::Audio { media_type, data } => {
            json!({"type": "audio", "mimeType": media_type, "data": data})
        }
        // The protocol has no block for documents. A resource is used instead, which needs a URI.
        Content::Document { name, media_type, data } => {
            let uri = format!("document:{}", name.as_deref().unwrap_or_default());
            json!({"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}})
        }
        Content::Resource { uri, media_type, text } => {
            let mut resource = json!({"uri": uri});
            if let Some(media_type) = media_type {
                resource["mimeType"] = media_type.as_ref().into();
            }
            match text {
                Some(text) => {
                    resource["text"] = text.as_ref().into();
                    json!({"type": "resource", "resource": resource})
                }
                None => {
                    resource["type"] = "resource_link".into();
                    resource["name"] = uri.as_ref().into();
                    resource
                }
            }
        }
    }
}
