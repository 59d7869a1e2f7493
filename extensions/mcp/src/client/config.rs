//! Which servers there are: the file `mcp.toml`, or the JSON that other applications write. Reading is pure, apart from
//! the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

/// How long a server's name may be; the rest of the 64 characters is for its tools.
const LONGEST_NAME: usize = 24;

/// The MCP servers of an application. A tool of an agent must not be able to write the file: it says which programs run.
///
/// ```
/// use toolwright_mcp::McpConfig;
///
/// let config = McpConfig::from_toml(r#"
///     [servers.files]
///     command = "npx"
///     args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
///     pass = ["NODE_OPTIONS"]     # variables of this process; a few harmless ones are passed in any case
///     trust = "annotations"       # `none` unless set
///     start_timeout = 60          # seconds; 30 unless set
/// "#)?;
/// assert_eq!(config.names().collect::<Vec<_>>(), ["files"]);
/// # Ok::<(), toolwright_mcp::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct McpConfig {
    pub(super) servers: BTreeMap<String, ServerConfig>,
}

/// How far an application believes what a server says of its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Not at all: every tool has the effect `once` and the danger `moderate`, and a person is asked about every call.
    #[default]
    None,
    /// Its annotations count: `readOnlyHint` is the effect `read`, `idempotentHint` is `idempotent`, and what may destroy is
    /// `dangerous`. The policy decides whether a person is asked. The danger is never below `moderate`.
    Annotations,
}

/// One server that this process starts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerConfig {
    pub(super) command: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// Variables with values.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Variables of this process.
    #[serde(default)]
    pub(super) pass: Vec<String>,
    #[serde(default)]
    pub(super) cwd: Option<PathBuf>,
    #[serde(default)]
    pub(super) trust: Trust,
    /// Seconds.
    #[serde(default)]
    start_timeout: Option<u64>,
    /// As other applications write it; `stdio` alone.
    #[serde(default, rename = "type")]
    transport: Option<String>,
}

impl ServerConfig {
    pub(super) fn start_timeout(&self) -> Duration {
        Duration::from_secs(self.start_timeout.unwrap_or(30))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toml {
    #[serde(default)]
    servers: BTreeMap<String, ServerConfig>,
}

#[derive(Deserialize)]
struct Json {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, ServerConfig>,
}

impl McpConfig {
    /// Reads a file: JSON where its name ends in `.json`, else TOML.
    ///
    /// # Errors
    /// When it cannot be read, or something in it is wrong.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        match path.extension().is_some_and(|it| it == "json") {
            true => Self::from_json(&text),
            false => Self::from_toml(&text),
        }
    }

    /// Reads `mcp.toml`: a table `[servers.NAME]` for each server.
    ///
    /// # Errors
    /// When something in it is wrong.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let file: Toml =
            toml::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        Self::checked(file.servers)
    }

    /// Reads the JSON that other applications write: the object `mcpServers`.
    ///
    /// ```
    /// use toolwright_mcp::McpConfig;
    ///
    /// let json = r#"{"mcpServers": {"files": {"command": "mcp-files", "args": ["."]}}}"#;
    /// assert_eq!(McpConfig::from_json(json)?.names().count(), 1);
    /// let error = McpConfig::from_json(r#"{"mcpServers": {"far": {"url": "https://example.com"}}}"#).unwrap_err();
    /// assert!(error.to_string().contains("unknown field `url`"));
    /// # Ok::<(), toolwright_mcp::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When something in it is wrong.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let file: Json =
            serde_json::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        Self::checked(file.servers)
    }

    /// The names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    fn checked(servers: BTreeMap<String, ServerConfig>) -> Result<Self, ConfigError> {
        for (name, server) in &servers {
            let wrong = |what: String| ConfigError::Server { server: name.clone(), what };
            let fits = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
                return Err(wrong(format!(
                    "the name has to be 1 to {LONGEST_NAME} letters, digits, `-` or `_`"
                )));
            }
            if name.contains("__") || name.ends_with('_') {
                return Err(wrong("`__` stands between a server and its tool, so the name neither contains it nor ends in `_`".into()));
            }
            if server.command.is_empty() {
                return Err(wrong("`command` is empty".into()));
            }
            if let Some(other) = server.transport.as_ref().filter(|it| *it != "stdio") {
                return Err(wrong(format!("the type is `{other}`, expected `stdio`")));
            }
        }
        Ok(Self { servers })
    }
}

/// Why a configuration is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is not what such a file looks like.
    #[error("the configuration of the MCP servers is wrong: {0}")]
    Syntax(String),
    /// A server is described wrongly.
    #[error("the MCP server `{server}` is described wrongly: {what}")]
    Server {
        /// The server.
        server: String,
        /// What is wrong.
        what: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_in_a_configuration_is_named() {
        let wrong = |text: &str| McpConfig::from_toml(text).expect_err(text).to_string();
        assert!(wrong("[server.a]\ncommand = \"x\"").contains("server"));
        assert!(wrong("[servers.a]\ncommand = \"x\"\ntrsut = \"none\"").contains("trsut"));
        assert!(wrong("[servers.a]\ncommand = \"x\"\ntrust = \"all\"").contains("all"));
        assert!(wrong("[servers.a]\ncommand = \"\"").ends_with("`command` is empty"));
        assert!(
            wrong("[servers.a]\ncommand = \"x\"\ntype = \"sse\"")
                .contains("`sse`, expected `stdio`")
        );
        for name in ["a__b", "a_", "a.b", "ä", "abcdefghijklmnopqrstuvwxy"] {
            let error = wrong(&format!("[servers.\"{name}\"]\ncommand = \"x\""));
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn nothing_is_trusted_unless_the_configuration_says_so() {
        let config = McpConfig::from_toml("[servers.a]\ncommand = \"x\"").expect("it is right");
        assert_eq!(config.servers["a"].trust, Trust::None);
    }
}
