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

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerConfig {
    pub(super) reached: Reached,
    pub(super) trust: Trust,
    start_timeout: Duration,
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
    /// The variable of this process that has the bearer token.
    pub(super) token_env: Option<String>,
    /// How a token is had of the server's authorization server.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "what signs in reads it"))]
    pub(super) oauth: Option<OAuth>,
}

/// How an application signs in at an authorization server.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "what signs in reads it"))]
pub(super) struct OAuth {
    #[serde(default)]
    pub(super) grant: Grant,
    /// As which client; unless given, the application registers itself.
    pub(super) client_id: Option<String>,
    /// The variable of this process that has the client's secret.
    pub(super) client_secret_env: Option<String>,
    /// An address that describes the client, for authorization servers that take such.
    pub(super) client_metadata_url: Option<String>,
    /// Which rights are asked for; unless given, those that the server names.
    #[serde(default)]
    pub(super) scopes: Vec<String>,
}

/// Who agrees that the application gets a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Grant {
    /// A person, in a browser.
    #[default]
    AuthorizationCode,
    /// Nobody: the application has a secret of its own.
    ClientCredentials,
}

/// A server as a file describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    pass: Option<Vec<String>>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    token_env: Option<String>,
    oauth: Option<OAuth>,
    #[serde(default)]
    trust: Trust,
    /// Seconds.
    start_timeout: Option<u64>,
    /// As other applications write it.
    #[serde(rename = "type")]
    transport: Option<String>,
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
                if self.oauth.is_some() {
                    return Err("`oauth` goes with `url`; a program signs in by itself".into());
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
                checked_url(&url, self.token_env.is_some() || self.oauth.is_some())?;
                if let Some(oauth) = &self.oauth {
                    checked_oauth(oauth, self.token_env.is_some())?;
                }
                Reached::Http(Http { url, token_env: self.token_env, oauth: self.oauth })
            }
        };
        // A person who signs in needs a while.
        let is_patient = matches!(&reached, Reached::Http(Http { oauth: Some(_), .. }));
        let seconds = self.start_timeout.unwrap_or(if is_patient { 300 } else { 30 });
        let start_timeout = Duration::from_secs(seconds);
        Ok(ServerConfig { reached, trust: self.trust, start_timeout })
    }
}

fn checked_oauth(oauth: &OAuth, has_token: bool) -> Result<(), String> {
    if !cfg!(feature = "oauth") {
        return Err("it has `oauth`, and this application is built without it (feature `oauth` of toolwright-mcp)".into());
    }
    if has_token {
        return Err("it has both `token_env` and `oauth`; give one".into());
    }
    if oauth.client_secret_env.is_some() && oauth.client_id.is_none() {
        return Err("`client_secret_env` goes with `client_id`".into());
    }
    if oauth.grant == Grant::ClientCredentials && oauth.client_id.is_none() {
        return Err("`client_credentials` needs `client_id`".into());
    }
    Ok(())
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
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_local = ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| {
        let port = authority.strip_prefix(host);
        // A `:` that no port follows may stand in a name before an `@`.
        let is_port = |it: &str| it.bytes().all(|digit| digit.is_ascii_digit());
        port.is_some_and(|it| it.is_empty() || it.strip_prefix(':').is_some_and(is_port))
    });
    match has_token && !is_local {
        true => {
            Err("its token would go to another machine in the clear; expected `https://…`".into())
        }
        false => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toml {
    #[serde(default)]
    servers: BTreeMap<String, Written>,
}

#[derive(Deserialize)]
struct Json {
    #[serde(rename = "mcpServers")]
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

    /// Reads the JSON that other applications write: the object `mcpServers`.
    ///
    /// ```
    /// use toolwright_mcp::McpConfig;
    ///
    /// let json = r#"{"mcpServers": {"files": {"command": "mcp-files", "args": ["."]}}}"#;
    /// assert_eq!(McpConfig::from_json(json)?.names().count(), 1);
    /// let error = McpConfig::from_json(r#"{"mcpServers": {"far": {"type": "sse", "command": "x"}}}"#).unwrap_err();
    /// assert!(error.to_string().contains("expected `stdio`"));
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
