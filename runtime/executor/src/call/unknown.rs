//! The error about a tool that does not exist.

use std::borrow::Cow;

use crate::catalog::Catalog;
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::error_kind;
use toolwright_core::near::near;

/// The maximum number of tools that the error for an unknown name lists.
const FEW: usize = 10;

#[cold]
pub(crate) fn unknown(catalog: &Catalog, name: &str) -> ToolError {
    let name = &*shorten(name);
    let names = || catalog.callable_names();
    let close = near(name, names());
    let error = ToolError::new(error_kind::UNKNOWN_TOOL, format!("no tool is called `{name}`"))
        .class(ErrorClass::Invalid);
    let quoted = |names: &[&str]| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    if !close.is_empty() {
        return error.hint(format!("did you mean {}?", quoted(&close)));
    }
    match names().count() {
        0 => error.hint("there are no tools"),
        1..=FEW => error.hint(format!("the tools are {}", quoted(&names().collect::<Vec<_>>()))),
        _ => error.hint("call one of the tools that you were given"),
    }
}

/// Shortens a name for a message, because models have sent whole documents as a name.
fn shorten(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(100) {
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(name),
    }
}
