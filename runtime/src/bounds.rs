//! Names the traits that parameters, results and errors of tools have to implement, only for the messages of the
//! compiler. The compiler shortens a name to its last word if there is a public path to the trait, so that a message
//! says `Service` and no private path. Programs must not name these traits, because any release may change them.

pub use toolwright_core::__private0::schemars::JsonSchema;
pub use toolwright_core::__private0::{
    Alike, ApprovalReason, Evidence, Exclusive, Failure, Field, FromText, Impossible, Input,
    IntoAsking, IntoDanger, IntoPreview, IntoReconciled, JsonPreset, KeysInJson, KindOfResource,
    Length, NestedResult, Number, ObjectInJson, OneResult, Service, Text, ToldApart, ToolOutput,
};
