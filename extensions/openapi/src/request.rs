//! Makes the request of a call from its arguments, before it is authorized or sent. The functions are pure.
//!
//! An argument fills only the place of its parameter. It cannot begin another path segment, header or line, cannot lead
//! to another host, and cannot use a key of another parameter or of a credential. A value that cannot be encoded in
//! this way is refused.

mod encode;
mod form;
mod keys;
mod multipart;
mod path;
mod style;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Map, Value};
use toolwright::{ToolError, printable};

use crate::argument::{Argument, Target};
use crate::body::BodyKind;
use crate::operation::{Place, Style};

use keys::Keys;
pub(crate) use path::{Template, as_sent};

/// The parts that all requests of an operation share.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) method: Method,
    pub(crate) server: Url,
    pub(crate) path: Template,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) body: Option<BodyKind>,
    /// Whether the body is sent even if no field is given.
    pub(crate) body_is_required: bool,
    /// Keys that the fields of an exploded object must not use in the query or the cookies: keys of other parameters, of
    /// credentials, and of the query in the path.
    pub(crate) reserved: Vec<String>,
    /// The header that carries the idempotency key of the call.
    pub(crate) key_header: Option<HeaderName>,
    /// The media types that the answer may have.
    pub(crate) accept: HeaderValue,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Vec<u8>,
}

impl Shape {
    /// Makes the request from these arguments, which match the tool's schema.
    ///
    /// # Errors
    /// When an argument cannot be encoded in its place.
    pub(crate) fn request(&self, input: &Value, key: &str) -> Result<Request, ToolError> {
        let given = |argument: &Argument| input.get(&argument.name).filter(|it| !it.is_null());
        let mut path = self.path.filling();
        let (mut query, mut cookies) = (Vec::new(), Vec::new());
        let mut headers = vec![(reqwest::header::ACCEPT, self.accept.clone())];
        let (mut fields, mut body) = (Map::new(), None);
        let mut keys = Keys::new(&self.reserved);
        for argument in &self.arguments {
            let wrong = |why: String| wrong(&argument.name, &why);
            match &argument.target {
                // `null` is a valid value only in a body, so a parameter of the request that is `null` is left out.
                Target::Field(name) => {
                    if let Some(value) = input.get(&argument.name) {
                        fields.insert(name.clone(), value.clone());
                    }
                }
                Target::Body => body = input.get(&argument.name),
                Target::Parameter { place, name, style } => {
                    let Some(value) = given(argument) else { continue };
                    keys.take(Some(*place), *style, name, value).map_err(wrong)?;
                    match place {
                        Place::Path => {
                            path.fill(name, style::in_path(*style, name, value).map_err(wrong)?);
                        }
                        Place::Query => {
                            query.extend(style::pairs(*style, name, value).map_err(wrong)?);
                        }
                        Place::Cookie => {
                            cookies.extend(style::pairs(*style, name, value).map_err(wrong)?);
                        }
                        Place::Header => headers.push(header(*style, name, value).map_err(wrong)?),
                    }
                }
            }
        }
        if let Some(name) = &self.key_header {
            let value = HeaderValue::from_str(key).map_err(ToolError::internal)?;
            headers.push((name.clone(), value));
        }
        if !cookies.is_empty() {
            let value = HeaderValue::from_str(&cookies.join("; ")).map_err(ToolError::internal)?;
            headers.push((COOKIE, value));
        }
        let url = self.url(&path.finish()?, &query)?;
        let mut request = Request { method: self.method.clone(), url, headers, body: Vec::new() };
        let has_fields = self.arguments.iter().any(|it| matches!(it.target, Target::Field(_)));
        if let Some(kind) = &self.body {
            let is_sent = self.body_is_required || !fields.is_empty();
            let fields = Value::Object(fields);
            let body = if has_fields { Some(&fields).filter(|_| is_sent) } else { body };
            if let Some(value) = body {
                request.write(kind, value)?;
            }
        }
        Ok(request)
    }

    fn url(&self, path: &str, query: &[String]) -> Result<Url, ToolError> {
        let mut text = self.server.as_str().trim_end_matches('/').to_owned();
        text.push_str(path);
        let fixed = self.path.query();
        let pairs: Vec<&str> = fixed.into_iter().chain(query.iter().map(String::as_str)).collect();
        if !pairs.is_empty() {
            text.push('?');
            text.push_str(&pairs.join("&"));
        }
        let url = Url::parse(&text).map_err(ToolError::internal)?;
        match url.origin() == self.server.origin() {
            true => Ok(url),
            false => Err(ToolError::internal(format!("`{text}` would lead to another host"))),
        }
    }
}

impl Request {
    fn write(&mut self, kind: &BodyKind, value: &Value) -> Result<(), ToolError> {
        let (media_type, body) = match kind {
            BodyKind::Json { media_type } => {
                (media_type.clone(), serde_json::to_vec(value).map_err(ToolError::internal)?)
            }
            BodyKind::Form { styles } => {
                let text = form::text(styles, value).map_err(|why| wrong("body", &why))?;
                ("application/x-www-form-urlencoded".to_owned(), text.into_bytes())
            }
            BodyKind::Multipart { parts } => {
                multipart::write(parts, value).map_err(|why| wrong("body", &why))?
            }
            BodyKind::Text { media_type } => {
                let text = value.as_str().unwrap_or_default();
                (media_type.clone(), text.as_bytes().to_vec())
            }
            BodyKind::Binary { media_type } => {
                let bytes = decode(value).map_err(|why| wrong("body", &why))?;
                (media_type.clone(), bytes)
            }
        };
        let media_type = HeaderValue::from_str(&media_type).map_err(ToolError::internal)?;
        self.headers.push((CONTENT_TYPE, media_type));
        self.body = body;
        Ok(())
    }
}

/// Formats the request for people, without credentials.
impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.url)?;
        for (name, value) in &self.headers {
            write!(
                formatter,
                "\n{name}: {}",
                printable::line(&String::from_utf8_lossy(value.as_bytes()))
            )?;
        }
        match std::str::from_utf8(&self.body) {
            Ok("") => Ok(()),
            Ok(text) => write!(formatter, "\n\n{}", printable::lines(text)),
            Err(_) => write!(formatter, "\n\n({} bytes)", self.body.len()),
        }
    }
}

fn header(style: Style, name: &str, value: &Value) -> Result<(HeaderName, HeaderValue), String> {
    let text = style::in_header(style, value)?;
    let name =
        HeaderName::try_from(name).map_err(|_| format!("`{name}` is not a valid header name"))?;
    let is_plain = text.bytes().all(|it| (b' '..=b'~').contains(&it)) && text.trim() == text;
    let value = HeaderValue::from_str(&text).ok().filter(|_| is_plain);
    let value = value.ok_or("a header takes visible ASCII characters and spaces between them")?;
    Ok((name, value))
}

/// Returns the bytes that a base64 text encodes.
fn decode(value: &Value) -> Result<Vec<u8>, String> {
    let text = value.as_str().unwrap_or_default();
    STANDARD
        .decode(text)
        .map_err(|error| format!("it is not base64 ({error}), expected bytes in this encoding"))
}

fn wrong(argument: &str, why: &str) -> ToolError {
    ToolError::invalid(format!("`{argument}` cannot be sent: {why}"))
}
