//! Parses the state of a plugin, and validates it against the schema of its type.

use std::any::{Any, TypeId};
use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolwright::{Call, DynamicTool, Executor, Registry, Repair};

use super::PluginState;

/// The state of a plugin, without its Rust type.
pub(crate) type StateValue = Arc<dyn Any + Send + Sync>;

/// The name of the tool whose input has the type of the state. This tool only serves to parse states.
const STATE: &str = "state";

/// A converter of one plugin's states between their type and their stored form.
pub(super) struct StateReader {
    name: String,
    /// The executor that parses states; `None` for a plugin without a state.
    reader: Option<Executor>,
    typed: fn(&Value) -> Result<StateValue, String>,
    written: fn(&StateValue) -> Result<Value, String>,
    initial: fn() -> StateValue,
}

impl StateReader {
    /// Makes the reader for a type.
    ///
    /// # Errors
    /// When the type has no schema, or is not a struct.
    pub fn of<T: PluginState>() -> Result<Self, String> {
        let name = T::schema_name().into_owned();
        let is_none = TypeId::of::<T>() == TypeId::of::<()>();
        let reader = if is_none { None } else { Some(reader::<T>(&name)?) };
        Ok(Self {
            name,
            reader,
            typed: |value| {
                let value: T = T::deserialize(value).map_err(|error| error.to_string())?;
                Ok(Arc::new(value))
            },
            written: |state| match state.downcast_ref::<T>() {
                Some(state) => serde_json::to_value(state).map_err(|error| error.to_string()),
                None => Err("it is of another type".to_owned()),
            },
            initial: || Arc::new(T::default()),
        })
    }

    /// Returns the name of the state's type.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the state with which a run begins.
    pub fn initial(&self) -> StateValue {
        (self.initial)()
    }

    /// Reads a recorded value; the error has a line for each problem.
    pub fn read(&self, value: &Value) -> Result<StateValue, String> {
        self.check(value)?;
        (self.typed)(value)
    }

    /// Converts a state into its stored form. Refuses a state that could not be read again.
    pub fn write(&self, state: &StateValue) -> Result<Value, String> {
        let value = (self.written)(state)?;
        self.check(&value)?;
        (self.typed)(&value).map(|_| value)
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let call = Call::new(STATE, without_nulls(value).to_string());
        reader.examine(&call).map(drop).map_err(|error| {
            // The first line only names the tool, and the last line may suggest another input.
            let problems = error.message().lines().skip(1);
            let problems = problems.filter(|line| !line.starts_with("if this is meant"));
            let problems = problems.collect::<Vec<_>>().join("\n");
            if problems.is_empty() { error.message().to_owned() } else { problems }
        })
    }
}

/// Removes keys whose value is `null`. Serde writes such keys for an option without a value, but the schema of a tool's
/// input requires that they are omitted.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let there = object.iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

fn reader<T: DeserializeOwned + JsonSchema + Send + 'static>(
    name: &str,
) -> Result<Executor, String> {
    let schema = T::json_schema(&mut SchemaGenerator::default());
    if schema.get("type").is_none_or(|it| it != "object") {
        return Err(format!("its state `{name}` is no struct; put the value into a field of one"));
    }
    let tool = DynamicTool::typed(STATE, "Reads a state.", |_: T, _| async { Ok(()) });
    let unusable =
        |why: &dyn std::fmt::Display| format!("its state `{name}` has no usable schema: {why}");
    let registry = Registry::of([tool.repair(Repair::Off)]).map_err(|error| unusable(&error))?;
    Executor::builder(registry).unrestricted().build().map_err(|error| unusable(&error))
}
