//! One server: its entry in a file, and its configuration after the entry was checked. The functions are pure.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{OAuthConfig, Trust, url};

/// A server as the configuration describes it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::client) struct ServerConfig {
    pub(in crate::client) reached: Endpoint,
    pub(in crate::client) trust: Trust,
    pub(in crate::client) start_timeout: Duration,
    /// How long a call may take without an answer or a progress report from the server.
    pub(in crate::client) call_timeout: Option<Duration>,
    pub(in crate::client) filter: ToolFilter,
}

/// The selection of a server's tools that are used, by the names that they have on the server.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::client) struct ToolFilter {
    enabled: Option<Vec<String>>,
    disabled: Vec<String>,
}

impl ToolFilter {
    pub(in crate::client) fn lets(&self, tool: &str) -> bool {
        let is_enabled = |enabled: &Vec<String>| enabled.iter().any(|it| it == tool);
        self.enabled.as_ref().is_none_or(is_enabled) && !self.disabled.iter().any(|it| it == tool)
    }
}

/// How the client reaches a server.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::client) enum Endpoint {
    /// A program that this process starts, over pipes.
    Program(Program),
    /// A URL, over Streamable HTTP.
    Http(Http),
}

impl Endpoint {
    /// Returns a digest of what decides which server answers: the program with its arguments, its folder and the
    /// variables that the configuration sets, or the URL. The digest replaces the text because the text may contain
    /// secrets.
    pub(in crate::client) fn identity(&self) -> String {
        let described = match self {
            Self::Program(Program { command, args, env, cwd, .. }) => {
                format!("program {command:?} {args:?} {env:?} {cwd:?}")
            }
            Self::Http(Http { url, .. }) => format!("url {url:?}"),
        };
        Sha256::digest(described).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A program that this process starts as a server.
#[derive(Clone, PartialEq)]
pub(in crate::client) struct Program {
    pub(in crate::client) command: String,
    pub(in crate::client) args: Vec<String>,
    /// The environment variables that are set for the program, with their values.
    pub(in crate::client) env: BTreeMap<String, String>,
    /// The names of this process's environment variables that the server gets too.
    pub(in crate::client) pass: Vec<String>,
    pub(in crate::client) cwd: Option<PathBuf>,
}

impl fmt::Debug for Program {
    /// Shows the names of the variables only, because their values may be secrets. So may the arguments.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut program = formatter.debug_struct("Program");
        program.field("command", &self.command).field("env", &names(Some(&self.env)));
        program.field("pass", &self.pass).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// A server at a URL.
#[derive(Clone, PartialEq)]
pub(in crate::client) struct Http {
    pub(in crate::client) url: String,
    /// The headers that are added to every request.
    pub(in crate::client) headers: BTreeMap<String, String>,
    /// The environment variable of this process that holds the bearer token.
    pub(in crate::client) token_env: Option<String>,
    /// How tokens are requested if `token_env` is absent.
    pub(in crate::client) oauth: OAuthConfig,
}

impl Http {
    /// Reports whether requests go unencrypted over a network, where others could read them.
    pub(in crate::client) fn is_in_the_clear(&self) -> bool {
        !url::is_encrypted_or_local(&self.url)
    }
}

impl fmt::Debug for Http {
    /// Shows the names of the headers only, because their values may be secrets. So may the URL.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut http = formatter.debug_struct("Http");
        http.field("headers", &names(Some(&self.headers))).field("token_env", &self.token_env);
        http.field("oauth", &self.oauth).finish_non_exhaustive()
    }
}

/// The entry of a server in a configuration file.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct ServerEntry {
    pub(in crate::client) command: Option<String>,
    pub(in crate::client) args: Option<Vec<String>>,
    pub(in crate::client) env: Option<BTreeMap<String, String>>,
    pub(in crate::client) pass: Option<Vec<String>>,
    pub(in crate::client) cwd: Option<PathBuf>,
    pub(in crate::client) url: Option<String>,
    pub(in crate::client) headers: Option<BTreeMap<String, String>>,
    pub(in crate::client) token_env: Option<String>,
    pub(in crate::client) oauth: Option<OAuthConfig>,
    #[serde(default)]
    pub(in crate::client) trust: Trust,
    /// How long the server may take to start, in seconds.
    pub(in crate::client) start_timeout: Option<u64>,
    /// How long a call may take without an answer or a progress report from the server, in seconds.
    pub(in crate::client) timeout: Option<u64>,
    /// The tools that are used, by their names on the server; all tools if `None`.
    pub(in crate::client) enabled_tools: Option<Vec<String>>,
    /// The names of the tools that are not used.
    pub(in crate::client) disabled_tools: Option<Vec<String>>,
    /// The transport, as other applications name it.
    #[serde(rename = "type")]
    pub(in crate::client) transport: Option<String>,
}

impl fmt::Debug for ServerEntry {
    /// Shows names of variables and headers only, because their values may be secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entry = formatter.debug_struct("ServerEntry");
        entry.field("command", &self.command).field("env", &names(self.env.as_ref()));
        entry.field("headers", &names(self.headers.as_ref())).field("pass", &self.pass);
        entry.field("token_env", &self.token_env).field("trust", &self.trust);
        entry.finish_non_exhaustive()
    }
}

