//! Part of `toolwright`, without a public interface of its own: rules over what is known of a call, which allow it, ask
//! a person or deny it.
#![warn(missing_docs)]

pub mod policy;
