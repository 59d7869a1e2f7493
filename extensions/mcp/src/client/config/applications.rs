//! Reads the JSON in which other applications (Claude Desktop, Claude Code, Cursor, Cline, VS Code) describe their
//! servers.
//!
//! A setting that this library does not support is ignored with a note. If the server cannot be used without it, the
//! server is left out with a note. The values of variables are an argument.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{ConfigError, McpConfig, ServerEntry, Trust};
use crate::client::names;

/// The largest time-out that is read as seconds, since no tool call is meant to take longer. A larger time-out is read
/// as milliseconds, the unit of some applications.
const MOST_SECONDS: u64 = 3600;

/// Keys that name calls which need no approval. They are ignored: in this library, the application's policy decides
/// about approvals.
const APPROVALS: [&str; 3] = ["autoApprove", "alwaysAllow", "autoApproveTools"];

/// An unknown key whose name contains this word may select which tools are used, so its server is left out.
const TOOLS: &str = "tools";

/// The pattern that matches all tools.
const EVERY: &str = "*";

#[derive(Deserialize)]
struct File {
    /// The servers. VS Code gives this key another name.
    #[serde(alias = "servers")]
    #[serde(rename = "mcpServers")]
    servers: Entries,
}

/// The servers in the order of the file, each with its name and its unparsed JSON. Thus a name that occurs twice is
/// detected, and an error names the entry that cannot be read.
struct Entries(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Entries;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with an entry for each server")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, Value>>,
    pass: Option<Vec<String>>,
    cwd: Option<String>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    #[serde(rename = "type")]
    transport: Option<String>,
    disabled: Option<bool>,
    timeout: Option<u64>,
    /// The tools that are used. Gemini CLI and Copilot give this key other names.
    #[serde(alias = "enabledTools", alias = "includeTools", alias = "tools")]
    enabled_tools: Option<Vec<String>>,
    /// The tools that are not used. Windsurf and Gemini CLI give this key other names.
    #[serde(alias = "disabledTools", alias = "excludeTools")]
    disabled_tools: Option<Vec<String>>,
    token_env: Option<String>,
    oauth: Option<super::OAuthConfig>,
    trust: Option<Value>,
    start_timeout: Option<u64>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Returns the value of a variable by its name.
type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the configuration of a file, with a note for each thing that is left out.
pub(super) fn config(text: &str, variables: Variables<'_>) -> Result<McpConfig, ConfigError> {
    let file: File =
        serde_json::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
    let (mut written, mut notes) = (BTreeMap::new(), Vec::new());
    // Maps each of our names to the name of the server in the file.
    let mut called = BTreeMap::<String, String>::new();
    for (name, entry) in file.servers.0 {
        let wrong = |what: String| ConfigError::Server { server: name.clone(), what };
        let ours = names::fitting_server(&name);
        let entry: Entry =
            serde_json::from_str(entry.get()).map_err(|error| wrong(error.to_string()))?;
        let server = match entry.convert(&name, variables, &mut notes) {
            Ok(server) => server,
            Err(why) => {
                notes.push(format!("the server `{name}` is left out: {why}"));
                continue;
            }
        };
        if let Some(other) = called.insert(ours.clone(), name.clone()) {
            return Err(wrong(format!(
                "the server `{other}` is called `{ours}` here, too; rename one"
            )));
        }
        if ours != name {
            notes.push(format!("the server `{name}` is called `{ours}` here"));
        }
        written.insert(ours, server);
    }
    let mut config = McpConfig::check(written)?;
    config.notes = notes;
    Ok(config)
}

impl Entry {
    /// Converts an entry into a server, or says why the server is left out.
    fn convert(
        self,
        name: &str,
        variables: Variables<'_>,
        notes: &mut Vec<String>,
    ) -> Result<ServerEntry, String> {
        let says = |key: &str| self.others.get(key).and_then(Value::as_bool);
        let is_off = says("enabled") == Some(false) || says("isActive") == Some(false);
        if self.disabled == Some(true) || is_off {
            return Err("it is disabled".to_owned());
        }
        let transport = match self.transport.as_deref() {
            Some("sse") => {
                return Err("it speaks the earlier HTTP+SSE transport, which is not spoken here; expected `http`".to_owned());
            }
            Some("streamableHttp") => Some("http".to_owned()),
            _ => self.transport,
        };
        if let Some(key) = self.others.keys().find(|key| is_about_tools(key)) {
            return Err(format!(
                "`{key}` may say which of its tools are used, and cannot be read here; write `disabledTools` or `enabledTools`"
            ));
        }
        let trust = match self.trust.map(serde_json::from_value::<Trust>) {
            None => Trust::None,
            Some(Ok(trust)) => trust,
            Some(Err(_)) => {
                notes.push(format!(
                    "`trust` of the server `{name}` is ignored: expected `none` or `annotations`"
                ));
                Trust::None
            }
        };
        let enabled = self.enabled_tools.filter(|tools| !tools.iter().any(|it| it == EVERY));
        for key in self.others.keys() {
            let why = match APPROVALS.contains(&key.as_str()) {
                true => "here the policy of the application says who is asked",
                false => "it means nothing here",
            };
            notes.push(format!("`{key}` of the server `{name}` is ignored: {why}"));
        }
        let timeout = self.timeout.map(|timeout| match timeout > MOST_SECONDS {
            true => {
                let note =
                    format!("the timeout {timeout} of the server `{name}` is read as milliseconds");
                notes.push(note);
                timeout.div_ceil(1000)
            }
            false => timeout,
        });
        let expand = |text: String| expand(&text, variables);
        let each = |of: BTreeMap<String, String>| {
            let pairs = of.into_iter().map(|(key, value)| Ok((key, expand(value)?)));
            pairs.collect::<Result<BTreeMap<_, _>, String>>()
        };
        let env = self.env.map(|env| env.into_iter().map(|(key, it)| (key, text(it))).collect());
        Ok(ServerEntry {
            command: self.command.map(expand).transpose()?,
            args: self.args.map(|it| it.into_iter().map(expand).collect()).transpose()?,
            env: env.map(each).transpose()?,
            pass: self.pass,
            cwd: self.cwd.map(expand).transpose()?.map(PathBuf::from),
            url: self.url.map(expand).transpose()?,
            headers: self.headers.map(each).transpose()?,
            token_env: self.token_env,
            oauth: self.oauth,
            trust,
            start_timeout: self.start_timeout,
            timeout,
            enabled_tools: enabled,
            disabled_tools: self.disabled_tools,
            transport,
        })
    }
}

/// Reports whether a key may select which tools are used. Keys about approvals do not.
fn is_about_tools(key: &str) -> bool {
    key.to_lowercase().contains(TOOLS) && !APPROVALS.contains(&key)
}

/// Returns the value as text, because some applications write numbers and booleans for variables.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Replaces `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}` and the folder variables of editors.
fn expand(text: &str, variables: Variables<'_>) -> Result<String, String> {
    let (mut whole, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        whole.push_str(before);
        whole.push_str(&value(name, variables)?);
        rest = after;
    }
    whole.push_str(rest);
    Ok(whole)
}

fn value(name: &str, variables: Variables<'_>) -> Result<String, String> {
    if let Some(asked) = name.strip_prefix("input:") {
        return Err(format!(
            "it wants to ask for `{asked}`; name a variable, as in `${{env:NAME}}`"
        ));
    }
    let (name, otherwise) = match name.strip_prefix("env:").unwrap_or(name).split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (name.strip_prefix("env:").unwrap_or(name), None),
    };
    let found = match name {
        "workspaceFolder" | "CLAUDE_PROJECT_DIR" => {
            let folder = std::env::current_dir().map_err(|error| error.to_string())?;
            Some(folder.display().to_string())
        }
        "userHome" => variables("HOME"),
        "/" | "pathSeparator" => Some(std::path::MAIN_SEPARATOR.to_string()),
        name => variables(name),
    };
    found
        .or_else(|| otherwise.map(str::to_owned))
        .ok_or_else(|| format!("it needs the variable `{name}`, which is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::config::Endpoint;

    fn read(json: &str) -> McpConfig {
        let set = |name: &str| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "GITHUB_TOKEN" => Some("secret".to_owned()),
            _ => None,
        };
        config(json, &set).expect("it is read")
    }

    fn refusal(json: &str) -> String {
        config(json, &|_| None).expect_err(json).to_string()
    }

    fn program(config: &McpConfig, name: &str) -> super::super::Program {
        match &config.servers[name].reached {
            Endpoint::Program(program) => program.clone(),
            Endpoint::Http(http) => panic!("{}", http.url),
        }
    }

    #[test]
    fn a_file_of_claude_desktop_is_read_as_it_is() {
        let config = read(
            r#"{"globalShortcut": "", "mcpServers": {"filesystem": {
                "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop"]}}}"#,
        );
        assert_eq!(program(&config, "filesystem").args[2], "/Users/ada/Desktop");
        assert_eq!(config.notes(), [""; 0]);
    }

    #[test]
    fn a_file_of_claude_code_is_read_with_its_variables() {
        let config = read(
            r#"{"mcpServers": {
                "db": {"type": "stdio", "command": "${HOME}/bin/db", "args": ["--level", "${LEVEL:-info}"],
                    "env": {"TOKEN": "${GITHUB_TOKEN}", "PORT": 80}, "timeout": 600000},
                "gone": {"command": "x", "args": ["${NOT_SET}"]},
                "events": {"type": "sse", "url": "https://events.example/sse"}}}"#,
        );
        let db = program(&config, "db");
        assert_eq!((&*db.command, &*db.args[1]), ("/home/ada/bin/db", "info"));
        assert_eq!((&*db.env["TOKEN"], &*db.env["PORT"]), ("secret", "80"));
        assert_eq!(config.servers["db"].call_timeout.unwrap().as_secs(), 600);
        assert_eq!(
            config.notes(),
            [
                "the timeout 600000 of the server `db` is read as milliseconds",
                "the server `gone` is left out: it needs the variable `NOT_SET`, which is not set",
                "the server `events` is left out: it speaks the earlier HTTP+SSE transport, which is not spoken here; expected `http`",
            ]
        );
    }

    #[test]
    fn a_file_of_cline_is_read_and_its_approvals_are_ignored_with_a_word() {
        let config = read(
            r#"{"mcpServers": {
                "github.com/modelcontextprotocol/servers/tree/main/src/time": {
                    "autoApprove": ["get_current_time"], "disabled": false, "timeout": 60,
                    "type": "stdio", "command": "uvx", "args": ["mcp-server-time"]},
                "off": {"command": "x", "disabled": true}}}"#,
        );
        let name = config.names().next().expect("one server").to_owned();
        assert!(name.starts_with("github-com-mode-") && name.len() <= 24, "{name}");
        assert_eq!(config.servers[&name].call_timeout.unwrap().as_secs(), 60);
        assert_eq!(config.servers[&name].trust, Trust::None);
        let notes = config.notes().join("\n");
        assert!(notes.contains(&format!("/src/time` is called `{name}` here")), "{notes}");
        assert!(notes.contains("`autoApprove` of the server"), "{notes}");
        assert!(notes.contains("the server `off` is left out: it is disabled"), "{notes}");
    }

    /// A tool that is switched off in one application stays off in another.
    #[test]
    fn the_tools_that_another_application_leaves_out_are_left_out() {
        let config = read(
            r#"{"mcpServers": {
                "roo": {"command": "x", "disabledTools": ["write"], "alwaysAllow": ["read"]},
                "gemini": {"command": "x", "includeTools": ["read", "write"], "excludeTools": ["write"], "trust": true},
                "copilot": {"command": "x", "tools": ["*"]},
                "odd": {"command": "x", "toolsFilter": {"deny": ["write"]}}}}"#,
        );
        let lets = |server: &str, tool: &str| config.servers[server].filter.lets(tool);
        for server in ["roo", "gemini"] {
            assert!(lets(server, "read") && !lets(server, "write"), "{server}");
        }
        assert!(!lets("gemini", "other") && lets("copilot", "write"));
        assert_eq!(config.servers["gemini"].trust, Trust::None);
        assert!(!config.servers.contains_key("odd"));
        let notes = config.notes().join("\n");
        assert!(
            notes.contains("`odd` is left out: `toolsFilter` may say which of its tools"),
            "{notes}"
        );
        let error =
            refusal(r#"{"mcpServers": {"roo": {"command": "x", "disabledTools": "write"}}}"#);
        assert!(error.contains("`roo`") && error.contains("expected a sequence"), "{error}");
    }

    #[test]
    fn an_entry_that_can_mean_two_servers_is_refused_by_its_name() {
        let both = refusal(r#"{"mcpServers": {"a": {"command": "x", "url": "http://localhost"}}}"#);
        assert!(both.contains("`a`") && both.contains("both `command` and `url`"), "{both}");
        let twice = refusal(r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#);
        assert!(twice.contains("the server `a` is called `a` here, too"), "{twice}");
        let fitted = names::fitting_server("a.b");
        let alike = format!(
            r#"{{"mcpServers": {{"a.b": {{"command": "x"}}, "{fitted}": {{"command": "y"}}}}}}"#
        );
        let alike = refusal(&alike);
        assert!(
            alike.contains(&format!("the server `a.b` is called `{fitted}` here, too")),
            "{alike}"
        );
        let case =
            refusal(r#"{"servers": {"Files": {"command": "x"}, "files": {"command": "y"}}}"#);
        assert!(case.contains("`Files`") && case.contains("`files`"), "{case}");
        let key = refusal(r#"{"mcpServers": {"a": {"command": "x", "command": "y"}}}"#);
        assert!(key.contains("`a`") && key.contains("duplicate field `command`"), "{key}");
    }

    #[cfg(feature = "http-client")]
    #[test]
    fn a_file_of_cursor_is_read_with_its_headers() {
        let config = read(
            r#"{"mcpServers": {"far": {"url": "http://localhost:3000/mcp",
                "headers": {"Authorization": "Bearer ${env:GITHUB_TOKEN}"}}}}"#,
        );
        let Endpoint::Http(http) = &config.servers["far"].reached else { panic!("it has a URL") };
        assert_eq!(http.headers["Authorization"], "Bearer secret");
        let error = refusal(
            r#"{"mcpServers": {"far": {"url": "http://far.example/mcp", "headers": {"X-Key": "k"}}}}"#,
        );
        assert!(error.contains("in the clear"), "{error}");
    }

    #[test]
    fn a_file_of_vs_code_is_read_and_what_it_would_ask_for_is_a_note() {
        let config = read(
            r#"{"inputs": [{"type": "promptString", "id": "key", "description": "Key", "password": true}],
                "servers": {
                "playwright": {"type": "stdio", "command": "npx", "args": ["-y", "@playwright/mcp@latest"], "gallery": true},
                "asks": {"command": "x", "env": {"KEY": "${input:key}"}}}}"#,
        );
        assert_eq!(config.names().collect::<Vec<_>>(), ["playwright"]);
        assert_eq!(
            config.notes(),
            [
                "`gallery` of the server `playwright` is ignored: it means nothing here",
                "the server `asks` is left out: it wants to ask for `key`; name a variable, as in `${env:NAME}`",
            ]
        );
    }
}
