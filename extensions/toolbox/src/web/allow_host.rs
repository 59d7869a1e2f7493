//! `allow_host` adds a host to the list of allowed hosts.
//!
//! # What it does
//! It lets the pages of the host be fetched without a question from then on.
//!
//! # What it may touch
//! The list of allowed hosts.
//!
//! # What it refuses
//! What is no host. A person is asked each time; with [`WebTools`](crate::WebTools) no grant covers it.

use toolwright::{ToolError, tool};

use super::allow_list::AllowList;
use super::target::Site;

/// Ask the person to allow a host, so that its pages can be fetched without a question each time.
#[tool(
    unlinked,
    group = "web",
    danger = dangerous,
    effect = idempotent,
    writes(),
    approval = "it lets pages of a host be fetched without a question",
    blocking
)]
pub fn allow_host(
    hosts: &AllowList,
    /// The host alone, such as `docs.rs`.
    #[arg(example = "docs.rs", positional)]
    host: String,
) -> Result<String, ToolError> {
    let site = Site::parse(&host)?;
    hosts.add_site(&site)?;
    Ok(format!("pages of `{site}` are fetched without a question from now on"))
}
