//! The value of a type that a run ends in: how a model is asked for it, and whether an answer is one. Pure.

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

/// A type of which a run ends in a value. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Output(Arc<Inner>);

struct Inner {
    expected: Expected,
    format: OutputFormat,
    /// Reads the value, and runs nothing.
    reader: Executor,
    /// The value is the only key of the object that the model writes, because it is no object itself.
    is_wrapped: bool,
    checks: Option<Check>,
}

/// What a value is refused for that its schema takes.
type Check = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// A value that is no object, in one, as providers ask for objects.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrappedValue<T> {
    /// The result.
    #[expect(dead_code, reason = "its type makes the schema, and the reader reads it")]
    value: T,
}

impl Output {
    /// Makes it of a type.
    pub(crate) fn of<T>() -> Result<Self, OutputError>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        Self::checked::<T>(None)
    }

    /// Makes it of a type, some of whose values are refused all the same.
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

    /// What the state of a run records of it.
    pub(crate) fn expected(&self) -> &Expected {
        &self.0.expected
    }

    /// The name of the type.
    pub(crate) fn name(&self) -> &str {
        &self.0.expected.name
    }

    /// Refuses a type that the models of an agent cannot be asked for beside these tools.
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

    /// The format, for a model that answers in it.
    pub(super) fn format_of(&self, model: &dyn Model) -> Option<&OutputFormat> {
        self.is_format_of(model).then_some(&self.0.format)
    }

    fn is_format_of(&self, model: &dyn Model) -> bool {
        model.takes_format(&self.0.format)
    }

    /// The tools together with the one by which a model gives the value.
    pub(super) fn listed(&self, tools: &Catalog) -> Catalog {
        tools.followed_by(self.0.format.catalog())
    }

    /// Settings by which a model has to call a tool, where it can be asked so.
    pub(super) fn settings(
        model: &dyn Model,
        settings: &ModelSettings,
        max_tokens: Option<u32>,
        has_others: bool,
    ) -> ModelSettings {
        let choice = match &settings.tool_choice {
            // An application that wants one tool knows why.
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

    /// Reads what a model gave as the value: its JSON, repaired as the input of a tool is, or everything that is wrong with it.
    pub(super) fn read(&self, text: &str) -> Result<String, String> {
        let call = Call::new(FINAL_ANSWER, text);
        let facts = self.0.reader.examine(&call).map_err(|error| {
            match error.message().split_once('\n') {
                // The first line says of which tool the input is, and the hint to make the call again.
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

    /// Asks the rule of the application about a value, as the state of a run records it.
    pub(crate) fn check(&self, value: &str) -> Result<(), String> {
        let Some(check) = &self.0.checks else { return Ok(()) };
        // A rule that panics refuses the value, so that the answer, which was paid for, is recorded.
        catch_unwind(AssertUnwindSafe(|| check(value)))
            .unwrap_or_else(|_| Err("the rule for the value panicked".to_owned()))
    }
}

/// A tool that takes the value and does nothing. As its danger is not `safe`, a value that was cut short is no value.
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
    /// No schema can be made of the type that says what it takes.
    #[error("a run cannot end in a value of `{name}`: {why}")]
    Schema {
        /// The type.
        name: String,
        /// Why, with the place.
        why: String,
    },
    /// The provider of a model would refuse the schema of the type, or the tools together with it.
    #[error("a run cannot end in a value of `{name}`: {why}")]
    Refused {
        /// The type.
        name: String,
        /// Why, with the place.
        #[source]
        why: DialectError,
    },
    /// A tool of the agent has the name by which models give the value.
    #[error(
        "the tool `{tool}` has the name by which a model gives the value that its run ends in; give the tool another name"
    )]
    NameTaken {
        /// The name.
        tool: &'static str,
    },
    /// The run would have two ends of different kinds.
    #[error(
        "the run ends in a value of `{name}`, and would also end when the tool `{tool}`, which is `terminal`, succeeds; leave one of the two out"
    )]
    TwoEnds {
        /// The type.
        name: String,
        /// The tool.
        tool: String,
    },
}
toolwright::unstable::debug_as_sentence!(OutputError);
