//! Makes tools of the operations of an HTTP API, from its `OpenAPI` document: [`OpenApi`] is a bundle for an executor or an
//! agent.
//!
//! A document is parsed into values, each operation becomes one tool or a [`Refusal`] with its place, and a call of the tool
//! becomes one request. Every call goes through the application's executor, so policy, approval and journal apply to it.
//!
//! ```text
//! document ── operation ── input ──┐                     (what is read: pure)
//!               routes ── plan ── tool ── request ── send ── answer
//!                                          pure      I/O     pure
//! ```
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod argument;
mod body;
mod bundle;
mod credentials;
mod document;
mod joined;
mod names;
mod operation;
mod plan;
mod refusal;
mod request;
mod routes;
mod schema;
mod security;
mod send;
mod servers;
mod tool;

pub use bundle::OpenApi;
pub use credentials::{Credential, Credentials, FixedCredentials, OAuthCredentials, TokenUrlError};
pub use document::LoadError;
pub use plan::{Outcome, PlannedOperation};
pub use refusal::Refusal;
pub use routes::{Route, RouteError, Routes};
pub use security::SecurityScheme;

/// The examples of the guide, which are compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/openapi.md")]
mod guide {}
