//! One field of a type with `#[data]`: named for each field, so that a type that is no data is answered first by the remedy and
//! then by serde and schemars, who know none.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a field of a type with `#[data]` may be.
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
