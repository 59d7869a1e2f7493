//! Ready-made tools: files of a workspace, programs, command lines rated by danger, undo, syntax checks.
//!
//! Begin with a bundle: `CodingTools` for a folder, `WebTools` (feature `web`), `TaskTools` (feature `tasks`). The context store
//! is a feature of the crate `toolwright-toolbox`, `context-store`; an application that enables it finds its types here.

pub use toolwright_toolbox::*;
