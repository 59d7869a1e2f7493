//! Ready-made tools: files of a workspace, programs, command lines rated by danger, undo, syntax checks.
//!
//! Begin with a bundle: `CodingTools` for a folder, `WebTools` (feature `web`), `TaskTools` (feature `tasks`). The tools of the
//! context store (feature `context`) are `CONTEXT_STORE`, and their service is a `ContextStore`. `context_query` needs the
//! feature `context` of the crate `toolwright-toolbox`.

pub use toolwright_toolbox::*;
