//! Finds a model by a text `provider:model`.

#[cfg(feature = "http")]
mod named;

use crate::model::Model;

/// Converts into the model of an agent. It is implemented for texts `provider:model`, and for any [`Model`].
///
/// A builder parses the text and reads the variables as soon as it gets the text, and `build` reports the errors. Texts
/// need the feature `http`, and `tls` for a server that is not on loopback.
///
/// | text | key | address |
/// | --- | --- | --- |
/// | `anthropic:…` | `ANTHROPIC_API_KEY` | `ANTHROPIC_BASE_URL` |
/// | `openai:…` (Responses), `openai-chat:…` | `OPENAI_API_KEY` | `OPENAI_BASE_URL` |
/// | `gemini:…` | `GEMINI_API_KEY`, then `GOOGLE_API_KEY` | `GEMINI_BASE_URL` |
/// | `ollama:…` | `OLLAMA_API_KEY`, none needed | `OLLAMA_HOST` |
/// | `deepseek:…`, `groq:…`, `mistral:…`, `openrouter:…`, `xai:…` (the chat API) | `DEEPSEEK_API_KEY`, … | `DEEPSEEK_BASE_URL`, … |
///
/// The address in `OPENAI_BASE_URL` and in the variables of the last row includes the path, such as
/// `http://127.0.0.1:8080/v1`. The address in `ANTHROPIC_BASE_URL`, `GEMINI_BASE_URL` and `OLLAMA_HOST` has no path, as
/// in `http://127.0.0.1:8080`.
///
/// ```
/// use toolwright_agent::Agent;
///
/// let error = Agent::builder("antropic:some-model").build().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "found the provider `antropic` in `antropic:some-model`, which is not known; did you mean `anthropic`?"
/// );
/// ```
pub trait IntoModel {
    /// Makes the model.
    ///
    /// # Errors
    /// When the text gives no model; see [`ModelNameError`]. For example, it names no known provider or no model, or
    /// the key of the provider is missing.
    fn into_model(self) -> Result<Box<dyn Model>, ModelNameError>;
}

impl<M: Model + 'static> IntoModel for M {
    fn into_model(self) -> Result<Box<dyn Model>, ModelNameError> {
        Ok(Box::new(self))
    }
}

impl IntoModel for &str {
    #[cfg(feature = "http")]
    fn into_model(self) -> Result<Box<dyn Model>, ModelNameError> {
        let variable = |name: &str| match std::env::var(name) {
            Ok(value) => Ok(Some(value).filter(|it| !it.is_empty())),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(ModelNameError::Variable { name: name.to_owned() })
            }
        };
        Ok(Box::new(named::named(self, variable)?))
    }

    #[cfg(not(feature = "http"))]
    fn into_model(self) -> Result<Box<dyn Model>, ModelNameError> {
        Err(ModelNameError::NoHttp { found: self.to_owned() })
    }
}

impl IntoModel for String {
    fn into_model(self) -> Result<Box<dyn Model>, ModelNameError> {
        self.as_str().into_model()
    }
}

impl IntoModel for &String {
    fn into_model(self) -> Result<Box<dyn Model>, ModelNameError> {
        self.as_str().into_model()
    }
}

/// Why a text `provider:model` gives no model.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ModelNameError {
    /// The text names no provider.
    #[error(
        "found the model `{found}`, expected `provider:model`, such as `anthropic:claude-sonnet-4-6`; the providers are {providers}"
    )]
    NoProvider {
        /// The text that was given.
        found: String,
        /// The known providers.
        providers: String,
    },
    /// The provider is not known.
    #[error("found the provider `{provider}` in `{found}`, which is not known; {choices}")]
    UnknownProvider {
        /// The text that was given.
        found: String,
        /// The part of the text before the colon.
        provider: String,
        /// Similar names of providers, or all names if none is similar.
        choices: String,
    },
    /// The text names a provider, but no model.
    #[error("found `{found}`, which names no model of {provider}; write it after the colon")]
    NoModel {
        /// The text that was given.
        found: String,
        /// The name of the provider.
        provider: &'static str,
    },
    /// The provider's key is missing.
    #[error(
        "found no key for `{found}`; set {variables} to the key of your account, or give the agent a model with a key of its own"
    )]
    NoKey {
        /// The text that was given.
        found: String,
        /// The variables that may hold the key.
        variables: String,
    },
    /// The value of a variable is not valid text.
    #[error("found bytes in the variable {name} that are no text; set it to a text")]
    Variable {
        /// The name of the variable.
        name: String,
    },
    /// The crate was built without models over HTTP.
    #[error(
        "found the model `{found}`, which is asked over HTTP; build toolwright-agent with the feature `http`, or `tls` for HTTPS"
    )]
    NoHttp {
        /// The text that was given.
        found: String,
    },
    /// The model over HTTP cannot be built, for example because a variable holds an address or a key that cannot be
    /// used.
    #[cfg(feature = "http")]
    #[error("the model `{found}` cannot be asked: {source}{}", .variable.map(|it| format!(" (the address comes from {it})")).unwrap_or_default())]
    Http {
        /// The text that was given.
        found: String,
        /// The environment variable that set the address; `None` if the address is the provider's default.
        variable: Option<&'static str>,
        /// Why the model over HTTP cannot be built.
        source: crate::http::HttpModelError,
    },
}

toolwright::unstable::debug_as_sentence!(ModelNameError);
