//! Checks the options of a model over HTTP, and makes the model.

use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use toolwright::dialect::Dialect;

use super::HttpModelBuilder;
use crate::http::address;
use crate::http::api::Api;
use crate::http::attempt::Endpoint;
use crate::http::compaction;
use crate::http::extra_body::ExtraBody;
use crate::http::key::{ApiKey, Keys};
use crate::http::{HttpModel, HttpModelError};

impl HttpModelBuilder {
    /// Checks the options and makes the model. Opens no connection.
    ///
    /// # Errors
    /// When an option is not valid; see [`HttpModelError`].
    pub fn build(self) -> Result<HttpModel, HttpModelError> {
        if self.model.trim().is_empty() {
            return Err(HttpModelError::NoModel);
        }
        let zero = [
            ("retry.attempts", self.retry.attempts == 0),
            ("timeout", self.timeout.is_zero()),
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("idle_timeout", self.idle_timeout.is_zero()),
            ("body_limit", self.body_limit == 0),
            ("max_tokens", self.max_tokens == Some(0)),
        ];
        if let Some((option, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(HttpModelError::Zero { option });
        }
        if !self.api.takes_name(&self.model) {
            return Err(HttpModelError::ModelName { found: self.model });
        }
        let provider = self.api.provider();
        if self.searches_tools && !Dialect::from(provider).has_tool_search() {
            return Err(HttpModelError::NoToolSearch { provider });
        }
        if self.knows_max_tokens_alone && self.api != Api::OpenAiChat {
            return Err(HttpModelError::NotChat { option: "plain_max_tokens" });
        }
        let mut extra_body = ExtraBody::new(self.extra_body)?;
        let mut headers = more_headers(&self.headers)?;
        if let Some(tokens) = self.compact_above {
            extra_body.add(compaction::MEMBER, compaction::setting(provider, tokens)?);
            compaction::add_header(provider, &mut headers);
        }
        let key_header =
            self.key_header.map(|name| match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) => Ok(name),
                Err(_) => Err(HttpModelError::Header { name }),
            });
        let key_header = key_header.transpose()?;
        let path = self.api.path(&self.model);
        let url = address::url(self.api, &self.base_url, &path)?;
        let (stream_path, query) = self.api.stream_path(&self.model);
        let mut stream_url = address::url(self.api, &self.base_url, &stream_path)?;
        if let Some(query) = query {
            let whole = stream_url.query().map(|own| format!("{own}&{query}"));
            stream_url.set_query(Some(whole.as_deref().unwrap_or(query)));
        }
        let stream_path = match query {
            Some(query) => format!("{stream_path}?{query}"),
            None => stream_path,
        };
        let origin = self.origin.unwrap_or_else(|| address::origin(self.api, &url, &self.model));
        let keys = self.key.map_or(Ok(Keys::Fixed(None)), ApiKey::keys)?;
        if let Keys::Fixed(key) = &keys {
            self.api.headers(key.as_ref(), key_header.as_ref()).ok_or(HttpModelError::Key)?;
        }
        let mut client = Client::builder();
        if address::is_loopback(&url) {
            client = client.no_proxy();
        }
        if let Some(change) = self.client {
            client = change(client);
        }
        // These options are set last, so that the application cannot enable redirects, which would send the key to
        // another server.
        let client = client
            .redirect(Policy::none())
            .timeout(self.timeout)
            .connect_timeout(self.connect_timeout);
        let endpoint = Endpoint {
            api: self.api,
            client: client.build().map_err(HttpModelError::Client)?,
            url,
            path,
            stream_url,
            stream_path,
            keys,
            key_header,
            headers,
            idle_timeout: self.idle_timeout,
            body_limit: self.body_limit,
            timeout: self.timeout,
        };
        Ok(HttpModel {
            endpoint,
            model: self.model,
            origin: origin.into(),
            searches_tools: self.searches_tools,
            compacts: self.compact_above.is_some(),
            max_tokens: self.max_tokens,
            knows_max_tokens_alone: self.knows_max_tokens_alone,
            reasoning: self.reasoning,
            sampling: self.sampling,
            extra_body,
            media: self.media,
            retry: self.retry,
            longest_wait: self.longest_wait,
            prices: self.prices,
            on_exchange: self.on_exchange,
            on_retry: self.on_retry,
        })
    }
}

/// Parses the headers to add to every request.
fn more_headers(headers: &[(String, String)]) -> Result<HeaderMap, HttpModelError> {
    let mut more = HeaderMap::new();
    for (name, value) in headers {
        let wrong = || HttpModelError::Header { name: name.clone() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        more.insert(key, value);
    }
    Ok(more)
}
