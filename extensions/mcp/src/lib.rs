//! The Model Context Protocol for [Toolwright](toolwright): [`McpServer`] serves an application's tools to any client.
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cli")]
#[cfg_attr(docsrs, doc(cfg(feature = "cli")))]
pub mod cli;
mod server;

pub use server::{McpServer, ServeError, serve};
