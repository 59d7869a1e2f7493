//! The tool of a name, or an answer that lists near names.

use std::borrow::Cow;

use crate::error::{Class, ToolError};
use crate::executor::{Core, Plan};
use crate::registry::{Entry, near};

/// Up to so many tools, an unknown name is answered with all of them.
const FEW: usize = 10;

#[inline]
pub(crate) fn find<'a>(core: &'a Core, name: &str) -> Result<(&'a Entry, &'a Plan), ToolError> {
    let index = core.registry.index(name).ok_or_else(|| unknown(core, name))?;
    core.registry.entries().get(index).zip(core.plans.get(index)).ok_or_else(|| unknown(core, name))
}

#[cold]
fn unknown(core: &Core, name: &str) -> ToolError {
    let name = &*shortened(name);
    let names = || core.registry.callable_names();
    let close = near(name, names());
    let error =
        ToolError::new("unknown_tool", format!("no tool is called `{name}`")).class(Class::Invalid);
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

/// A name as it is told again: models have sent whole documents as one.
fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(100) {
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(name),
    }
}
