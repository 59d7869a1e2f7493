//! The output type in which a run ends: how a model is asked for the value, and whether an answer is a valid value.
//! Pure.

mod expected;

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use toolwright::dialect::DialectError;
use toolwright::repair::replay;
use toolwright::{Call, Catalog, DynamicTool, Executor, Registry, ToolError};

pub(crate) use self::expected::Expected;
use crate::model::{FINAL_ANSWER, Model, ModelSettings, OutputFormat, ToolChoice};

/// The output type in which a run ends. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Output(Arc<Inner>);

struct Inner {
    expected: Expected,
    format: OutputFormat,
    /// An executor whose only tool has the value as its input. It checks and parses values, and runs nothing.
    reader: Executor,
    /// Whether the value is wrapped in an object with one key, because it is not an object itself.
    is_wrapped: bool,
    checks: Option<Check>,
}

/// An additional check of values that fit the schema; the model reads the error.
type Check = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// A value that is not an object, wrapped in one, because providers require objects.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrappedValue<T> {
    /// The result.
    #[expect(dead_code, reason = "its type makes the schema, and the reader reads it")]
    value: T,
}

impl Output {
    /// Makes the output for a type.
    pub(crate) fn of<T>() -> Result<Self, OutputError>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        Self::checked::<T>(None)
    }

    /// Makes the output for a type, with a check that may refuse values that fit the schema.
    pub(crate) fn validated<T>(
        validate: impl Fn(&T) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Result<Self, OutputError>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        let check = move |value: &str| {
            let value: T = serde_json::from_str(value).map_err(|error| error.to_string())?;
            validate(&value).map_err(|error| match error.next_action() {
                Some(hint) => format!("{}\n{hint}", error.message()),
                None => error.message().to_owned(),
            })
        };
        Self::checked::<T>(Some(Box::new(check)))
    }

    fn checked<T>(checks: Option<Check>) -> Result<Self, OutputError>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        let expected = Expected::of::<T>();
        let name = &expected.name;
        let schema = T::json_schema(&mut SchemaGenerator::default());
        let is_wrapped = schema.get("type").is_none_or(|it| it != "object");
        let docs = schema.get("description").and_then(|it| it.as_str()).unwrap_or_default();
        let description = format!(
            "{docs}\n\nCall this once you have all that it needs, and call nothing beside it: what you give here is the result, and ends the task.",
        );
        let description = description.trim_start();
        let tool = match is_wrapped {
            true => reading::<WrappedValue<T>>(description),
            false => reading::<T>(description),
        };
        let unusable = |why: &dyn fmt::Display| OutputError::Schema {
            name: name.clone(),
            why: why.to_string(),
        };
        let registry = Registry::of([tool]).map_err(|error| unusable(&error))?;
        let format = OutputFormat::new(registry.catalog());
        let reader = Executor::builder(registry).unrestricted().build();
        let reader = reader.map_err(|error| unusable(&error))?;
        Ok(Self(Arc::new(Inner { expected, format, reader, is_wrapped, checks })))
    }

    /// Returns the form in which the state of a run records the output type.
    pub(crate) fn expected(&self) -> &Expected {
        &self.0.expected
    }

    /// Returns the name of the output's type.
    pub(crate) fn name(&self) -> &str {
        &self.0.expected.name
    }

    /// Refuses the type if a value of it cannot be requested from this model together with these tools.
    pub(crate) fn fits(&self, model: &dyn Model, tools: &Catalog) -> Result<(), OutputError> {
        if tools.get(FINAL_ANSWER).is_some() {
            return Err(OutputError::NameTaken { tool: FINAL_ANSWER });
        }
        let terminal = tools.definitions().find(|it| it.terminal);
        if let Some(tool) = terminal {
            let (name, tool) = (self.0.expected.name.clone(), tool.name.clone());
            return Err(OutputError::TwoEnds { name, tool });
        }
        if self.is_format_of(model) {
            return Ok(());
        }
        let listed = self.listed(tools);
        model.dialects().into_iter().try_for_each(|dialect| match listed.listing(dialect) {
            Ok(_) => Ok(()),
            Err(why) => Err(OutputError::Refused { name: self.0.expected.name.clone(), why }),
        })
    }

    /// Returns the format, if the model can answer in a format.
    pub(super) fn format_of(&self, model: &dyn Model) -> Option<&OutputFormat> {
        self.is_format_of(model).then_some(&self.0.format)
    }

    fn is_format_of(&self, model: &dyn Model) -> bool {
        model.takes_format(&self.0.format)
    }

    /// Adds the tool by which a model gives the value.
    pub(super) fn listed(&self, tools: &Catalog) -> Catalog {
        tools.followed_by(self.0.format.catalog())
    }

    /// Returns settings that force the model to call a tool, if its provider supports that.
    pub(super) fn settings(
        model: &dyn Model,
        settings: &ModelSettings,
        max_tokens: Option<u32>,
        has_others: bool,
    ) -> ModelSettings {
        let choice = match &settings.tool_choice {
            // The application has chosen one tool on purpose.
            ToolChoice::Tool(_) => return settings.clone(),
            ToolChoice::Auto | ToolChoice::Required if has_others => ToolChoice::Required,
            _ => ToolChoice::Tool(FINAL_ANSWER.to_owned()),
        };
        let forced = settings.clone().tool_choice(choice);
        match model.check(&forced, max_tokens) {
            Ok(()) => forced,
            Err(_) => settings.clone().tool_choice(ToolChoice::Auto),
        }
    }

    /// Parses the value that a model gave. Returns its JSON, repaired like the input of a tool, or all of its problems.
    pub(super) fn read(&self, text: &str) -> Result<String, String> {
        let call = Call::new(FINAL_ANSWER, text);
        let facts = self.0.reader.examine(&call).map_err(|error| {
            match error.message().split_once('\n') {
                // The first line only names the tool.
                Some((_, problems)) => problems.to_owned(),
                None => error.message().to_owned(),
            }
        })?;
        let json = match facts.repairs() {
            None => Cow::Borrowed(text),
            Some(repairs) => replay(text, repairs.changes())
                .map(Cow::Owned)
                .ok_or("the repairs of the value cannot be written into its text")?,
        };
        let value = match self.0.is_wrapped {
            false => json.trim().to_owned(),
            true => unwrap_value(&json).map_err(|error| error.to_string())?,
        };
        self.check(&value).map(|()| value)
    }

    /// Applies the application's check to a value, in the form that the state of a run records.
    pub(crate) fn check(&self, value: &str) -> Result<(), String> {
        let Some(check) = &self.0.checks else { return Ok(()) };
        // A panicking check refuses the value, so that the answer, which was paid for, is still recorded.
        catch_unwind(AssertUnwindSafe(|| check(value)))
            .unwrap_or_else(|_| Err("the rule for the value panicked".to_owned()))
    }
}

