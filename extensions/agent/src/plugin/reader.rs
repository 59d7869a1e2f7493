//! Reads the state of a plugin, held to the schema of its type.

use std::any::{Any, TypeId};
use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolwright::{Call, DynamicTool, Executor, Registry, Repair};

use super::PluginState;

/// The state of a plugin, whose type its reader knows.
pub(crate) type StateValue = Arc<dyn Any + Send + Sync>;

/// The tool by whose input the type is read. It is in no registry but its own.
const STATE: &str = "state";

/// Reads and writes values of one type.
pub(super) struct StateReader {
    name: String,
    /// Nothing for a plugin without a state.
    reader: Option<Executor>,
    typed: fn(&Value) -> Result<StateValue, String>,
    written: fn(&StateValue) -> Result<Value, String>,
    initial: fn() -> StateValue,
}

impl StateReader {
    /// Makes the reader of a type.
    ///
    /// # Errors
    /// When no schema can be made of it, or it is no struct.
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

    /// Returns the name of the type.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the state with which a run begins.
    pub fn initial(&self) -> StateValue {
        (self.initial)()
    }

    /// Reads a recorded value: a line for each problem.
    pub fn read(&self, value: &Value) -> Result<StateValue, String> {
        self.check(value)?;
        (self.typed)(value)
    }

    /// Writes a state as it is recorded. One that could not be read again is refused.
    pub fn write(&self, state: &StateValue) -> Result<Value, String> {
        let value = (self.written)(state)?;
        self.check(&value)?;
        (self.typed)(&value).map(|_| value)
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let call = Call::new(STATE, without_nulls(value).to_string());
        reader.examine(&call).map(drop).map_err(|error| {
            // The first line says of which tool the input is; a last one may propose another input.
            let problems = error.message().lines().skip(1);
            let problems = problems.filter(|line| !line.starts_with("if this is meant"));
            let problems = problems.collect::<Vec<_>>().join("\n");
            if problems.is_empty() { error.message().to_owned() } else { problems }
        })
    }
}

/// The value without keys that are `null`: serde writes an option without a value so, and the schema of a tool's input has it
/// left out.
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
