//! The usage that the API reports.

use serde::Deserialize;

use crate::http::parts::known;
use crate::limits::Usage;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    input_tokens: u64,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "known")]
    cache_creation: Option<CacheWrites>,
    output_tokens: u64,
    #[serde(deserialize_with = "known")]
    output_tokens_details: Option<OutputDetails>,
    /// The steps that the server took for one answer. The other fields count only the steps of the type `message`.
    #[serde(deserialize_with = "known")]
    iterations: Option<Vec<Iteration>>,
}

#[derive(Deserialize)]
struct Iteration {
    r#type: String,
    #[serde(flatten)]
    tokens: Tokens,
}

#[derive(Deserialize)]
struct CacheWrites {
    ephemeral_1h_input_tokens: u64,
}

#[derive(Deserialize)]
struct OutputDetails {
    thinking_tokens: u64,
}

pub(in crate::http) fn usage(text: &str) -> Option<Usage> {
    serde_json::from_str::<Tokens>(text).ok().map(Usage::from)
}

impl From<Tokens> for Usage {
    fn from(mut tokens: Tokens) -> Self {
        let iterations = tokens.iterations.take().into_iter().flatten();
        let compactions = iterations.filter(|it| it.r#type == "compaction");
        let compactions = compactions.map(|it| Self::from(it.tokens));
        compactions.fold(of_message(tokens), Self::plus)
    }
}

/// Returns the usage of the answer, without its compactions.
fn of_message(tokens: Tokens) -> Usage {
    let read = tokens.cache_read_input_tokens.unwrap_or_default();
    let written = tokens.cache_creation_input_tokens.unwrap_or_default();
    let input = tokens.input_tokens.saturating_add(read).saturating_add(written);
    let for_an_hour = tokens.cache_creation.map_or(0, |it| it.ephemeral_1h_input_tokens);
    Usage::new(input, tokens.output_tokens)
        .cached(read)
        .cache_write(written)
        .long_cache_write(for_an_hour.min(written))
        .reasoning(tokens.output_tokens_details.map_or(0, |it| it.thinking_tokens))
}
