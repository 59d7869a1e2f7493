//! Connects to a server: starts its program, or connects to its URL, with OAuth tokens if the server may ask for them.

#[cfg(feature = "oauth")]
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::{ClientInitializeError, RunningService};
use toolwright::ToolError;

use super::Server;
use crate::client::config::Endpoint;
#[cfg(feature = "oauth")]
use crate::client::config::{Http, OAuthConfig};
use crate::client::handler::Handler;
use crate::client::lines::Lines;
#[cfg(feature = "oauth")]
use crate::client::oauth::{MemoryTokens, OAuth, authorization::Authorization};
use crate::client::process::Process;

/// How long a person may take to sign in.
#[cfg(feature = "oauth")]
const SIGN_IN: Duration = Duration::from_secs(300);

/// A future that connects to the server and begins a session.
pub(super) type Connecting =
    BoxFuture<'static, Result<RunningService<RoleClient, Handler>, ClientInitializeError>>;

impl Server {
    /// Starts the program of the server, if it has one, and connects.
    pub(super) fn connect_to_server(
        &self,
        handler: Handler,
    ) -> Result<(Option<Process>, Connecting), ToolError> {
        match &self.config.reached {
            Endpoint::Program(program) => {
                let (process, output, input) =
                    Process::start(&self.name, program).map_err(|error| {
                        self.unreachable("its program cannot be started").caused_by(error)
                    })?;
                let lines = Lines::new(output, input);
                Ok((Some(process), Box::pin(rmcp::serve_client(handler, lines))))
            }
            #[cfg(feature = "http-client")]
            Endpoint::Http(http) => {
                #[cfg(feature = "oauth")]
                let authorization = self.authorization(http);
                let transport = || {
                    crate::client::http::transport(
                        http,
                        #[cfg(feature = "oauth")]
                        authorization.clone(),
                    )
                };
                let (first, second) = (transport(), transport());
                let (first, second) = first
                    .and_then(|first| Ok((first, second?)))
                    .map_err(|why| self.unreachable(&why))?;
                Ok((None, Box::pin(crate::client::http::begin(handler, [first, second]))))
            }
            #[cfg(not(feature = "http-client"))]
            Endpoint::Http(_) => Err(self.unreachable("the application is built without HTTP")),
        }
    }

    /// Returns the source of tokens, if the application or the configuration sets up OAuth. Returns `None` if the
    /// configuration has a token, or if requests would go unencrypted to another machine.
    #[cfg(feature = "oauth")]
    fn authorization(&self, http: &Http) -> Option<Arc<Authorization>> {
        if http.is_in_the_clear() {
            return None;
        }
        let is_configured = http.oauth != OAuthConfig::default();
        // If the application has no token store, the tokens last as long as the connection.
        let unstored = || is_configured.then(|| OAuth::new(MemoryTokens::default()));
        let oauth = self.oauth.clone().filter(|_| http.token_env.is_none()).or_else(unstored)?;
        Some(Arc::new(Authorization::new(&self.name, &http.url, http.oauth.clone(), oauth)))
    }

    /// Returns how long a start may take, which is longer if a person may have to sign in.
    pub(in crate::client) fn start_timeout(&self) -> Duration {
        #[cfg(feature = "oauth")]
        if let (Endpoint::Http(http), Some(oauth)) = (&self.config.reached, &self.oauth)
            && http.token_env.is_none()
            && oauth.sign_in.is_some()
        {
            return self.config.start_timeout.saturating_add(SIGN_IN);
        }
        self.config.start_timeout
    }

    /// Returns the likely reason why no session could begin.
    pub(super) fn why_no_session(&self) -> &'static str {
        match &self.config.reached {
            Endpoint::Program(_) => "it does not speak the protocol",
            Endpoint::Http(http) if http.is_in_the_clear() => {
                "no session could begin; it cannot be reached, or needs a token, which is sent to another machine only in encrypted form: expected `https://…`"
            }
            Endpoint::Http(_) => {
                "no session could begin; it cannot be reached, or refuses the token"
            }
        }
    }
}

#[cfg(all(test, feature = "oauth"))]
mod tests {
    use super::*;
    use crate::client::config::McpConfig;
    use crate::client::connection::SharedAnswers;

    /// The URL of a server that asks for no token may be one in the clear; an application's `OAuth` is for all its servers.
    #[test]
    fn no_token_goes_to_another_machine_in_the_clear() {
        for (url, has_tokens) in [
            ("http://127.0.0.1:80/mcp", true),
            ("http://far.example/mcp", false),
            ("http://127.0.0.1.far.example/mcp", false),
        ] {
            let config = McpConfig::from_toml(&format!("[servers.a]\nurl = \"{url}\"")).unwrap();
            let config = config.servers["a"].clone();
            let Endpoint::Http(http) = config.reached.clone() else { panic!("it has a URL") };
            let server = Server::new("a".into(), config, SharedAnswers::default());
            let server = server.with_oauth(OAuth::new(MemoryTokens::default()));
            assert_eq!(server.authorization(&http).is_some(), has_tokens, "{url}");
        }
    }
}
