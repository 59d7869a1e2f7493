//! Which servers there are: the file `mcp.toml`, or the JSON that other applications write. Reading is pure, apart from
//! the file.

mod applications;
mod oauth;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

pub(super) use self::oauth::OAuthConfig;
use super::names::LONGEST_SERVER as LONGEST_NAME;

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
    notes: Vec<String>,
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

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerConfig {
    pub(super) reached: Reached,
    pub(super) trust: Trust,
    start_timeout: Duration,
    /// How long a call may take without a word of the server.
    pub(super) call_timeout: Option<Duration>,
    pub(super) filter: ToolFilter,
}

/// Which tools of a server are used, by their names there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ToolFilter {
    enabled: Option<Vec<String>>,
    disabled: Vec<String>,
}

impl ToolFilter {
    pub(super) fn lets(&self, tool: &str) -> bool {
        let is_enabled = |enabled: &Vec<String>| enabled.iter().any(|it| it == tool);
        self.enabled.as_ref().is_none_or(is_enabled) && !self.disabled.iter().any(|it| it == tool)
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reached {
    /// As a program that this process starts.
    Program(Program),
    /// Over Streamable HTTP.
    Http(Http),
}

/// A program that is a server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    /// Variables with values.
    pub(super) env: BTreeMap<String, String>,
    /// Variables of this process.
    pub(super) pass: Vec<String>,
    pub(super) cwd: Option<PathBuf>,
}

/// A server at a URL.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Http {
    pub(super) url: String,
    /// What every request says besides.
    pub(super) headers: BTreeMap<String, String>,
    /// The variable of this process that has the bearer token.
    pub(super) token_env: Option<String>,
    /// How tokens are got where there is none.
    pub(super) oauth: OAuthConfig,
}

impl Http {
    /// Whether others on the way could read what is sent.
    pub(super) fn is_in_the_clear(&self) -> bool {
        !is_encrypted_or_local(&self.url)
    }
}

/// A server as a file describes it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) command: Option<String>,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Option<BTreeMap<String, String>>,
    pub(super) pass: Option<Vec<String>>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) url: Option<String>,
    pub(super) headers: Option<BTreeMap<String, String>>,
    pub(super) token_env: Option<String>,
    pub(super) oauth: Option<OAuthConfig>,
    #[serde(default)]
    pub(super) trust: Trust,
    /// Seconds.
    pub(super) start_timeout: Option<u64>,
    /// Seconds.
    pub(super) timeout: Option<u64>,
    /// The tools that are used, by their names there; all where nothing is said.
    pub(super) enabled_tools: Option<Vec<String>>,
    /// The tools that are not used.
    pub(super) disabled_tools: Option<Vec<String>>,
    /// As other applications write it.
    #[serde(rename = "type")]
    pub(super) transport: Option<String>,
}

impl ServerConfig {
    pub(super) fn start_timeout(&self) -> Duration {
        self.start_timeout
    }
}

