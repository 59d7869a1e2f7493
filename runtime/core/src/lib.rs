//! Part of `toolwright`; use it through that crate. Defines a tool and one call of it: reads the input strictly,
//! provides capabilities to the tool, and turns the tool's result into an answer.
#![warn(missing_docs)]

#[doc(hidden)]
pub mod __private0;
#[doc(hidden)]
pub mod adaptation;
#[doc(hidden)]
pub mod address;
#[doc(hidden)]
pub mod call;
#[doc(hidden)]
pub mod calls;
#[doc(hidden)]
pub mod capability;
#[doc(hidden)]
pub mod context;
#[doc(hidden)]
pub mod distinct;
#[doc(hidden)]
pub mod elsewhere;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod error_kind;
#[doc(hidden)]
pub mod evidence;
#[doc(hidden)]
pub mod footprint;
#[doc(hidden)]
pub mod input;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod linked;
#[doc(hidden)]
pub mod near;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod person;
#[doc(hidden)]
pub mod printable;
#[doc(hidden)]
pub mod registration;
#[doc(hidden)]
pub mod repairs;
#[doc(hidden)]
pub mod scalar;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod spec;
#[doc(hidden)]
pub mod tool;
#[doc(hidden)]
pub mod untrusted;
