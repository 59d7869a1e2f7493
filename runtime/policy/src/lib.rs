//! Part of `toolwright`, without a public interface of its own: rules over the facts of a call, which allow it, ask a
//! person or deny it.
#![warn(missing_docs)]

pub mod policy;
