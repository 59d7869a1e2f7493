//! Remembers the definition with which each tool last ran, so that a person who is asked about the tool's next call
//! sees the changes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::McpServers;
use super::definition::ForeignTool;
use super::names;
use super::untrusted::escaped;

/// How many characters of the old and of the new text a person is shown.
const LONGEST: usize = 2000;

/// How many characters before the first difference are shown.
const BEFORE: usize = 100;

/// The parts of a tool's definition that a person reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ReadableDefinition {
    definition: String,
    description: String,
    input_schema: Value,
}

/// The definitions, by the names under which models see the tools. They are also in a file if they have to outlive the
/// process.
#[derive(Debug, Default)]
pub(super) struct KnownDefinitions {
    file: Option<PathBuf>,
    tools: Mutex<BTreeMap<String, ReadableDefinition>>,
}

impl McpServers {
    /// Remembers in this file the definition with which each tool last ran. A person who is asked about a call then
    /// sees what the tool's server has changed since, even after a restart. Without a file, the definitions are lost
    /// when the process ends. No tool of an agent should be able to write the file.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    pub fn remember_in(self, file: impl AsRef<Path>) -> io::Result<Self> {
        *self.0.known.write().unwrap_or_else(PoisonError::into_inner) =
            KnownDefinitions::read(file.as_ref())?;
        Ok(self)
    }

    /// Returns the change in a tool's definition since the tool last ran, for the person who is asked about a call of
    /// the tool. The tool's server need not run.
    pub(super) fn change(&self, tool: &ForeignTool) -> Option<String> {
        self.0.known.read().unwrap_or_else(PoisonError::into_inner).change(tool)
    }

    /// Returns the change in a tool since it last ran, for the person who is asked about a call of the tool as this
    /// definition says (`Server::digest_of`).
    pub(crate) fn change_to(&self, name: &str, definition: &str) -> Option<String> {
        let server = self.0.servers.get(names::server(name)?)?;
        let tool = server.last_listed(name).filter(|tool| server.digest_of(tool) == definition);
        match tool {
            Some(tool) => self.change(&tool),
            None => {
                let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
                known.differs(name, |fingerprint| server.digest(fingerprint) == definition)
            }
        }
    }
}

impl KnownDefinitions {
    /// Reads the definitions of a file; if the file does not exist yet, there are none.
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        let tools = match std::fs::read(file) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { file: Some(file.to_owned()), tools: Mutex::new(tools) })
    }

    /// Records the definition with which a tool was called.
    pub(super) fn runs(&self, tool: &ForeignTool) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if tools.get(&tool.name).is_some_and(|was| was.definition == tool.fingerprint) {
            return;
        }
        tools.insert(tool.name.clone(), ReadableDefinition::of(tool));
        let Some(file) = &self.file else { return };
        if let Err(error) = write(file, &tools) {
            let file = file.display();
            tracing::warn!(%file, %error, "the definition of a foreign tool that ran cannot be saved");
        }
    }

    /// Describes what has changed in a tool since it last ran, with the old and the new texts; `None` if the tool is
    /// unchanged or has not run.
    pub(super) fn change(&self, tool: &ForeignTool) -> Option<String> {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let was = tools.get(&tool.name).filter(|was| was.definition != tool.fingerprint)?;
        let now = ReadableDefinition::of(tool);
        let mut words = has_changed(&tool.name);
        let schema = |of: &ReadableDefinition| of.input_schema.to_string();
        for (what, old, new) in [
            ("description", was.description.clone(), now.description.clone()),
            ("input schema", schema(was), schema(&now)),
        ] {
            if old != new {
                let (old, new) = difference(&old, &new);
                words += &format!("\n{what} before: {old}\n{what} now: {new}");
            }
        }
        if was.description == now.description && was.input_schema == now.input_schema {
            words += ": its title, output schema, annotations or metadata";
        }
        Some(words)
    }

    /// Says that a tool has changed since it last ran, if it ran with a definition that is not the present one. The
    /// texts of the present definition are not known here.
    pub(super) fn differs(
        &self,
        name: &str,
        is_present: impl FnOnce(&str) -> bool,
    ) -> Option<String> {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let was = tools.get(name).filter(|was| !is_present(&was.definition))?;
        let before = difference(&was.description, "").0;
        Some(format!("{}\ndescription before: {before}", has_changed(name)))
    }
}

impl ReadableDefinition {
    fn of(tool: &ForeignTool) -> Self {
        Self {
            definition: tool.fingerprint.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        }
    }
}

/// Replaces the file atomically.
fn write(file: &Path, tools: &BTreeMap<String, ReadableDefinition>) -> io::Result<()> {
    let new = file.with_extension(uuid::Uuid::new_v4().simple().to_string());
    std::fs::write(&new, serde_json::to_vec(tools)?)?;
    std::fs::rename(&new, file)
}

fn has_changed(name: &str) -> String {
    format!("`{name}` has changed since it last ran")
}

/// Returns the two texts as a person is shown them: each on one line, and cut to the part around the first difference.
fn difference(old: &str, new: &str) -> (String, String) {
    let line = |text: &str| escaped(text).replace('\n', "\\n");
    let (old, new) = (line(old), line(new));
    let common = old.chars().zip(new.chars()).take_while(|(one, other)| one == other).count();
    let start = match common > BEFORE {
        true => common - BEFORE,
        false => 0,
    };
    (cut(&old, start), cut(&new, start))
}

/// Returns at most [`LONGEST`] characters from this start on.
fn cut(text: &str, start: usize) -> String {
    let shown: String = text.chars().skip(start).take(LONGEST).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().nth(start + LONGEST).is_some() { "…" } else { "" };
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use rmcp::model::ToolAnnotations;

    use super::*;

    fn tool(description: &str, fingerprint: &str) -> ForeignTool {
        ForeignTool {
            name: "x__t".to_owned(),
            server: "x".to_owned(),
            theirs: "t".to_owned(),
            title: None,
            description: description.to_owned(),
            input_schema: serde_json::json!({"type": "object"}),
            output_schema: None,
            annotations: ToolAnnotations::new(),
            fingerprint: fingerprint.to_owned(),
        }
    }

    /// Returns the lines that a person is shown after a tool with the first description has run.
    fn shown(old: &str, new: &str) -> Vec<String> {
        let known = KnownDefinitions::default();
        known.runs(&tool(old, "1"));
        let change = known.change(&tool(new, "2")).unwrap();
        change.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_change_far_into_a_long_description_is_shown() {
        let long = "x".repeat(3000);
        let lines = shown(&format!("{long}Reads."), &format!("{long}Sends."));
        assert!(lines[1].ends_with("xxReads."), "{}", lines[1]);
        assert!(lines[2].ends_with("xxSends."), "{}", lines[2]);
        assert!(lines[1].starts_with("description before: …xx"), "{}", lines[1]);
        let cut = shown("Reads.", &format!("Sends.{long}"));
        assert!(cut[2].len() < 2100 && cut[2].ends_with("x…"), "{}", cut[2]);
    }

    #[test]
    fn a_description_does_not_forge_the_line_that_says_what_is_called() {
        let lines = shown("Reads.", "Reads.\ncalls `x__y` with {}");
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(!lines[2].contains('\n') && lines[2].contains("calls `x__y`"), "{lines:?}");
    }
}
