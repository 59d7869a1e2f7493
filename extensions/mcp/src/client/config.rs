//! The list of servers, read from the file `mcp.toml` or from the JSON that other applications write.

mod applications;
mod oauth;
mod server;
mod url;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

pub(super) use self::oauth::OAuthConfig;
#[cfg(feature = "http-client")]
pub(super) use self::server::Http;
pub(super) use self::server::{Endpoint, Program, ServerConfig, ServerEntry};
#[cfg(feature = "oauth")]
pub(super) use self::url::is_encrypted_or_local;
use super::names::LONGEST_SERVER as LONGEST_NAME;

/// The MCP servers of an application, as read from a file or a text. Make sure that no tool of an agent can write the
/// file, because the file decides which programs run.
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
    notes: Vec<String>,
}

/// How far an application trusts the information that a server gives about its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The information is not trusted: every tool has the effect `once` and the danger `moderate`, and every call needs
    /// a person's approval.
    #[default]
    None,
    /// The server's annotations are used: `readOnlyHint` means the effect `read`, `idempotentHint` means `idempotent`.
    /// A tool that writes is `dangerous`, unless its `destructiveHint` is `false`. All others are `moderate`. The
    /// policy decides whether a person is asked.
    Annotations,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toml {
    #[serde(default)]
    servers: BTreeMap<String, ServerEntry>,
}

impl McpConfig {
    /// Reads a file: JSON if the name of the file ends in `.json`, else TOML.
    ///
    /// # Errors
    /// When the file cannot be read, or its content is not valid.
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
    /// When the text is not a valid configuration.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let file: Toml =
            toml::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        Self::check(file.servers)
    }

    /// Reads the JSON that other applications write, unchanged: the object `mcpServers` of Claude Desktop, Claude Code,
    /// Cursor and Cline, and `servers` of VS Code. `${NAME}` is replaced by the value of that variable.
    /// [`notes`](Self::notes) lists what was left out or changed, and why.
    ///
    /// ```
    /// use toolwright_mcp::McpConfig;
    ///
    /// let json = r#"{"mcpServers": {"files": {"command": "mcp-files", "args": ["."]}}}"#;
    /// assert_eq!(McpConfig::from_json(json)?.names().count(), 1);
    /// let config = McpConfig::from_json(r#"{"mcpServers": {"far": {"type": "sse", "url": "https://far.example/sse"}}}"#)?;
    /// assert!(config.notes()[0].starts_with("the server `far` is left out: "));
    /// # Ok::<(), toolwright_mcp::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When the text is not a valid configuration.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        applications::config(text, &|name| std::env::var(name).ok())
    }

    /// Lists notes for a person about another application's file: what was left out, ignored, renamed or read in
    /// another unit.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Lists the names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Makes a configuration with only this server, for an application that describes the server in code.
    pub(super) fn of_one(
        name: &str,
        written: ServerEntry,
        start_timeout: Option<Duration>,
    ) -> Result<Self, ConfigError> {
        let mut config = Self::check(BTreeMap::from([(name.to_owned(), written)]))?;
        for server in config.servers.values_mut() {
            server.start_timeout = start_timeout.unwrap_or(server.start_timeout);
        }
        Ok(config)
    }

    fn check(written: BTreeMap<String, ServerEntry>) -> Result<Self, ConfigError> {
        let mut servers = BTreeMap::new();
        for (name, server) in written {
            let wrong = |what: String| ConfigError::Server { server: name.clone(), what };
            let fits = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
                return Err(wrong(format!(
                    "the name has to be 1 to {LONGEST_NAME} letters, digits, `-` or `_`"
                )));
            }
            if name.contains("__") || name.ends_with('_') {
                return Err(wrong("`__` separates a server from its tool, so the name neither contains it nor ends in `_`".into()));
            }
            let is_alike = |other: &&String| other.eq_ignore_ascii_case(&name);
            if let Some(other) = servers.keys().find(is_alike) {
                return Err(wrong(format!(
                    "it differs from `{other}` in nothing but the case of letters, and people read the names of their tools; rename one"
                )));
            }
            let server = server.check().map_err(wrong)?;
            servers.insert(name, server);
        }
        Ok(Self { servers, notes: Vec::new() })
    }
}

/// The reason why a configuration is refused.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The text is not a configuration of MCP servers.
    #[error("the configuration of the MCP servers is wrong: {0}")]
    Syntax(String),
    /// The description of a server is not valid.
    #[error("the MCP server `{server}` is described wrongly: {what}")]
    Server {
        /// The name of the server.
        server: String,
        /// What is wrong with the description.
        what: String,
    },
}
toolwright::unstable::debug_as_sentence!(ConfigError);

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
        let alike = wrong("[servers.files]\ncommand = \"x\"\n[servers.Files]\ncommand = \"y\"");
        assert!(alike.contains("`files`") && alike.contains("`Files`"), "{alike}");
    }

    #[cfg(all(feature = "http-client", not(feature = "tls")))]
    #[test]
    fn a_server_has_a_command_or_a_url_and_its_token_goes_to_no_other_machine_in_the_clear() {
        let of = |more: &str| McpConfig::from_toml(&format!("[servers.a]\n{more}"));
        for (more, problem) in [
            ("", "neither `command` nor `url`"),
            ("command = \"x\"\nurl = \"http://a\"", "both `command` and `url`"),
            ("command = \"x\"\ntoken_env = \"T\"", "`token_env` goes with `url`"),
            ("url = \"http://a\"\nargs = [\"x\"]", "`args` goes with `command`"),
            ("url = \"http://a\"\ntype = \"sse\"", "the type is `sse`, expected `http`"),
            ("url = \"ftp://a\"", "expected `http://…` or `https://…`"),
            ("url = \"https://a\"", "built without TLS"),
            ("url = \"http://a/mcp\"\ntoken_env = \"T\"", "in the clear"),
            ("url = \"http://localhost.a/mcp\"\ntoken_env = \"T\"", "in the clear"),
            ("url = \"http://localhost@a/mcp\"\ntoken_env = \"T\"", "in the clear"),
            ("url = \"http://localhost:x@a/mcp\"\ntoken_env = \"T\"", "in the clear"),
        ] {
            let error = of(more).expect_err(more).to_string();
            assert!(error.contains(problem), "{more}: {error}");
        }
        for right in ["http://127.0.0.1:80/mcp", "http://localhost/mcp", "http://[::1]:8080/mcp"] {
            assert!(of(&format!("url = \"{right}\"\ntoken_env = \"T\"")).is_ok(), "{right}");
        }
        assert!(of("url = \"http://a:8080/mcp\"").is_ok());
    }

    #[test]
    fn nothing_is_trusted_unless_the_configuration_says_so() {
        let config = McpConfig::from_toml("[servers.a]\ncommand = \"x\"").expect("it is right");
        assert_eq!(config.servers["a"].trust, Trust::None);
    }
}
