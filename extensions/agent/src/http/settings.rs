//! Checks that the provider supports the settings of a request. The functions are pure.

use toolwright::provider::Provider;

use super::parts::{is_empty_list, object};
use crate::model::{ModelError, ModelRequest, ModelSettings, Reasoning, ToolChoice};

/// The minimum number of reasoning tokens that Anthropic accepts.
const ANTHROPIC_LEAST: u32 = 1024;

/// Refuses settings that the provider would refuse in this request, such as a required call without tools.
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

/// Refuses settings that the provider would refuse or, worse, ignore in every request.
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
        _ => return sampling(provider, settings),
    };
    Err(refused(provider, &problem))
}

/// Refuses sampling options that the provider would refuse or ignore.
fn sampling(provider: Provider, settings: &ModelSettings) -> Result<(), ModelError> {
    let &ModelSettings { temperature, top_p, seed, reasoning, .. } = settings;
    let hottest = if provider == Provider::Anthropic { 1.0 } else { 2.0 };
    let outside = |found: Option<f64>, most: f64| found.filter(|it| !(0.0..=most).contains(it));
    let problem = if let Some(found) = outside(temperature, hottest) {
        format!("found a temperature of {found}, expected 0 to {hottest}")
    } else if let Some(found) = outside(top_p, 1.0) {
        format!("found a `top_p` of {found}, expected 0 to 1")
    } else if provider == Provider::Anthropic
        && reasoning.is_some()
        && (temperature.is_some() || top_p.is_some())
    {
        "reasoning excludes a temperature and `top_p`; leave one of them out".to_owned()
    } else if matches!(provider, Provider::Anthropic | Provider::OpenAiResponses) && seed.is_some()
    {
        "the API has no `seed`; leave it out".to_owned()
    } else {
        return Ok(());
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
