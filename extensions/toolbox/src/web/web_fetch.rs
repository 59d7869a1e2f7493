//! `web_fetch` fetches a page of the web.
//!
//! # What it does
//! It answers with the page as Markdown, as words, or as its links, in a fence, because pages are untrusted. For a long page it
//! answers with the beginning and the total length.
//!
//! # What it may touch
//! The host in the URL. It sends the URL, and nothing else that a model or a user wrote.
//!
//! # What it refuses
//! - URLs that are neither http nor https, or that contain a user.
//! - Hosts whose addresses are neither public nor permitted by the application.
//! - Redirects to such hosts, to another host that is not on the list of allowed hosts, or from https to http.
//! - Pages that are not text, or are compressed.
//!
//! A person is asked about a host that is not on the list of allowed hosts.

use jiff::Timestamp;
use serde_json::json;
use toolwright::untrusted::line;
use toolwright::{Content, Output, ToolContext, ToolError, tool};

use super::allow_list::AllowList;
use super::client::WebClient;
use super::failure;
use super::page::{self, Mode};
use super::target::Target;

/// Fetch a page of the web by its whole address, as Markdown. A page that was moved to another host is not followed: the answer
/// names the new address.
#[tool(
    unlinked,
    group = "web",
    danger = safe,
    effect = read,
    reads(),
    timeout = "40s",
    approval = reason(hosts, &url)
)]
pub async fn web_fetch(
    client: &WebClient,
    hosts: &AllowList,
    context: &ToolContext,
    /// The whole address.
    #[arg(example = "https://docs.rs/tokio", positional, sink)]
    url: String,
    /// What of the page is answered: `markdown`, its words as `text`, or its `links`.
    #[arg(default)]
    mode: Mode,
    /// How many characters are answered at the most.
    #[arg(default = 50_000, minimum = 100, maximum = 200_000)]
    max_characters: usize,
) -> Result<Output, ToolError> {
    let target = Target::parse(&url)?;
    let asked = target.url.clone();
    let page = client.fetch(target, hosts).await?;
    let (address, is_cut) = (page.url.clone(), page.is_cut);
    // Converting a large page takes long, so do not block the runtime.
    let text = tokio::task::spawn_blocking(move || page::text(&page, mode));
    let text = text.await.map_err(|error| {
        ToolError::new("internal", "the page could not be converted").caused_by(error)
    })??;
    let time = Timestamp::try_from(context.now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let source = failure::source(&address);
    let (part, total) = beginning(&text, max_characters);
    // The server chooses the target of a redirect, so the target belongs in the fence.
    let led = match address.as_str() == asked.as_str() {
        true => String::new(),
        false => format!("(address: {})\n", line(address.as_str())),
    };
    let mut output = Output::text(format!("{led}{part}"))
        .untrusted(&format!("{source}, fetched {time:.0}"))
        .metadata("untrusted", json!({"url": address.as_str(), "source": source}));
    if part.len() < text.len() {
        let note = format!(
            "(These are {max_characters} of {total} characters; ask for more by `max_characters`.)"
        );
        output = output.with(Content::text(note));
    }
    if is_cut {
        let note =
            "(The page is longer than the 2 MB that are read of one: this is from its beginning.)";
        output = output.with(Content::text(note));
    }
    Ok(output)
}

/// Returns the reason to ask a person: the host is not on the list, or the list cannot be read.
fn reason(hosts: &AllowList, url: &str) -> Option<String> {
    // An invalid URL is refused without a question to a person.
    let site = Target::parse(url).ok()?.site;
    match hosts.contains(&site) {
        Ok(true) => None,
        Ok(false) => Some(format!("`{site}` is not on the list of allowed hosts")),
        Err(error) => Some(error.message().to_owned()),
    }
}

/// Returns the beginning of a text, and the number of characters in the whole text.
fn beginning(text: &str, characters: usize) -> (&str, usize) {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(end, _)| end);
    (&text[..end], text.chars().count())
}
