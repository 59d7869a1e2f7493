//! The providers that a text `provider:model` can name, and the environment variables of each.

use super::ModelNameError;
use crate::http::{ApiKey, HttpModel, HttpModelBuilder};

/// A provider that can be named in a text `provider:model`.
struct NamedProvider {
    name: &'static str,
    model: fn(String) -> HttpModelBuilder,
    /// The environment variables that may hold the key; the first that is set counts.
    keys: &'static [&'static str],
    /// Whether the provider requires a key.
    needs_key: bool,
    /// The environment variable that may set another address of the server.
    address: &'static str,
    /// The default address of the server; `None` means the default of `model`.
    base_url: Option<&'static str>,
}

const ANTHROPIC: NamedProvider = NamedProvider {
    name: "anthropic",
    model: HttpModel::anthropic,
    keys: &["ANTHROPIC_API_KEY"],
    needs_key: true,
    address: "ANTHROPIC_BASE_URL",
    base_url: None,
};

const OPENAI: NamedProvider = NamedProvider {
    name: "openai",
    model: HttpModel::openai_responses,
    keys: &["OPENAI_API_KEY"],
    needs_key: true,
    address: "OPENAI_BASE_URL",
    base_url: None,
};

const GEMINI: NamedProvider = NamedProvider {
    name: "gemini",
    model: HttpModel::gemini,
    keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    needs_key: true,
    address: "GEMINI_BASE_URL",
    base_url: None,
};

const OLLAMA: NamedProvider = NamedProvider {
    name: "ollama",
    model: HttpModel::ollama,
    keys: &["OLLAMA_API_KEY"],
    needs_key: false,
    address: "OLLAMA_HOST",
    base_url: Some("http://127.0.0.1:11434/v1"),
};

/// Describes a provider whose server has the chat API of `OpenAI`.
const fn chat(
    name: &'static str,
    keys: &'static [&'static str],
    address: &'static str,
    base_url: &'static str,
) -> NamedProvider {
    let base_url = Some(base_url);
    NamedProvider { name, model: HttpModel::openai_chat, keys, needs_key: true, address, base_url }
}

/// Makes a model of a provider whose server does not accept `max_completion_tokens`.
fn older_chat(model: String) -> HttpModelBuilder {
    HttpModel::openai_chat(model).plain_max_tokens()
}

const PROVIDERS: [NamedProvider; 10] = [
    ANTHROPIC,
    OPENAI,
    NamedProvider { name: "openai-chat", model: HttpModel::openai_chat, ..OPENAI },
    GEMINI,
    OLLAMA,
    NamedProvider {
        model: older_chat,
        ..chat("deepseek", &["DEEPSEEK_API_KEY"], "DEEPSEEK_BASE_URL", "https://api.deepseek.com")
    },
    chat("groq", &["GROQ_API_KEY"], "GROQ_BASE_URL", "https://api.groq.com/openai/v1"),
    NamedProvider {
        model: older_chat,
        ..chat("mistral", &["MISTRAL_API_KEY"], "MISTRAL_BASE_URL", "https://api.mistral.ai/v1")
    },
    chat(
        "openrouter",
        &["OPENROUTER_API_KEY"],
        "OPENROUTER_BASE_URL",
        "https://openrouter.ai/api/v1",
    ),
    chat("xai", &["XAI_API_KEY"], "XAI_BASE_URL", "https://api.x.ai/v1"),
];

/// Makes the model that a text names. `variable` reads an environment variable.
pub(crate) fn named(
    text: &str,
    variable: impl Fn(&str) -> Result<Option<String>, ModelNameError>,
) -> Result<HttpModel, ModelNameError> {
    let found = || text.to_owned();
    let names = || PROVIDERS.iter().map(|it| it.name);
    let listed = || names().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let Some((name, model)) = text.split_once(':') else {
        return Err(ModelNameError::NoProvider { found: found(), providers: listed() });
    };
    let Some(provider) = PROVIDERS.iter().find(|it| it.name == name) else {
        let choices = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the providers are {}", listed()),
        };
        return Err(ModelNameError::UnknownProvider {
            found: found(),
            provider: name.to_owned(),
            choices,
        });
    };
    if model.trim().is_empty() {
        return Err(ModelNameError::NoModel { found: found(), provider: provider.name });
    }
    let mut builder = (provider.model)(model.to_owned());
    let address = variable(provider.address)?;
    let is_set = address.is_some();
    let address = match address {
        Some(host) if provider.name == OLLAMA.name => Some(of_ollama(&host)),
        Some(url) => Some(url),
        None => provider.base_url.map(str::to_owned),
    };
    if let Some(url) = address {
        builder = builder.base_url(url);
    }
    let mut key = None;
    for name in provider.keys {
        if key.is_none() {
            key = variable(name)?;
        }
    }
    match key {
        Some(key) => builder = builder.key(ApiKey::from(key)),
        None if provider.needs_key => {
            let variables = provider.keys.join(" or ");
            return Err(ModelNameError::NoKey { found: found(), variables });
        }
        None => {}
    }
    let variable = Some(provider.address).filter(|_| is_set);
    builder.build().map_err(|source| ModelNameError::Http { found: found(), variable, source })
}

