//! The part of a definition that comes from an [`Adaptation`](crate::adaptation::Adaptation). It is part of the tool's
//! fingerprint.

use std::fmt;

use serde_json::Value;

use super::{Danger, Definition, Exposure, Parameter};

/// The changes that an application made to a tool.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Adapted {
    /// How models see the tool; `None` if the application has not set that.
    pub exposure: Option<Exposure>,
    /// The minimum danger of each call; `None` if the application has not set one.
    pub least_danger: Option<Danger>,
    /// The reason why each call needs approval; `None` if the application requires no approval.
    pub asking: Option<String>,
    /// The arguments with a preset value.
    pub presets: Vec<PresetArgument>,
    /// The renamed arguments: the name that the tool's author chose, and the new name.
    pub renamed: Vec<(String, String)>,
    /// The schema of the final arguments, with which the tool runs; `None` if no argument has a preset value.
    pub final_schema: Option<Value>,
}

/// An argument with a preset value.
#[doc(hidden)]
#[derive(Clone, PartialEq)]
pub struct PresetArgument {
    /// The preset parameter, with its schema.
    pub parameter: Parameter,
    /// The value of the argument.
    pub value: Value,
}

/// Leaves the value out, because it may be secret.
impl fmt::Debug for PresetArgument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PresetArgument")
            .field("parameter", &self.parameter)
            .finish_non_exhaustive()
    }
}

impl Definition {
    /// Lists the arguments that have a value preset by the application, with the value. They are not in the input
    /// schema, but they are among the final arguments of each call.
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

    /// Returns the schema of the final arguments: the input schema, extended by the arguments that have a preset value.
    #[doc(hidden)]
    #[must_use]
    pub fn final_schema(&self) -> &Value {
        self.adapted.final_schema.as_ref().unwrap_or(&self.input_schema)
    }

    /// Returns the reason why the application requires approval of each call.
    #[must_use]
    pub fn asks_for(&self) -> Option<&str> {
        self.adapted.asking.as_deref()
    }

    /// Lists all parameters, including those that the application has preset.
    #[doc(hidden)]
    pub fn all_parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().chain(self.adapted.presets.iter().map(|it| &it.parameter))
    }
}
