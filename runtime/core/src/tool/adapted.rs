//! What of a definition comes from an [`Adaptation`](crate::adaptation::Adaptation): part of the fingerprint.

use serde_json::Value;

use super::{Danger, Definition, Exposure, Parameter};

/// What an application has changed of a tool that it did not write.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Adapted {
    /// Whether a model is shown it, where the application says so.
    pub exposure: Option<Exposure>,
    /// The least level of danger of each call.
    pub least_danger: Option<Danger>,
    /// Why each call asks a person.
    pub asking: Option<String>,
    /// The arguments that have a value.
    pub presets: Vec<PresetArgument>,
    /// The names of arguments, each with the tool's own name.
    pub renamed: Vec<(String, String)>,
    /// The schema of final arguments, where some have a value.
    pub final_schema: Option<Value>,
}

/// An argument that has a value.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct PresetArgument {
    /// The argument, with its schema.
    pub parameter: Parameter,
    /// Its value.
    pub value: Value,
}

impl Definition {
    /// Lists the arguments to which the application has given a value, by name. They are no part of the input schema, and are among
    /// the final arguments of each call.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{Adaptation, DynamicTool, Registry};
    ///
    /// let schema = json!({"type": "object", "properties": {"owner": {"type": "string"}}});
    /// let list = DynamicTool::new("list_issues", "Lists issues.", schema, |_, _| async { Ok(()) });
    ///
    /// let registry = Registry::of([list.adapted(Adaptation::new().preset("owner", "ada"))])?;
    /// let definition = registry.get("list_issues").expect("registered");
    /// assert_eq!(definition.presets().collect::<Vec<_>>(), [("owner", &json!("ada"))]);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn presets(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.adapted.presets.iter().map(|it| (it.parameter.name.as_str(), &it.value))
    }

    /// Returns the schema of final arguments: that of the input, with the arguments that have a value.
    #[doc(hidden)]
    #[must_use]
    pub fn final_schema(&self) -> &Value {
        self.adapted.final_schema.as_ref().unwrap_or(&self.input_schema)
    }

    /// Returns the reason for which the application has each call ask a person.
    #[must_use]
    pub fn asks_for(&self) -> Option<&str> {
        self.adapted.asking.as_deref()
    }

    /// Lists the parameters, those that have a value among them.
    #[doc(hidden)]
    pub fn all_parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().chain(self.adapted.presets.iter().map(|it| &it.parameter))
    }
}
