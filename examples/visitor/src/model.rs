//! A model that needs no account: it asks for a colour, and then says what it does with this colour.

use futures::future::{BoxFuture, FutureExt as _, ready};
use toolwright::agent::{Message, Model, ModelAnswer, ModelError, ModelRequest};
use toolwright::dialect::Dialect;
use toolwright::provider::ToolCall;

/// The model.
pub struct Painter;

impl Model for Painter {
    fn name(&self) -> &str {
        "painter"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let answer = match request.history.last() {
            Some(Message::ToolResults(results)) => {
                let said = results
                    .first()
                    .map(|(_, answer)| (answer.is_error(), answer.text().to_string()));
                let (is_error, said) = said.unwrap_or((true, String::new()));
                // The result is JSON.
                let colour = serde_json::from_str::<String>(&said).ok().filter(|_| !is_error);
                ModelAnswer::text(match colour {
                    Some(colour) => format!("The door is painted {colour}."),
                    None => format!("The door stays as it is. {said}"),
                })
            }
            _ => {
                let id = Some("call_1".to_owned());
                let arguments = r#"{"prompt":"Which colour shall the door have?"}"#.to_owned();
                ModelAnswer::new(
                    "I ask the visitor.",
                    vec![ToolCall { id, name: "pick_colour".to_owned(), arguments }],
                )
            }
        };
        ready(Ok(answer)).boxed()
    }
}
