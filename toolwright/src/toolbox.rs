//! Ready-made tools: files of a workspace, programs, command lines rated by danger, undo, syntax checks.

pub use toolwright_toolbox::*;