impl Written {
    fn checked(self) -> Result<ServerConfig, String> {
        let transport = self.transport.as_deref();
        let reached = match (self.command, self.url) {
            (Some(_), Some(_)) => return Err("it has both `command` and `url`; give one".into()),
            (None, None) => return Err("it has neither `command` nor `url`; give one".into()),
            (Some(command), None) => {
                if command.is_empty() {
                    return Err("`command` is empty".into());
                }
                if let Some(other) = transport.filter(|it| *it != "stdio") {
                    return Err(format!(
                        "the type is `{other}`, expected `stdio` beside `command`"
                    ));
                }
                if self.token_env.is_some() {
                    return Err(
                        "`token_env` goes with `url`; a program gets variables by `pass`".into()
                    );
                }
                if self.headers.is_some() {
                    return Err("`headers` goes with `url`, and this server has a `command`".into());
                }
                if self.oauth.is_some() {
                    return Err("`oauth` goes with `url`, and this server has a `command`".into());
                }
                let (args, env) = (self.args.unwrap_or_default(), self.env.unwrap_or_default());
                let pass = self.pass.unwrap_or_default();
                Reached::Program(Program { command, args, env, pass, cwd: self.cwd })
            }
            (None, Some(url)) => {
                if let Some(other) =
                    transport.filter(|it| !matches!(*it, "http" | "streamable-http"))
                {
                    return Err(format!("the type is `{other}`, expected `http` beside `url`"));
                }
                let of_programs = [
                    ("args", self.args.is_some()),
                    ("env", self.env.is_some()),
                    ("pass", self.pass.is_some()),
                    ("cwd", self.cwd.is_some()),
                ];
                if let Some((key, _)) = of_programs.into_iter().find(|(_, is_there)| *is_there) {
                    return Err(format!(
                        "`{key}` goes with `command`, and this server has a `url`"
                    ));
                }
                let headers = self.headers.unwrap_or_default();
                let has_secrets =
                    self.token_env.is_some() || self.oauth.is_some() || !headers.is_empty();
                checked_url(&url, has_secrets)?;
                if let Some(oauth) = &self.oauth {
                    if self.token_env.is_some() {
                        return Err("it has both `token_env` and `oauth`; give one".into());
                    }
                    if !cfg!(feature = "oauth") {
                        return Err("it has `oauth`, and this application is built without it (feature `oauth` of toolwright-mcp)".into());
                    }
                    oauth.checked()?;
                }
                let oauth = self.oauth.unwrap_or_default();
                Reached::Http(Http { url, headers, token_env: self.token_env, oauth })
            }
        };
        let start_timeout = Duration::from_secs(self.start_timeout.unwrap_or(30));
        let call_timeout = self.timeout.map(Duration::from_secs);
        if call_timeout.is_some_and(|it| it.is_zero()) {
            return Err("`timeout` is 0, expected seconds".into());
        }
        let filter = ToolFilter {
            enabled: self.enabled_tools,
            disabled: self.disabled_tools.unwrap_or_default(),
        };
        Ok(ServerConfig { reached, trust: self.trust, start_timeout, call_timeout, filter })
    }
}

/// A token goes to no other machine in the clear.
fn checked_url(url: &str, has_token: bool) -> Result<(), String> {
    if !cfg!(feature = "http-client") {
        return Err("it has a `url`, and this application is built without HTTP (feature `http-client` of toolwright-mcp)".into());
    }
    if url.starts_with("https://") {
        return match cfg!(feature = "tls") {
            true => Ok(()),
            false => Err("its URL begins with `https://`, and this application is built without TLS (feature `tls` of toolwright-mcp)".into()),
        };
    }
    let Some(rest) = url.strip_prefix("http://") else {
        return Err(format!("its URL is `{url}`, expected `http://…` or `https://…`"));
    };
    match has_token && !is_local(rest) {
        true => {
            Err("its token would go to another machine in the clear; expected `https://…`".into())
        }
        false => Ok(()),
    }
}

/// Whether a secret may be sent to a page.
pub(super) fn is_encrypted_or_local(url: &str) -> bool {
    url.starts_with("https://") || url.strip_prefix("http://").is_some_and(is_local)
}

/// Whether a URL, which is given without its scheme, is one of this machine.
fn is_local(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| {
        let port = authority.strip_prefix(host);
        // A `:` that no port follows may stand in a name before an `@`.
        let is_port = |it: &str| it.bytes().all(|digit| digit.is_ascii_digit());
        port.is_some_and(|it| it.is_empty() || it.strip_prefix(':').is_some_and(is_port))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toml {
    #[serde(default)]
    servers: BTreeMap<String, Written>,
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

    /// Reads the JSON that other applications write, as it is: the object `mcpServers` of Claude Desktop, Claude Code, Cursor
    /// and Cline, and `servers` of VS Code. `${NAME}` is the value of a variable. What is left out of it, and why, is in
    /// [`notes`](Self::notes).
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
    /// When something in it is wrong.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let file: applications::File =
            serde_json::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        file.config(&|name| std::env::var(name).ok())
    }

    /// Lists what of a file of another application is left out or ignored, in words for a person.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Lists the names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// One server, as code describes it.
    pub(super) fn of_one(
        name: &str,
        written: Written,
        start_timeout: Option<Duration>,
    ) -> Result<Self, ConfigError> {
        let mut config = Self::checked(BTreeMap::from([(name.to_owned(), written)]))?;
        for server in config.servers.values_mut() {
            server.start_timeout = start_timeout.unwrap_or(server.start_timeout);
        }
        Ok(config)
    }

    fn checked(written: BTreeMap<String, Written>) -> Result<Self, ConfigError> {
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
                return Err(wrong("`__` stands between a server and its tool, so the name neither contains it nor ends in `_`".into()));
            }
            let server = server.checked().map_err(wrong)?;
            servers.insert(name, server);
        }
        Ok(Self { servers, notes: Vec::new() })
    }
}

/// Why a configuration is not taken.
#[derive(thiserror::Error)]
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