/// Makes a tool that takes the value and does nothing. The tool's danger is not `safe`, so that a truncated value is
/// refused.
fn reading<A: DeserializeOwned + JsonSchema + Send + 'static>(description: &str) -> DynamicTool {
    DynamicTool::typed(FINAL_ANSWER, description, |_: A, _| async { Ok(()) }).sinks(None::<&str>)
}

fn unwrap_value(json: &str) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct WrappedJson<'a> {
        #[serde(borrow)]
        value: &'a RawValue,
    }
    serde_json::from_str::<WrappedJson<'_>>(json).map(|it| it.value.get().to_owned())
}

impl fmt::Debug for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Output").field(&self.0.expected.name).finish()
    }
}

/// Why a run cannot end in a value of a type.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// No schema can be made from the type.
    #[error("a run cannot end in a value of `{name}`: {why}")]
    Schema {
        /// The name of the type.
        name: String,
        /// The reason, with its location.
        why: String,
    },
    /// The provider of a model would refuse the schema of the type, alone or together with the tools.
    #[error("a run cannot end in a value of `{name}`: {why}")]
    Refused {
        /// The name of the type.
        name: String,
        /// The reason, with its location.
        #[source]
        why: DialectError,
    },
    /// A tool of the agent has the name of the tool by which models give the value.
    #[error(
        "the tool `{tool}` has the name by which a model gives the value that its run ends in; give the tool another name"
    )]
    NameTaken {
        /// The name of the tool.
        tool: &'static str,
    },
    /// The run could end in two ways: in a value of the type, or by a terminal tool.
    #[error(
        "the run ends in a value of `{name}`, and would also end when the tool `{tool}`, which is `terminal`, succeeds; leave one of the two out"
    )]
    TwoEnds {
        /// The name of the type.
        name: String,
        /// The name of the tool.
        tool: String,
    },
}
toolwright::unstable::debug_as_sentence!(OutputError);
