//! The embedding model that the environment names.

use std::error::Error;

use toolwright_toolbox::HttpEmbedder;

/// The address of OpenAI's API.
const OPENAI: &str = "https://api.openai.com/v1";

/// Makes the embedder of a model that is named with its dimensions, such as `text-embedding-3-small:1536`. The address
/// is that of an API in the form of OpenAI's; unless one is given, it is OpenAI's own. An address without encryption
/// gets no key.
///
/// # Errors
/// When the name has no dimensions, or the system provides no TLS.
pub fn embedder(
    name: &str,
    address: Option<&str>,
) -> Result<HttpEmbedder, Box<dyn Error + Send + Sync>> {
    let parts = name.rsplit_once(':').filter(|(model, _)| !model.is_empty());
    let parts = parts.and_then(|(model, count)| Some((model, count.parse().ok()?)));
    let (model, dimensions) = parts.filter(|(_, count)| *count > 0).ok_or_else(|| {
        format!(
            "`{name}` names no embedding model, expected name and dimensions, such as `text-embedding-3-small:1536`"
        )
    })?;
    let address = address.unwrap_or(OPENAI);
    let embedder = HttpEmbedder::new(address, model, dimensions)?;
    Ok(if address.starts_with("https:") { embedder } else { embedder.without_key() })
}
