//! Ready-made tools: files of a workspace, programs, rated command lines, undo, syntax checks.

pub use toolwright_toolbox::*;
