//! `allow_host` adds a host to the list of allowed hosts.
//!
//! # What it does
//! From then on, pages of the host are fetched without asking a person.
//!
//! # What it may touch
//! The list of allowed hosts.
//!
//! # What it refuses
//! Invalid host names. A person is asked about each host; with [`WebTools`](crate::WebTools), no grant can allow a
//! host.

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
    approval = reason(&host),
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

/// Returns the reason that the person reads, with the host in its ASCII form, which reveals letters that only look like
/// others.
fn reason(host: &str) -> Option<String> {
    let site = Site::parse(host).map_or_else(|_| "no host".to_owned(), |it| format!("`{it}`"));
    Some(format!("it lets pages of {site} be fetched without a question"))
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn a_person_reads_the_host_that_would_be_allowed() {
        let shown = |host: &str| reason(host).unwrap_or_default();
        assert!(shown("Docs.rs").contains("pages of `docs.rs` be"), "{}", shown("Docs.rs"));
        // The second letter is Cyrillic.
        assert!(shown("d\u{43e}cs.rs").contains("`xn--"), "{}", shown("d\u{43e}cs.rs"));
        assert!(shown("134744072..").contains("`8.8.8.8`"), "{}", shown("134744072.."));
    }
}
