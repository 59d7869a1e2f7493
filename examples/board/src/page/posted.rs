//! Extracts the session and the form of a request.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use url::form_urlencoded;

use super::Page;
use super::problem::Problem;
use super::sessions::Session;

/// The name of the session cookie.
pub const COOKIE: &str = "board";

/// The session of a request, found by its folder and its cookie.
pub struct SignedIn(pub Arc<Session>);

impl FromRequestParts<Arc<Page>> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, page: &Arc<Page>) -> Result<Self, Problem> {
        let folder = parts.uri.path().split('/').nth(2).unwrap_or_default();
        let cookies = parts.headers.get_all(header::COOKIE).into_iter();
        let pairs = cookies.filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(';'));
        let mut own = pairs
            .filter_map(|it| it.trim().split_once('='))
            .filter_map(|(name, value)| (name == COOKIE).then_some(value));
        let found = own.find_map(|it| page.sessions.find(folder, it));
        found.map(Self).ok_or_else(|| {
            let message = "You are not signed in. Open the link that `board serve` has written at the terminal.";
            Problem::new(StatusCode::UNAUTHORIZED, message)
        })
    }
}

/// The parameters of the query string.
pub struct Asked(HashMap<String, String>);

impl Asked {
    pub fn number(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.parse().ok()
    }
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }
}

/// A form with the token of its session.
pub struct Posted {
    pub session: Arc<Session>,
    fields: HashMap<String, String>,
}

impl Posted {
    /// Returns the text of a field.
    pub fn text(&self, name: &str) -> Result<&str, Problem> {
        let found = self.fields.get(name).map(String::as_str);
        found.ok_or_else(|| Problem::unusable(format!("The form has no field `{name}`.")))
    }

    /// Returns the text of a field with the line breaks that were typed; a browser sends others.
    pub fn typed(&self, name: &str) -> Result<String, Problem> {
        Ok(self.text(name)?.replace("\r\n", "\n").trim().to_owned())
    }

    /// Parses a field.
    pub fn read<T: std::str::FromStr>(&self, name: &str) -> Result<T, Problem> {
        let text = self.text(name)?;
        let unusable = |_| Problem::unusable(format!("The field `{name}` cannot be read."));
        text.parse().map_err(unusable)
    }
}

impl FromRequest<Arc<Page>> for Posted {
    type Rejection = Problem;

    async fn from_request(request: Request, page: &Arc<Page>) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let SignedIn(session) = SignedIn::from_request_parts(&mut parts, page).await?;
        let body = Bytes::from_request(Request::from_parts(parts, body), page).await;
        let body = body.map_err(|error| Problem::new(error.status(), error.body_text()))?;
        let fields: HashMap<_, _> = form_urlencoded::parse(&body).into_owned().collect();
        if fields.get("token") != Some(&session.token) {
            let message = "The form is not one of your session; nothing was done.";
            return Err(Problem::new(StatusCode::FORBIDDEN, message));
        }
        Ok(Self { session, fields })
    }
}
