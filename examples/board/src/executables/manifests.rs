//! Detects which kind of project a folder holds, by its manifest.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The manifest of a known kind of project.
#[derive(Debug)]
pub enum Manifest {
    /// `Cargo.toml`.
    Rust(toml::Table),
    /// `package.json`.
    Node(Value),
    /// `pyproject.toml`; an empty table if the folder has only other files of a Python project, such as `setup.py`.
    Python(toml::Table),
}

impl Manifest {
    /// Reads the manifest of a folder; `None` if the folder has no known manifest.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub fn of(folder: &Path) -> Result<Option<Self>, String> {
        if let Some(text) = read(folder, "Cargo.toml")? {
            return Ok(Some(Self::Rust(parsed("Cargo.toml", text.parse())?)));
        }
        if let Some(text) = read(folder, "package.json")? {
            return Ok(Some(Self::Node(parsed("package.json", serde_json::from_str(&text))?)));
        }
        if let Some(text) = read(folder, "pyproject.toml")? {
            return Ok(Some(Self::Python(parsed("pyproject.toml", text.parse())?)));
        }
        let others = ["setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "tox.ini"];
        let is_python = others.iter().any(|it| folder.join(it).is_file());
        Ok(is_python.then(|| Self::Python(toml::Table::new())))
    }

    /// Returns the names of the packages that the manifest depends on.
    #[must_use]
    pub fn dependencies(&self) -> Vec<String> {
        match self {
            Self::Rust(table) => {
                let workspace = table.get("workspace").and_then(toml::Value::as_table);
                let tables = [Some(table), workspace].into_iter().flatten();
                let lists = tables.flat_map(|it| {
                    ["dependencies", "dev-dependencies"].map(|key| it.get(key)?.as_table())
                });
                lists.flatten().flat_map(|it| it.keys().cloned()).collect()
            }
            Self::Node(value) => {
                let lists = ["dependencies", "devDependencies"].map(|key| value[key].as_object());
                lists.into_iter().flatten().flat_map(|it| it.keys().cloned()).collect()
            }
            Self::Python(table) => {
                let project = table.get("project").and_then(toml::Value::as_table);
                let required = project.and_then(|it| it.get("dependencies")?.as_array());
                let optional = project.and_then(|it| it.get("optional-dependencies")?.as_table());
                let groups = table.get("dependency-groups").and_then(toml::Value::as_table);
                let more = optional.into_iter().chain(groups).flat_map(|it| it.values());
                let lists = required.into_iter().chain(more.filter_map(toml::Value::as_array));
                lists.flatten().filter_map(toml::Value::as_str).map(package).collect()
            }
        }
    }
}

/// Returns the package name in a requirement such as `django>=5; python_version > "3.9"`.
fn package(requirement: &str) -> String {
    let is_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let end = requirement.find(|it| !is_name(it)).unwrap_or(requirement.len());
    requirement[..end].to_ascii_lowercase()
}

fn read(folder: &Path, name: &str) -> Result<Option<String>, String> {
    match fs::read_to_string(folder.join(name)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("`{name}` cannot be read: {error}")),
    }
}

fn parsed<T, E: std::fmt::Display>(name: &str, read: Result<T, E>) -> Result<T, String> {
    read.map_err(|error| format!("`{name}` cannot be read: {error}"))
}
