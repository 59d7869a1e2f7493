//! Errors of building a model over HTTP.

use toolwright::provider::Provider;

/// The reason why a model over HTTP cannot be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HttpModelError {
    /// The model has no name.
    #[error("the model's name is empty; name one that the provider has")]
    NoModel,
    /// The model's name cannot be part of the URL's path.
    #[error(
        "found the model's name `{found}`, expected letters, digits, `-`, `.` and `_`; name one that the provider has"
    )]
    ModelName {
        /// The model's name.
        found: String,
    },
    /// This release does not know the provider's API.
    #[error("the API of {provider} is not known to this release; name another provider")]
    Provider {
        /// The provider whose API is unknown.
        provider: Provider,
    },
    /// The base URL is not valid.
    #[error("found the base URL `{found}`, expected one such as `{example}`: {why}")]
    BaseUrl {
        /// The URL that was given, without user, password and query.
        found: String,
        /// A valid base URL, as an example.
        example: &'static str,
        /// Why the base URL cannot be used.
        why: String,
    },
    /// The base URL requires HTTPS, which this build does not support.
    #[error(
        "found the base URL `{found}`, but this build has no TLS; build with the feature `tls` of toolwright-agent, or use a server on loopback"
    )]
    NoTls {
        /// The URL that was given, without user, password and query.
        found: String,
    },
    /// A header cannot hold the key.
    #[error("the key holds characters that no header can hold; check for line breaks")]
    Key,
    /// The variable that should hold the key is not set, is empty or is not valid text.
    #[error("found no key in {variable}, expected that of the account; set it")]
    KeyVariable {
        /// The name of the environment variable.
        variable: String,
    },
    /// The provider's models cannot search for tools.
    #[error(
        "the API of {provider} has no search for tools; leave `tool_search` out, or ask a model of anthropic or openai-responses"
    )]
    NoToolSearch {
        /// The provider of the model.
        provider: Provider,
    },
    /// A command for the key names no program.
    #[error("the command for the key is empty, expected a program and its arguments")]
    KeyCommand,
    /// A header cannot be sent.
    #[error(
        "found the header `{name}`, expected a name and a value that HTTP can hold; check for spaces and line breaks"
    )]
    Header {
        /// The name of the header.
        name: String,
    },
    /// The extra body is not an object.
    #[error("found `{found}`, expected an object as `extra_body`")]
    ExtraBody {
        /// The beginning of the value that was given.
        found: String,
    },
    /// A member of the extra body would change the request itself.
    #[error(
        "`extra_body` has `{name}`, which the request itself writes, so that the history would break; leave it out"
    )]
    ExtraMember {
        /// The name of the member.
        name: String,
    },
    /// An option applies only to the chat API.
    #[error("`{option}` is for models of the chat API; leave it out")]
    NotChat {
        /// The name of the option.
        option: &'static str,
    },
    /// The provider's servers compact no history.
    #[error(
        "the API of {provider} compacts no history; leave `compact_above` out, or ask a model of anthropic or openai-responses"
    )]
    NoCompaction {
        /// The provider of the model.
        provider: Provider,
    },
    /// The given size is smaller than the smallest size at which the provider compacts.
    #[error("found {found} as `compact_above`, expected at least the {least} tokens of {provider}")]
    CompactAbove {
        /// The provider of the model.
        provider: Provider,
        /// The size that was given, in tokens.
        found: u64,
        /// The minimum value that the provider accepts.
        least: u64,
    },
    /// A limit is 0, so that no request could succeed.
    #[error("`{option}` is 0, so that no request could end well; set at least 1")]
    Zero {
        /// The name of the option.
        option: &'static str,
    },
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made")]
    Client(#[source] reqwest::Error),
}
toolwright::unstable::debug_as_sentence!(HttpModelError);