/// Returns the address of the chat API for a value of `OLLAMA_HOST`. As in ollama's own clients, the value needs no
/// scheme and no port, and may be the wildcard address `0.0.0.0` on which a server listens.
fn of_ollama(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.replace("0.0.0.0", "127.0.0.1");
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port || host.contains("://") { "" } else { ":11434" };
    format!("{scheme}://{rest}{port}/v1")
}

/// Returns the known name that is most similar to a mistyped one, if any is close enough.
fn nearest<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &str| strsim::damerau_levenshtein(&written.to_lowercase(), name);
    names.map(|name| (distance(name), name)).min().filter(|(it, _)| *it <= 2).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model as _;

    fn model(text: &str, variables: &[(&str, &str)]) -> Result<HttpModel, String> {
        let value = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        named(text, |name| Ok(value(name))).map_err(|error| error.to_string())
    }

    #[test]
    fn each_provider_reads_its_own_key_and_address() {
        for provider in &PROVIDERS {
            let text = format!("{}:some-model", provider.name);
            let key = [(*provider.keys.last().unwrap(), "secret")];
            let address = (provider.address, "http://127.0.0.1:9/v1");
            let made = model(&text, &[key[0], address]).unwrap();
            assert_eq!(made.name(), "some-model");
            assert!(made.address().starts_with("http://127.0.0.1:9/v1"), "{text}");
        }
    }

    #[test]
    fn what_is_no_model_is_said_with_what_would_be_one() {
        let key = [("ANTHROPIC_API_KEY", "secret")];
        for (text, expected) in [
            ("anthropic", "expected `provider:model`"),
            ("claude", "the providers are `anthropic`, `openai`"),
            ("", "expected `provider:model`"),
            ("anthropic:", "names no model of anthropic"),
            ("antropic:x", "did you mean `anthropic`?"),
            ("Anthropic:x", "did you mean `anthropic`?"),
            ("acme:x", "which is not known; the providers are"),
            ("openai:gpt-5.2", "set OPENAI_API_KEY to the key"),
            ("gemini:g", "set GEMINI_API_KEY or GOOGLE_API_KEY to the key"),
        ] {
            let error = model(text, &key).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_wrong_address_or_key_is_said_with_its_variable_and_without_the_key() {
        let of = |key: &str, url: &str| {
            model("anthropic:x", &[("ANTHROPIC_API_KEY", key), ("ANTHROPIC_BASE_URL", url)])
                .unwrap_err()
        };
        let error = of("secret\n", "http://127.0.0.1:9");
        assert!(error.contains("check for line breaks") && !error.contains("secret"), "{error}");
        for url in ["127.0.0.1:9", "api.example", "http://ada:pass@127.0.0.1:9", "ftp://127.0.0.1"]
        {
            let error = of("secret", url);
            assert!(error.contains("ANTHROPIC_BASE_URL") && !error.contains("pass"), "{error}");
        }
    }

    #[test]
    fn the_host_of_ollama_is_read_as_its_own_clients_read_it() {
        for (host, url) in [
            ("127.0.0.1:4000", "http://127.0.0.1:4000/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("http://models.example:80/", "http://models.example:80/v1"),
            ("https://models.example", "https://models.example/v1"),
            ("models.example", "http://models.example:11434/v1"),
        ] {
            assert_eq!(of_ollama(host), url);
        }
        assert!(model("ollama:llama3", &[]).is_ok(), "it needs no key");
    }
}
