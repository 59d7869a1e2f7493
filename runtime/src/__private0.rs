//! What generated code may name. Not part of the public interface: it changes without notice, and
//! the macro of another version does not find it.

pub use core::convert::Into;
pub use core::default::Default;
pub use core::option::Option::{self, None, Some};
pub use core::primitive::usize;
pub use core::result::Result::{self, Err, Ok};
pub use core::{env, file};
pub use std::boxed::Box;

pub use linkme;
pub use schemars;
pub use serde;

pub use crate::capability::{Capability, Ended, Scope, answering, blocking, close};
pub use crate::footprint::File;
pub use crate::input::{
    Bound, BoundOf, Fault, InvalidKeys, Key, Keys, Param, Problem, Problems, Reader, Rule, Slots,
    absent, fill, read_object,
};
pub use crate::output::{
    Answer, Codec, NoSchema, Plain, Preview, Probe, Reconciling, preview_codec, reconciled_codec,
};
pub use crate::spec::{
    ApprovalSpec, DangerSpec, Handle, Location, RetrySpec, Spec, Start, Started, TimeoutSpec,
};
pub use crate::tool::{Danger, Effect, Exposure, Repair};

/// Every tool that is linked into the program.
#[linkme::distributed_slice]
pub static TOOLS: [Handle];

/// What a default or an example must be, to be shown in the schema.
#[diagnostic::on_unimplemented(
    message = "a default or an example of type `{Self}` cannot be shown in the schema",
    label = "it has no JSON form",
    note = "write `#[toolwright::data]` on the type"
)]
pub trait Shown: serde::Serialize {}

#[diagnostic::do_not_recommend]
impl<T: serde::Serialize> Shown for T {}

/// A default or an example as JSON.
pub fn json<T: Shown>(value: &T) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}
