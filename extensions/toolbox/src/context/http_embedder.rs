//! Embeds texts with the API of OpenAI, `/v1/embeddings`, which Ollama, vLLM and others offer as well.

use std::env;
use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::header::HeaderValue;
use reqwest::{Client, StatusCode, redirect};
use serde::{Deserialize, Serialize};

use super::embedder::{EmbedPurpose, Embedder, EmbedderError};
use crate::web::WebClientError;

/// The environment variable that holds the API key.
const VARIABLE: &str = "OPENAI_API_KEY";
/// How long an answer may take, unless the application sets another limit.
const TIME: Duration = Duration::from_secs(60);
/// The most bytes of text in one request.
const LARGEST_REQUEST: usize = 1024 * 1024;
/// The most bytes of an answer that are read: enough for 64 vectors of 4,096 numbers.
const LARGEST_ANSWER: usize = 8 * 1024 * 1024;

/// An [`Embedder`] that calls a server with the API of OpenAI. The API key is in the environment variable
/// `OPENAI_API_KEY`, which is read at each request. An `https` address needs the feature `tls`.
///
/// ```
/// use toolwright_toolbox::HttpEmbedder;
///
/// let openai = HttpEmbedder::new("https://api.openai.com/v1", "text-embedding-3-small", 1536)?;
/// let ollama = HttpEmbedder::new("http://localhost:11434/v1", "nomic-embed-text", 768)?
///     .without_key()
///     .prefixes("search_document: ", "search_query: ");
/// # let _ = (openai, ollama);
/// # Ok::<(), toolwright_toolbox::WebClientError>(())
/// ```
#[derive(Clone)]
pub struct HttpEmbedder {
    http: Client,
    /// The address to which requests are sent. It may contain a credential.
    address: String,
    model: String,
    dimensions: usize,
    variable: Option<String>,
    time: Duration,
    passage_prefix: String,
    query_prefix: String,
}

impl HttpEmbedder {
    /// Makes an embedder for a model whose vectors have this number of dimensions. `/embeddings` is appended to the address
    /// of the API.
    ///
    /// # Errors
    /// When the address is not a URL, or the system provides no TLS.
    pub fn new(
        address: impl AsRef<str>,
        model: impl Into<String>,
        dimensions: usize,
    ) -> Result<Self, WebClientError> {
        // A redirect would send the API key to another server.
        let http = Client::builder().redirect(redirect::Policy::none()).build()?;
        let address = address.as_ref();
        // Building a request checks the address. The address may contain a credential, so the error does not repeat it.
        http.post(address).build().map_err(WebClientError::address)?;
        let address = format!("{}/embeddings", address.trim_end_matches('/'));
        Ok(Self {
            http,
            address,
            model: model.into(),
            dimensions,
            variable: Some(VARIABLE.to_owned()),
            time: TIME,
            passage_prefix: String::new(),
            query_prefix: String::new(),
        })
    }

    /// Sets the environment variable that holds the API key.
    #[must_use]
    pub fn key_variable(mut self, variable: impl Into<String>) -> Self {
        self.variable = Some(variable.into());
        self
    }

    /// Sends no API key, for instance to a server on this machine.
    #[must_use]
    pub fn without_key(mut self) -> Self {
        self.variable = None;
        self
    }

    /// Sets how long an answer may take: 60 seconds unless set.
    #[must_use]
    pub fn time(mut self, most: Duration) -> Self {
        self.time = most;
        self
    }

    /// Sets the prefixes that are put before stored texts and before queries. If a model needs them, its description
    /// names them.
    #[must_use]
    pub fn prefixes(mut self, passage: impl Into<String>, query: impl Into<String>) -> Self {
        (self.passage_prefix, self.query_prefix) = (passage.into(), query.into());
        self
    }