fn names(of: Option<&BTreeMap<String, String>>) -> Vec<&String> {
    of.into_iter().flat_map(BTreeMap::keys).collect()
}

impl ServerEntry {
    pub(super) fn check(mut self) -> Result<ServerConfig, String> {
        let reached = match (self.command.take(), self.url.take()) {
            (Some(_), Some(_)) => return Err("it has both `command` and `url`; give one".into()),
            (None, None) => return Err("it has neither `command` nor `url`; give one".into()),
            (Some(command), None) => Endpoint::Program(self.program(command)?),
            (None, Some(url)) => Endpoint::Http(self.http(url)?),
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

    fn program(&mut self, command: String) -> Result<Program, String> {
        if command.is_empty() {
            return Err("`command` is empty".into());
        }
        if let Some(other) = self.transport.as_deref().filter(|it| *it != "stdio") {
            return Err(format!("the type is `{other}`, expected `stdio` beside `command`"));
        }
        if self.token_env.is_some() {
            return Err("`token_env` goes with `url`; a program gets variables by `pass`".into());
        }
        let of_urls = [("headers", self.headers.is_some()), ("oauth", self.oauth.is_some())];
        if let Some((key, _)) = of_urls.into_iter().find(|(_, is_there)| *is_there) {
            return Err(format!("`{key}` goes with `url`, and this server has a `command`"));
        }
        Ok(Program {
            command,
            args: self.args.take().unwrap_or_default(),
            env: self.env.take().unwrap_or_default(),
            pass: self.pass.take().unwrap_or_default(),
            cwd: self.cwd.take(),
        })
    }

    fn http(&mut self, url: String) -> Result<Http, String> {
        let is_http = |it: &&str| !matches!(*it, "http" | "streamable-http");
        if let Some(other) = self.transport.as_deref().filter(is_http) {
            return Err(format!("the type is `{other}`, expected `http` beside `url`"));
        }
        let of_programs = [
            ("args", self.args.is_some()),
            ("env", self.env.is_some()),
            ("pass", self.pass.is_some()),
            ("cwd", self.cwd.is_some()),
        ];
        if let Some((key, _)) = of_programs.into_iter().find(|(_, is_there)| *is_there) {
            return Err(format!("`{key}` goes with `command`, and this server has a `url`"));
        }
        let headers = self.headers.take().unwrap_or_default();
        let (token_env, oauth) = (self.token_env.take(), self.oauth.take());
        url::check(&url, token_env.is_some() || oauth.is_some() || !headers.is_empty())?;
        if let Some(oauth) = &oauth {
            if token_env.is_some() {
                return Err("it has both `token_env` and `oauth`; give one".into());
            }
            if !cfg!(feature = "oauth") {
                return Err("it has `oauth`, and this application is built without it (feature `oauth` of toolwright-mcp)".into());
            }
            oauth.check()?;
        }
        Ok(Http { url, headers, token_env, oauth: oauth.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::McpConfig;

    #[test]
    fn the_identity_of_a_server_changes_with_its_variables_and_shows_none_of_them() {
        let identity = |token: &str| {
            let text = format!("[servers.a]\ncommand = \"peer\"\nenv = {{ TOKEN = {token:?} }}");
            McpConfig::from_toml(&text).unwrap().servers["a"].reached.identity()
        };
        let one = identity("hunter-1");
        assert_eq!((one.len(), &one), (64, &identity("hunter-1")));
        assert_ne!(one, identity("hunter-2"));
        assert!(!one.contains("hunter"));
    }

    #[test]
    fn no_secret_of_a_configuration_is_in_its_debug_output() {
        let program = "[servers.a]\ncommand = \"peer\"\nargs = [\"--key=hunter-1\"]\nenv = { TOKEN = \"hunter-2\" }";
        let http = "[servers.b]\nurl = \"http://127.0.0.1/mcp?key=hunter-3\"\nheaders = { X-Key = \"hunter-4\" }";
        let text = match cfg!(feature = "http-client") {
            true => format!("{program}\n{http}"),
            false => program.to_owned(),
        };
        let config = McpConfig::from_toml(&text).unwrap();
        let client = crate::McpClient::stdio("c", "peer", ["hunter-5"]).variable("KEY", "hunter-6");
        let shown = format!("{config:?} {client:?}");
        assert!(!shown.contains("hunter"), "{shown}");
        assert!(shown.contains("TOKEN") && shown.contains("KEY"), "{shown}");
    }
}
