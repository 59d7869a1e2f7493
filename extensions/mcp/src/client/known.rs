//! Remembers the definition with which each tool last ran, so that a person who is asked about the tool's next call
//! sees the changes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::definition::ForeignTool;
use super::untrusted::escaped;

/// How many characters of the old and of the new text a person is shown.
const LONGEST: usize = 2000;

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
        let mut words = format!("`{}` has changed since it last ran", tool.name);
        let schema = |of: &ReadableDefinition| of.input_schema.to_string();
        for (what, old, new) in [
            ("description", was.description.clone(), now.description.clone()),
            ("input schema", schema(was), schema(&now)),
        ] {
            if old != new {
                words += &format!("\n{what} before: {}\n{what} now: {}", cut(&old), cut(&new));
            }
        }
        if was.description == now.description && was.input_schema == now.input_schema {
            words += ": its title, output schema, annotations or metadata";
        }
        Some(words)
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

fn cut(text: &str) -> String {
    let shown = escaped(text);
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
