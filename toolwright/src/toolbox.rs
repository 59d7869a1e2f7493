//! Ready-made tools: files of a workspace, programs, checked command lines, undo, syntax checks.

pub use toolwright_toolbox::*;
