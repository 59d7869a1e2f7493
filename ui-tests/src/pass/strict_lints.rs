//! Generated code is silent under the strictest lints, and needs no unsafe code.
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, unused_qualifications)]
#![deny(unused_results, unused_lifetimes, unused_import_braces, trivial_casts, single_use_lifetimes)]
#![deny(elided_lifetimes_in_paths, explicit_outlives_requirements, let_underscore_drop, dead_code)]
#![deny(redundant_lifetimes, variant_size_differences, unit_bindings)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(unsafe_code)]
#![expect(clippy::unused_async, reason = "a tool is async, whatever it does")]
use toolwright::{Closing, Danger, Reconciled, Registry, Resource, ToolContext, ToolError, tool};

struct Store;
struct Link;

impl Resource for Link {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Writes.
#[tool(
    danger = grade(&path), approval = reason(store, &path), writes(file = path), preview = shown,
    reconcile = found, timeout = "5s", retry(attempts = 2), limit = 3
)]
async fn write(
    store: &Store,
    link: &mut Link,
    context: &ToolContext,
    /// Which.
    #[arg(length = 1..=80, pattern = "^[a-z]+$", example = "a", short)]
    path: String,
    /// How much.
    #[arg(default = 1, minimum = 1, positional)]
    size: usize,
) -> Result<String, ToolError> {
    let _: (&Store, &mut Link, &ToolContext) = (store, link, context);
    Ok(format!("{path}{size}"))
}

/// Waits.
#[tool(blocking)]
fn wait(link: &mut Link) {
    let _: &mut Link = link;
}

const fn grade(_: &str) -> Danger {
    Danger::Safe
}

const fn reason(_: &Store, _: &str) -> Option<&'static str> {
    None
}

async fn shown(_: &Store, _: &mut Link, _: &ToolContext, path: String, _: usize) -> String {
    path
}

async fn found(_: &Store, _: &mut Link, _: &ToolContext, _: String, _: usize) -> Reconciled {
    Reconciled::Unknown
}

pub(super) fn main() {
    drop(Registry::of([WRITE, WAIT]).expect("sound tools"));
}
