// A lifetime of the function's own is nobody's concern but the borrow checker's.
#![deny(warnings, dead_code)]
use toolwright::{Registry, ToolContext, tool};

struct Disk(String);

/// Reads.
#[tool(effect = read)]
async fn read<'a>(
    disk: &'a Disk,
    context: &ToolContext,
    /// Which.
    path: String,
) -> String
where
    'a: 'a,
{
    let _ = context.call_id();
    format!("{}{path}", disk.0)
}

pub(super) fn main() {
    Registry::of([READ]).expect("a sound tool");
}
