//! Items that generated code names. They are not part of the public interface: they change without notice, and the
//! macro of another version does not find them.

pub use core::convert::Into;
pub use core::default::Default;
pub use core::option::Option::{self, None, Some};
pub use core::primitive::{bool, usize};
pub use core::result::Result::{self, Err, Ok};
pub use core::{env, file};
pub use std::boxed::Box;

pub use linkme;
pub use schemars;
pub use serde;

pub use crate::capability::{CallEnd, Capability, Exclusive, Loan, Scope, Service};
pub use crate::distinct::{Alike, Differs, Pair, ToldApart, giving};
pub use crate::elsewhere::carried_out_elsewhere;
pub use crate::evidence::{
    Evidence, ModelParameter, RefusedType, ResourceParameter, ServiceParameter,
};
pub use crate::footprint::{
    ApprovalReason, File, HoldsNone, IntoDanger, KindOfResource, ResourceName, one_scope,
};
pub use crate::input::{
    AnyShape, Bound, BoundOf, Fault, Field, Impossible, Input, InvalidKeys, Key, Keys, KeysInJson,
    Knowledge, KnownType, Length, Limits, NoRange, Number, ObjectInJson, Param, Problem, Problems,
    Range, Reader, Rule, Shape, Slots, Text, UnknownType, VisitedTypes, absent, fill, read_object,
};
pub use crate::output::{
    Answer, Asking, Codec, Encode, Failure, IntoAsking, IntoPreview, IntoReconciled, IntoValidated,
    NestedResult, NoContainer, NoSchema, OneResult, Plain, Preview, Probe, Reconciling, SentValue,
    Single, ToolOutput, Validated,
};
pub use crate::spec::{
    ApprovalSpec, DangerSpec, Handle, Location, RetrySpec, Spec, Start, Started, TimeoutSpec,
};
pub use crate::tool::{Danger, Effect, Exposure, Repair};

/// The tools that are linked into the program.
#[linkme::distributed_slice]
pub static TOOLS: [Handle];

/// Registers a tool when the program is linked.
#[doc(hidden)]
#[macro_export]
macro_rules! __link {
    ($spec:ident) => {
        #[$crate::__private0::linkme::distributed_slice($crate::__private0::TOOLS)]
        #[linkme(crate = $crate::__private0::linkme)]
        static __TW_LINK: $crate::spec::Handle = $crate::spec::Handle::new(&$spec);
    };
}

pub use crate::__link as link;

/// Implemented for types whose defaults and examples can be written as JSON into the schema.
#[diagnostic::on_unimplemented(
    message = "a default or an example of type `{Self}` cannot be shown in the schema",
    label = "it has no JSON form",
    note = "write `#[toolwright::data]` on the type"
)]
pub trait JsonPreset {
    fn json(&self) -> serde_json::Result<serde_json::Value>;
}

#[diagnostic::do_not_recommend]
impl<T: serde::Serialize> JsonPreset for T {
    fn json(&self) -> serde_json::Result<serde_json::Value> {
        crate::schema::preset_json(self)
    }
}

/// Types that a default or an example in quotes can become.
#[diagnostic::on_unimplemented(
    message = "text cannot become `{Self}`",
    label = "found text, expected a value of the parameter's type",
    note = "text in quotes is for types that implement `From<&str>`; any expression of the parameter's type will do"
)]
pub trait FromText {
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> T {
        T::from(text)
    }
}
