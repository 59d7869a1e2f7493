//! The trait that every field type of a `#[data]` type has to implement. If a type does not, rustc first reports what
//! to do about it, before the errors of serde and schemars.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Types that a field of a `#[data]` type may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a type with `#[data]`",
    label = "a field is written as JSON, read from it, and has a schema",
    note = "write `#[toolwright::data]` on your own types",
    note = "types of chrono, jiff, url and uuid are data with the feature of that name of `toolwright`"
)]
pub trait Field {
    const IS_DATA: ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema> Field for T {
    const IS_DATA: () = ();
}
