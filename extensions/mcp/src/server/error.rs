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
