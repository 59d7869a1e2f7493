//! Ready-made tools: files of a workspace, programs, judged command lines, undo, syntax checks.

pub use toolwright_toolbox::*;
