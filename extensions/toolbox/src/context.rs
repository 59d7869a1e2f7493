//! The context store: stores texts that are too large for a conversation under logical paths. Tools search, query and
//! edit them.

mod chunk;
mod context_edit;
mod context_pipe;
#[cfg(feature = "context")]
mod context_query;
mod context_read;
mod context_refresh;
mod context_search;
mod context_tree;
mod context_write;
mod database;
mod embedder;
mod embedding;
#[cfg(feature = "web")]
mod http_embedder;
mod marked;
#[cfg(feature = "context")]
mod memory;
mod merge;
mod noted;
mod path;
#[cfg(feature = "context")]
mod query;
mod refresh;
mod search;
mod source;
mod store;
mod tree;
mod vector;

use toolwright::Handle;

pub use context_edit::{CONTEXT_EDIT, EditedEntry, context_edit};
pub use context_pipe::{CONTEXT_PIPE, PipedEntry, context_pipe};
#[cfg(feature = "context")]
pub use context_query::{CONTEXT_QUERY, QueryAnswer, context_query};
pub use context_read::{CONTEXT_READ, context_read};
pub use context_refresh::{CONTEXT_REFRESH, context_refresh};
pub use context_search::{CONTEXT_SEARCH, context_search};
pub use context_tree::{CONTEXT_TREE, ContextTree, context_tree};
pub use context_write::{CONTEXT_WRITE, context_write};
pub use database::ContextStoreError;
pub use embedder::{EmbedPurpose, Embedder, EmbedderError};
pub use embedding::EmbeddingReport;
#[cfg(feature = "web")]
pub use http_embedder::HttpEmbedder;
pub use path::LogicalPath;
pub use refresh::{RefreshResult, RefreshedEntry};
pub use search::{ContextMatch, FoundParts};
pub use source::ContextSource;
pub use store::{ContextEntry, ContextStore, OnConflict, StoredEntry};
pub use tree::ContextItem;

/// The tools of a [`ContextStore`] except for the one that queries by JSONata; they need the store as a service.
///
/// ```
/// use toolwright_toolbox::CONTEXT_STORE;
///
/// let names: Vec<&str> = CONTEXT_STORE.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names[..4], ["context_write", "context_read", "context_search", "context_tree"]);
/// assert_eq!(names[4..], ["context_refresh", "context_edit", "context_pipe"]);
/// ```
pub const CONTEXT_STORE: [Handle; 7] = [
    CONTEXT_WRITE,
    CONTEXT_READ,
    CONTEXT_SEARCH,
    CONTEXT_TREE,
    CONTEXT_REFRESH,
    CONTEXT_EDIT,
    CONTEXT_PIPE,
];

/// All tools of a [`ContextStore`]. They need the store as a service.
///
/// ```
/// use toolwright_toolbox::CONTEXT;
///
/// let names: Vec<&str> = CONTEXT.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names[..4], ["context_write", "context_read", "context_search", "context_tree"]);
/// assert_eq!(names[4..], ["context_refresh", "context_edit", "context_query", "context_pipe"]);
/// ```
#[cfg(feature = "context")]
pub const CONTEXT: [Handle; 8] = [
    CONTEXT_WRITE,
    CONTEXT_READ,
    CONTEXT_SEARCH,
    CONTEXT_TREE,
    CONTEXT_REFRESH,
    CONTEXT_EDIT,
    CONTEXT_QUERY,
    CONTEXT_PIPE,
];