    /// Returns the header with the API key; `None` if no key is sent.
    fn authorization(&self) -> Result<Option<HeaderValue>, EmbedderError> {
        let Some(variable) = &self.variable else { return Ok(None) };
        let key = env::var(variable).unwrap_or_default();
        let key = key.trim();
        if key.is_empty() {
            let problem = format!(
                "`{variable}` is not set; set it to the key, or send none with `without_key`"
            );
            return Err(EmbedderError::unavailable(problem));
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
            EmbedderError::unavailable(format!(
                "`{variable}` is not a key: it has characters that a header cannot hold"
            ))
        })?;
        header.set_sensitive(true);
        Ok(Some(header))
    }

    async fn request_vectors(
        &self,
        texts: &[String],
        purpose: EmbedPurpose,
    ) -> Result<Vec<Vec<f32>>, EmbedderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let prefix = match purpose {
            EmbedPurpose::Passage => &self.passage_prefix,
            EmbedPurpose::Query => &self.query_prefix,
        };
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let bytes: usize = input.iter().map(String::len).sum();
        if bytes > LARGEST_REQUEST {
            let problem =
                format!("the texts have {bytes} bytes, expected at most {LARGEST_REQUEST}");
            return Err(EmbedderError::refused(problem));
        }
        let asked = Request { model: &self.model, input: &input, encoding_format: "float" };
        let body = serde_json::to_vec(&asked).map_err(|error| failed("request", error))?;
        let request = self.http.post(&self.address).timeout(self.time).body(body);
        let request = request.header("content-type", "application/json");
        let request = match self.authorization()? {
            Some(key) => request.header("authorization", key),
            None => request,
        };
        let mut response = request.send().await.map_err(unsent)?;
        self.check_status(response.status())?;
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(unsent)? {
            body.extend_from_slice(&piece);
            if body.len() > LARGEST_ANSWER {
                let problem = format!("its answer has more than {LARGEST_ANSWER} bytes");
                return Err(EmbedderError::unavailable(problem));
            }
        }
        let answer: ApiAnswer =
            serde_json::from_slice(&body).map_err(|error| failed("answer", error))?;
        in_order(answer, texts.len())
    }

    /// Refuses a status other than success. The error has the status alone, because the text of the response may repeat
    /// the key.
    fn check_status(&self, status: StatusCode) -> Result<(), EmbedderError> {
        let code = status.as_u16();
        match (code, &self.variable) {
            (200..=299, _) => Ok(()),
            (400 | 413 | 422, _) => {
                Err(EmbedderError::refused(format!("the server answered with status {code}")))
            }
            (401 | 403, Some(variable)) => Err(EmbedderError::unavailable(format!(
                "the server refuses the key in `{variable}` (status {code})"
            ))),
            (404, _) => Err(EmbedderError::unavailable(format!(
                "the server answered with status 404; check its address and the model `{}`",
                self.model
            ))),
            _ => Err(EmbedderError::unavailable(format!("the server answered with status {code}"))),
        }
    }
}

impl fmt::Debug for HttpEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, dimensions, variable, .. } = self;
        let mut shown = formatter.debug_struct("HttpEmbedder");
        shown.field("model", model).field("dimensions", dimensions).field("variable", variable);
        shown.finish_non_exhaustive()
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        purpose: EmbedPurpose,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        Box::pin(self.request_vectors(texts, purpose))
    }
}

/// Returns the vectors in the order of the texts: each vector in the answer has the index of its text.
fn in_order(answer: ApiAnswer, expected: usize) -> Result<Vec<Vec<f32>>, EmbedderError> {
    let found = answer.data.len();
    let mut items = answer.data;
    items.sort_by_key(|item| item.index);
    let is_complete = items.iter().map(|item| item.index).eq(0..expected);
    match (is_complete, found == expected) {
        (true, _) => Ok(items.into_iter().map(|item| item.embedding).collect()),
        (false, true) => {
            Err(EmbedderError::unavailable("its answer does not have each text's vector once"))
        }
        (false, false) => Err(EmbedderError::WrongCount { found, expected }),
    }
}

fn unsent(error: reqwest::Error) -> EmbedderError {
    let problem = match error.is_timeout() {
        true => "the server did not answer in time",
        false => "the server cannot be reached",
    };
    // The address may contain a credential, so the error does not repeat it.
    let source = Some(error.without_url().into());
    EmbedderError::Unavailable { problem: problem.to_owned(), source }
}

fn failed(what: &str, error: serde_json::Error) -> EmbedderError {
    let problem = format!("its {what} is not as the API says");
    EmbedderError::Unavailable { problem, source: Some(error.into()) }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'a str,
}

#[derive(Deserialize)]
struct ApiAnswer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}
