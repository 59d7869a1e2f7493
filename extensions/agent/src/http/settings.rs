//! Which settings of a request a provider has. Pure.

use toolwright::provider::Provider;

use super::parts::{is_empty_list, object};
use crate::model::{ModelError, ModelRequest, ModelSettings, Reasoning, ToolChoice};

/// The least that Anthropic takes for reasoning.
const ANTHROPIC_LEAST: u32 = 1024;

/// Refuses a request that the provider would refuse.
pub(super) fn checked(
    provider: Provider,
    max_tokens: Option<u32>,
    request: &ModelRequest<'_>,
) -> Result<(), ModelError> {
    if is_forced(request.settings) && is_empty_list(request.listing.tools()) {
        let problem = "the tool choice wants a call, but there are no tools; show the model a tool";
        return Err(refused(provider, problem));
    }
    known(provider, max_tokens, request.settings)
}

/// Refuses what the provider would refuse or, worse, ignore, whatever is asked.
pub(super) fn known(
    provider: Provider,
    max_tokens: Option<u32>,
    settings: &ModelSettings,
) -> Result<(), ModelError> {
    let words = settings.stop_words.len();
    let mut tools = settings.provider_tools.iter().filter(|it| it.provider == provider);
    if let Some(tool) = tools.find(|it| object(&it.definition).is_none()) {
        let problem = format!(
            "found the definition `{}` of a tool that the provider runs, expected a JSON object; write it as the provider's document does",
            tool.definition
        );
        return Err(refused(provider, &problem));
    }
    let problem = match (provider, settings.reasoning) {
        (Provider::Anthropic, Some(_)) if is_forced(settings) => {
            "a tool choice that wants a call excludes reasoning; leave one of them out".to_owned()
        }
        (Provider::Anthropic, Some(Reasoning::Tokens(tokens)))
            if tokens < ANTHROPIC_LEAST || max_tokens.is_some_and(|most| tokens >= most) =>
        {
            let most = max_tokens.map_or("the limit of the answer".to_owned(), |it| it.to_string());
            format!(
                "found {tokens} tokens of reasoning, expected at least {ANTHROPIC_LEAST} and fewer than {most}"
            )
        }
        (Provider::OpenAiChat | Provider::OpenAiResponses, Some(Reasoning::Tokens(_))) => {
            "reasoning has no limit in tokens there; set an effort".to_owned()
        }
        (Provider::OpenAiResponses, _) if words > 0 => {
            format!("found {words} stop words, expected none: the API has no such setting")
        }
        (Provider::OpenAiChat, _) if words > 4 => too_many(words, 4),
        (Provider::Gemini, _) if words > 5 => too_many(words, 5),
        (Provider::Gemini, _) if settings.one_call => {
            "an answer cannot be limited to one call there; leave `one_call` out".to_owned()
        }
        _ => return Ok(()),
    };
    Err(refused(provider, &problem))
}

fn is_forced(settings: &ModelSettings) -> bool {
    matches!(settings.tool_choice, ToolChoice::Required | ToolChoice::Tool(_))
}

fn refused(provider: Provider, problem: &str) -> ModelError {
    let message = format!("the request to {provider} cannot be written: {problem}");
    ModelError::new("invalid_settings", message)
}

fn too_many(found: usize, most: usize) -> String {
    format!("found {found} stop words, expected at most {most}")
}

#[cfg(test)]
mod tests;
