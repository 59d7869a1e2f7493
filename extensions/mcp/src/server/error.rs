//! Errors of serving a session.

use toolwright::dialect::DialectError;
use toolwright::{MissingServices, ProfileError, UnknownProfile};

/// The reason why a session could not be served.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The run of a session cannot start, because it lacks services.
    #[error(transparent)]
    Services(#[from] MissingServices),
    /// The protocol cannot carry a tool.
    #[error(transparent)]
    Tools(#[from] DialectError),
    /// The server has no such profile.
    #[error(transparent)]
    UnknownProfile(#[from] UnknownProfile),
    /// The server has no profile for this user: [`profile_of`](crate::McpServer::profile_of) chose a name that is not among
    /// its [`profiles`](crate::McpServer::profiles). Over HTTP, the request is answered 403 with this error's message.
    #[error(
        "{} may use no tools of this server: it has no profile `{profile}`, which it chooses for this user; ask its operator to \
         give the user a profile, or sign in as another user",
        user.as_ref().map_or("a user without a name".to_owned(), |user| format!("the user `{user}`"))
    )]
    NoProfile {
        /// The user; `None` if neither a check of tokens nor the application names one.
        user: Option<String>,
        /// The name that the application chose.
        profile: String,
    },
    /// The profile does not fit the tools.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The client did not follow the protocol.
    #[error("the client did not begin a session: {0}")]
    Protocol(String),
    /// The HTTP server cannot listen at its address.
    #[error("the address {address} cannot be taken")]
    Address {
        /// The address at which the server was to listen.
        address: std::net::SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Standard output cannot be reserved for the protocol.
    #[error("standard output cannot be reserved for the protocol")]
    Output(#[source] std::io::Error),
}
toolwright::unstable::debug_as_sentence!(ServeError);
