//! Converts an HTTP response to the answer of a call. The functions are pure.
//!
//! - A call with a status of success or 304 stays a success, whatever its body looks like. If the body was cut or
//!   violates its schema, the metadata of the answer says so.
//! - A status other than success or 304 is an error, whose class says whether the call may be repeated.

mod expected;
mod failure;

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LINK, LOCATION};
use serde_json::{Value, json};
use toolwright::{Content, Output, ToolError, printable};

pub(crate) use expected::Answers;

/// An HTTP response, with the part of its body that was read.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether the body is longer than the part that was read.
    pub(crate) is_cut: bool,
}

impl Response {
    /// Returns the media type in lower case, without its parameters.
    pub(crate) fn media_type(&self) -> String {
        let value = self.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let bare = value.unwrap_or_default().split(';').next().unwrap_or_default();
        bare.trim().to_ascii_lowercase()
    }

    fn header(&self, name: impl reqwest::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Makes the answer to a call of the operation `title`.
pub(crate) fn of(
    title: &str,
    api: &str,
    response: &Response,
    answers: &Answers,
    now: SystemTime,
) -> Result<Output, ToolError> {
    let status = response.status;
    let source = format!("API `{api}`, {title}");
    if !(status.is_success() || status == StatusCode::NOT_MODIFIED) {
        return Err(failure::of(title, response, now).untrusted(&source));
    }
    let mark = json!({"api": api, "operation": title, "source": source});
    let mut output =
        Output::default().metadata("status", status.as_u16()).metadata("untrusted", mark);
    let value = json_of(response);
    output = content(output, response, value.as_ref());
    for (name, value) in [("location", response.header(LOCATION)), ("link", response.header(LINK))]
    {
        if let Some(value) = value {
            output = output.with(Content::text(format!("{name}: {}", printable::line(value))));
        }
    }
    if response.is_cut {
        let words = format!(
            "(The answer is longer than the {} bytes that are read of one: this is its beginning.)",
            response.body.len()
        );
        return Ok(output.with(Content::text(words)).metadata("cut", true));
    }
    let problems = answers.problems(status, response, value.as_ref());
    if !problems.is_empty() {
        tracing::warn!(
            operation = title,
            ?problems,
            "an answer differs from what its document promises"
        );
        output = output.metadata("unexpected", json!(problems));
    }
    Ok(match value {
        Some(value) => output.structured(value),
        None => output,
    })
}

fn json_of(response: &Response) -> Option<Value> {
    let media_type = response.media_type();
    let is_json = media_type.ends_with("/json") || media_type.ends_with("+json");
    (is_json && !response.is_cut).then(|| serde_json::from_slice(&response.body).ok()).flatten()
}

fn content(output: Output, response: &Response, value: Option<&Value>) -> Output {
    let media_type = response.media_type();
    if response.body.is_empty() {
        let status = response.status.as_u16();
        return output.with(Content::text(format!("(status {status}, without content)")));
    }
    if value.is_some()
        && let Ok(text) = std::str::from_utf8(&response.body)
    {
        return output.with(Content::Json(text.to_owned().into()));
    }
    let base64 = || STANDARD.encode(&response.body).into();
    if !response.is_cut {
        match media_type.split_once('/') {
            Some(("image", "png" | "jpeg" | "gif" | "webp")) => {
                return output
                    .with(Content::Image { media_type: media_type.into(), data: base64() });
            }
            Some(("audio", _)) => {
                return output
                    .with(Content::Audio { media_type: media_type.into(), data: base64() });
            }
            Some(("application", "pdf")) => {
                let media_type = media_type.into();
                return output.with(Content::Document { name: None, media_type, data: base64() });
            }
            _ => {}
        }
    }
    output.with(Content::text(match text(response) {
        Some(text) => text,
        None => {
            let shown = if media_type.is_empty() { "of no type" } else { &media_type };
            format!("({} bytes {}, left out)", response.body.len(), printable::line(shown))
        }
    }))
}

/// Returns the body as text, if it is text. A body that was cut ends with its last whole character.
fn text(response: &Response) -> Option<String> {
    match std::str::from_utf8(&response.body) {
        Ok(text) => Some(text.to_owned()),
        Err(error) if response.is_cut && error.error_len().is_none() => {
            let whole = response.body.get(..error.valid_up_to())?;
            Some(String::from_utf8_lossy(whole).into_owned())
        }
        Err(_) if response.media_type().starts_with("text/") => {
            Some(String::from_utf8_lossy(&response.body).into_owned())
        }
        Err(_) => None,
    }
}
