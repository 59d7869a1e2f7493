//! A call of a tool by its handle, with named arguments and a typed result.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Calls;
use crate::call::Call;
use crate::error::ToolError;
use crate::error_kind;
use crate::output::Answer;
use crate::spec::Handle;

/// A call of a tool by its handle, made by [`Calls::to`]. Arguments are added by name, and the tool reads them with the
/// same strict reader that reads the arguments of a model.
///
/// ```
/// use toolwright::{Answer, Calls, Output, tool};
///
/// /// Counts the words of a text.
/// #[tool(effect = read)]
/// async fn count_words(
///     /// Which text.
///     text: String,
/// ) -> usize {
///     text.split_whitespace().count()
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let calls = Calls::test(|call| {
///     assert_eq!(call.arguments(), r#"{"text":"to be"}"#);
///     Answer::from(Output::text("2"))
/// });
/// let number: String = calls.to(COUNT_WORDS).with("text", "to be").await_as().await?;
/// assert_eq!(number, "2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a call is made when it is awaited"]
#[derive(Debug)]
pub struct CallTo<'a> {
    calls: &'a Calls,
    tool: Handle,
    /// The members of the JSON object, as text: a JSON value could not represent every number exactly.
    arguments: Result<String, ToolError>,
}

impl<'a> CallTo<'a> {
    pub(super) fn new(calls: &'a Calls, tool: Handle) -> Self {
        Self { calls, tool, arguments: Ok(String::new()) }
    }

    /// Adds an argument by its name. The call fails if an argument is added twice, because the reader refuses a
    /// repeated key, or if a value has no JSON form.
    pub fn with(mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Self {
        if let Ok(arguments) = &mut self.arguments {
            match member(name, value) {
                Ok(member) if arguments.is_empty() => *arguments = member,
                Ok(member) => {
                    arguments.push(',');
                    arguments.push_str(&member);
                }
                Err(error) => {
                    let message = format!(
                        "`{}` was not called: its argument `{name}` has no JSON form",
                        self.tool.name()
                    );
                    self.arguments =
                        Err(ToolError::new("invalid_argument", message).caused_by(error));
                }
            }
        }
        self
    }

    /// Makes the call and returns its answer as a value of type `T`: the type that the tool returns, or a type with the
    /// same JSON form.
    ///
    /// # Errors
    /// The error of the call; `invalid_argument` if an argument has no JSON form; `unexpected_answer` if the answer
    /// cannot be parsed as a `T`; the error for a tool that the run does not have.
    pub async fn await_as<T: DeserializeOwned>(self) -> Result<T, ToolError> {
        let name = self.calls.0.name_of(self.tool)?;
        let arguments = format!("{{{}}}", self.arguments?);
        let answer = self.calls.call(&Call::new(&*name, arguments)).await;
        if let Some(error) = answer.error() {
            return Err(error.with_more(None));
        }
        value_of(&answer).map_err(|cause| {
            let expected = std::any::type_name::<T>();
            let message = format!("`{name}` did not answer with a value of the type `{expected}`");
            ToolError::new(error_kind::UNEXPECTED_ANSWER, message).caused_by(cause)
        })
    }
}

/// Formats one member of a JSON object: its name, a colon and its value.
fn member(name: &str, value: &(impl Serialize + ?Sized)) -> Result<String, serde_json::Error> {
    Ok(format!("{}:{}", serde_json::to_string(name)?, serde_json::to_string(value)?))
}

/// Parses the answer as a value. A text answer is parsed as a string, because tools that return a `String` answer
/// with text.
fn value_of<T: DeserializeOwned>(answer: &Answer) -> Result<T, serde_json::Error> {
    if let Some(json) = answer.json() {
        return serde_json::from_str(json);
    }
    let text = || Value::String(answer.text().into_owned());
    serde_json::from_value(answer.structured().unwrap_or_else(text))
}
