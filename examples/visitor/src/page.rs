//! The page of one visitor: it shows each call of the run that was handed over, and supplies the visitor's input as the
//! result.
//!
//! - Anyone who has the link may pick a colour. The link has 128 random bits, so that no other page and no other
//!   program of this machine can guess it.
//! - Each form has the token of its call, which is valid once. The executor, not the page, validates the result.
//! - The model's text is never markup.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{DOCTYPE, Markup, html};
use toolwright::Executor;
use toolwright::journal::{HandedOver, SupplyError};
use toolwright::runtime::CallId;
use url::form_urlencoded;

use crate::Error;
use crate::colour::Colour;

/// The most bytes of a form.
const FORM: usize = 16 << 10;

/// After how many seconds the browser reloads a page without a call.
const AGAIN: &str = "1";

/// Allows no script and no frame, and forms only to the page itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The page of one visitor.
pub struct Page {
    executor: Executor,
    run: &'static str,
    /// The server's name in the `Host` header.
    host: String,
    /// The secret part of the link.
    secret: String,
}

impl Page {
    pub fn new(executor: Executor, run: &'static str, address: SocketAddr) -> Result<Self, Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(|error| error.to_string())?;
        Ok(Self { executor, run, host: address.to_string(), secret: hex::encode(bits) })
    }

    /// Returns the link that the program prints for the visitor.
    pub fn link(&self) -> String {
        format!("http://{}/{}", self.host, self.secret)
    }

    /// Returns the calls of the run that wait for the visitor.
    async fn waiting(&self) -> Result<Vec<HandedOver>, Problem> {
        let all = self.executor.handed_over().await;
        let all =
            all.map_err(|error| Problem(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(all.into_iter().filter(|it| it.run == self.run).collect())
    }

    /// Refuses requests with another host name: an attacker's name may resolve to this address.
    fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        match headers.get(header::HOST).and_then(|it| it.to_str().ok()) {
            Some(host) if host == self.host => Ok(()),
            _ => Err(Problem(
                StatusCode::FORBIDDEN,
                format!("open the page as http://{}", self.host),
            )),
        }
    }
}

/// Serves the page below its secret path. Every other path is not found.
pub fn router(page: Arc<Page>) -> Router {
    let home = format!("/{}", page.secret);
    Router::new()
        .route(&home, get(show))
        .route(&format!("{home}/pick"), post(pick))
        .layer(DefaultBodyLimit::max(FORM))
        .with_state(page)
}

async fn show(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Problem> {
    page.check(&headers)?;
    let waiting = page.waiting().await?;
    let body = html! {
        @if waiting.is_empty() {
            p id="nothing" { "There is nothing to pick now." }
        }
        @for call in &waiting {
            form method="post" action=(format!("/{}/pick", page.secret)) {
                p { bdi { (prompt(call)) } }
                input type="hidden" name="call" value=(call.call);
                input type="hidden" name="token" value=(call.token);
                @for (value, name) in Colour::ALL {
                    button id=(name) name="colour" value=(value) { (name) } " "
                }
            }
        }
    };
    Ok(shown(StatusCode::OK, waiting.is_empty(), &body))
}

/// Supplies the picked colour as the result of the call.
async fn pick(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    form: Bytes,
) -> Result<Response, Problem> {
    page.check(&headers)?;
    let wrong = |what: &str| {
        Problem(StatusCode::BAD_REQUEST, format!("found no {what}, expected one in the form"))
    };
    let field = |name: &str| {
        let mut found = form_urlencoded::parse(&form).filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value.into_owned())
    };
    let call =
        field("call").and_then(|it| it.parse::<CallId>().ok()).ok_or_else(|| wrong("call"))?;
    let token = field("token").ok_or_else(|| wrong("token"))?;
    let colour = field("colour").ok_or_else(|| wrong("colour"))?;
    // The executor checks the colour against the schema of the tool.
    let result = serde_json::Value::String(colour.clone()).to_string();
    page.executor.supply(call, &token, Ok(&result)).await?;
    let thanks = html! { p id="thanks" { "Thank you. You picked " (colour) "." } };
    Ok(shown(StatusCode::OK, false, &thanks))
}

fn prompt(call: &HandedOver) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    arguments["prompt"].as_str().unwrap_or_default().to_owned()
}

fn shown(status: StatusCode, is_loaded_again: bool, body: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if is_loaded_again { meta http-equiv="refresh" content=(AGAIN); }
                meta name="viewport" content="width=device-width";
                title { "A door" }
                style { "body{font:1.1rem system-ui;margin:3rem auto;max-width:30rem}button{font:inherit;padding:.5rem 1rem}" }
            }
            body { (body) }
        }
    };
    let mut response = (status, page).into_response();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The error page for the visitor.
struct Problem(StatusCode, String);

impl From<SupplyError> for Problem {
    fn from(error: SupplyError) -> Self {
        let status = match &error {
            SupplyError::Token { .. } | SupplyError::NoSuchCall(_) => StatusCode::FORBIDDEN,
            SupplyError::Ended { .. } => StatusCode::CONFLICT,
            SupplyError::Output { .. } | SupplyError::TooLarge { .. } => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(status, words) = self;
        shown(status, false, &html! { p id="problem" { (words) } })
    }
}
