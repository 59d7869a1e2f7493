//! The errors of calls to a server; each message names the server.

use rmcp::ServiceError;
use rmcp::model::ErrorCode;
use toolwright::{ErrorClass, ToolError, error_kind};

use super::{Line, Server};
use crate::client::definition::{CHANGED, ForeignTool};
use crate::client::http;
use crate::client::lines::is_not_taken;
use crate::client::untrusted;

impl Server {
    pub(super) fn changed(&self, tool: &ForeignTool, is_there: bool) -> ToolError {
        let (name, server) = (&tool.name, &self.name);
        tracing::warn!(tool = %name, %server, is_there, "the definition of a foreign tool has changed since it was shown");
        let words = match is_there {
            true => {
                format!("the MCP server `{server}` has changed what `{name}` is, so it was not run")
            }
            false => format!("the MCP server `{server}` no longer has `{name}`"),
        };
        let hint = "look at the tools of the server again before you call it";
        ToolError::new(CHANGED, words).hint(hint)
    }

    /// Makes the error of a call that was not sent, because the server cannot be used.
    pub(in crate::client) fn unreachable(&self, why: &str) -> ToolError {
        ToolError::new(
            "unreachable",
            format!("the MCP server `{}` cannot be used: {why}", self.name),
        )
        .class(ErrorClass::NotStarted { retry_after: None })
        .hint("go on without its tools, or try again later")
    }

    /// Makes the error for a server that did not know the session of a call, and then did not know the new session
    /// either.
    pub(super) fn unknown_twice(&self, tool: &ForeignTool) -> ToolError {
        let words = format!(
            "the MCP server `{}` answers the call of `{}` by 404 in a session that has just begun, so it cannot be made there",
            self.name, tool.name
        );
        ToolError::new("refused_by_server", words)
    }

    /// Makes the error of a request that was sent, or may have been sent.
    pub(super) async fn explain(&self, line: &Line, error: ServiceError) -> ToolError {
        let server = &self.name;
        if let Some(words) = http::refusal(&error) {
            let said = untrusted::fenced(&format!("MCP server `{server}`"), words);
            let words =
                format!("the MCP server `{server}` did not answer the call, but said:\n{said}");
            return ToolError::new("refused_by_server", words)
                .untrusted(&format!("MCP server `{server}`"))
                .class(ErrorClass::Unknown)
                .hint("the call may have taken effect");
        }
        if matches!(error, ServiceError::UnexpectedResponse) {
            let words = format!(
                "the MCP server `{server}` answered the call by something that is not the result of a call"
            );
            return ToolError::new("unsupported_answer", words)
                .class(ErrorClass::Unknown)
                .hint("the call may have taken effect");
        }
        if let Some(why) = http::authorization_failure(&error) {
            let words = format!(
                "the MCP server `{server}` needs a token, and there is none: {}",
                untrusted::line(&why)
            );
            return ToolError::new("not_authorized", words)
                .untrusted(&format!("MCP server `{server}`"))
                .class(ErrorClass::NotStarted { retry_after: None })
                .hint("go on without its tools; a person has to sign in");
        }
        let ServiceError::McpError(error) = error else {
            let said = match &line.said {
                Some(said) => said.words(server).await,
                None => String::new(),
            };
            let words = format!("the MCP server `{server}` ended before it answered{said}");
            return ToolError::new("unreachable", words)
                .untrusted(&format!("MCP server `{server}`"))
                .class(ErrorClass::Transient)
                .caused_by(error);
        };
        if is_not_taken(&error) {
            let why = untrusted::line(&error.message);
            let words = format!(
                "the MCP server `{server}` answered, but its answer is not accepted: {why}"
            );
            return ToolError::new("answer_not_taken", words)
                .untrusted(&format!("MCP server `{server}`"))
                .class(ErrorClass::Unknown)
                .hint("the call may have taken effect; ask for less at a time");
        }
        let said = untrusted::fenced(&format!("MCP server `{server}`"), &error.message);
        let class = match error.code {
            ErrorCode::INVALID_PARAMS => ErrorClass::Invalid,
            ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_REQUEST => ErrorClass::Final,
            _ => ErrorClass::Transient,
        };
        let words = format!("the MCP server `{server}` refused the call:\n{said}");
        ToolError::new("refused_by_server", words)
            .untrusted(&format!("MCP server `{server}`"))
            .class(class)
    }

    /// Makes the error of a call that has no answer in time.
    pub(super) fn timed_out(&self, after: std::time::Duration) -> ToolError {
        let words = format!(
            "the MCP server `{}` neither answered nor reported its progress within {} s",
            self.name,
            after.as_secs_f64()
        );
        ToolError::new(error_kind::TIMEOUT, words)
            .class(ErrorClass::Transient)
            .hint("the call may have taken effect; `timeout` of the server in the configuration allows more time")
    }
}
