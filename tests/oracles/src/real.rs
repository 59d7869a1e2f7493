//! Definitions of real functions.

use serde_json::Value;

use crate::fetched::{self, Missing};

/// A function as somebody defined it.
#[derive(Debug, Clone)]
pub struct Function {
    /// The question in which it stands.
    pub source: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its parameters, in type names of its own.
    pub parameters: Value,
}

/// All of them, as often as they are asked about.
///
/// # Errors
/// Where they were not fetched.
pub fn functions() -> Result<Vec<Function>, Missing> {
    let lines = fetched::text("bfcl/definitions.jsonl")?;
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    Ok(lines.lines().map(read).map(Function::from).collect())
}

impl From<Value> for Function {
    fn from(mut line: Value) -> Self {
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let (source, name, description) = (text("source"), text("name"), text("description"));
        Self { source, name, description, parameters: line["parameters"].take() }
    }
}

#[cfg(test)]
mod tests {
    use super::functions;

    #[test]
    fn every_line_is_a_function_with_a_name_and_parameters() {
        let functions = functions().unwrap();
        assert_eq!(functions.len(), 8_726);
        let whole = |it: &&super::Function| !it.name.is_empty() && it.parameters.is_object();
        assert_eq!(functions.iter().filter(whole).count(), functions.len());
    }
}
