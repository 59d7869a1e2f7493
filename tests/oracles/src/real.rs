//! Definitions of real functions, and what users say who need them.

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

/// What a user says, and the functions that have to be called for it.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// What the user says.
    pub words: String,
    /// The functions, each once.
    pub tools: Vec<Function>,
}

/// All questions of which the right calls are known.
///
/// # Errors
/// Where they were not fetched.
pub fn questions() -> Result<Vec<Question>, Missing> {
    let lines = fetched::text("bfcl/questions.jsonl")?;
    let read = |line: &str| {
        let mut line = serde_json::from_str::<Value>(line).unwrap_or_default();
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let (id, words) = (text("id"), text("words"));
        let tools = match line["tools"].take() {
            Value::Array(tools) => tools.into_iter().map(Function::from).collect(),
            _ => Vec::new(),
        };
        Question { id, words, tools }
    };
    Ok(lines.lines().map(read).collect())
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
    use super::{functions, questions};

    #[test]
    fn every_line_is_a_function_with_a_name_and_parameters() {
        let functions = functions().unwrap();
        assert_eq!(functions.len(), 8_726);
        let whole = |it: &&super::Function| !it.name.is_empty() && it.parameters.is_object();
        assert_eq!(functions.iter().filter(whole).count(), functions.len());
    }

    #[test]
    fn every_question_has_words_and_functions() {
        let questions = questions().unwrap();
        assert_eq!(questions.len(), 2_501);
        let whole = |it: &&super::Question| !it.words.is_empty() && !it.tools.is_empty();
        assert_eq!(questions.iter().filter(whole).count(), questions.len());
    }
}
