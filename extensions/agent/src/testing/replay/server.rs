//! The server of a replay: answers each request with one exchange of the recording.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::compare::Comparison;
use super::{Placeholders, ReplayError, streamed};
use crate::recording::Recording;

/// The recorded exchanges, and how many of them were served.
#[derive(Debug)]
pub(super) struct ServedExchanges {
    recording: Recording,
    placeholders: Placeholders,
    compares: bool,
    next: usize,
    comparison: Comparison,
    refused: Option<ReplayError>,
}

/// The response to send to a request.
struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl ServedExchanges {
    pub(super) fn new(recording: Recording, placeholders: Placeholders, compares: bool) -> Self {
        let comparison = Comparison::default();
        Self { recording, placeholders, compares, next: 0, comparison, refused: None }
    }

    pub(super) fn finish(&self) -> Result<(), ReplayError> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let exchanges = self.recording.exchanges();
        let Some(first) = exchanges.get(self.next) else { return Ok(()) };
        Err(ReplayError::Unused {
            left: exchanges.len() - self.next,
            recorded: exchanges.len(),
            first: format!("{} {}", first.request.method, first.request.path),
        })
    }

    /// Returns the next recorded response, or the reason why the request is refused.
    fn answer(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Reply, ReplayError> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let answered = self.compare(method, path, body);
        match &answered {
            Ok(_) => self.next += 1,
            Err(refused) => self.refused = Some(refused.clone()),
        }
        answered
    }

    fn compare(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Reply, ReplayError> {
        let number = self.next + 1;
        let received = format!("{method} {path}");
        let not_json = |error: serde_json::Error| {
            let reason = error.to_string();
            ReplayError::NotJson { number, reason }
        };
        let exchanges = self.recording.exchanges();
        let Some(exchange) = exchanges.get(self.next) else {
            return Err(ReplayError::Over { number, received, recorded: exchanges.len() });
        };
        if self.compares {
            let recorded = format!("{} {}", exchange.request.method, exchange.request.path);
            if streamed::whole_path(&recorded) != streamed::whole_path(&received) {
                return Err(ReplayError::Elsewhere { number, recorded, received });
            }
            let received: Value = serde_json::from_slice(body).map_err(not_json)?;
            let recorded: Value =
                serde_json::from_str(exchange.request.body.get()).map_err(not_json)?;
            let recorded = streamed::without_transport(recorded);
            let received = streamed::without_transport(received);
            let difference = self.comparison.difference(&recorded, &received, &self.placeholders);
            if let Some(difference) = difference {
                return Err(ReplayError::Different { number, difference });
            }
        }
        let response = &exchange.response;
        let headers = response.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut headers: Vec<(String, String)> = headers.collect();
        let mut answer = self.placeholders.filled_in(response.body());
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        if response.status == 200 && streamed::is_wanted(path, &asked) {
            // A response that is not an answer of the provider is sent as it was recorded.
            if let Ok(events) = streamed::events(self.recording.provider(), &answer) {
                answer = events;
                headers.push((CONTENT_TYPE.to_string(), "text/event-stream".to_owned()));
            }
        }
        Ok(Reply { status: response.status, headers, body: answer })
    }
}

pub(super) async fn run(listener: TcpListener, served: Arc<Mutex<ServedExchanges>>) {
    // If the listener fails, the server ends, and clients see a refused connection.
    while let Ok((stream, _)) = listener.accept().await {
        let served = Arc::clone(&served);
        // Otherwise the system holds back the later pieces of a stream, until the client acknowledges the first.
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let service = service_fn(|request| respond(request, &served));
            // A client that has disconnected needs no answer.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn respond(
    request: Request<Incoming>,
    served: &Mutex<ServedExchanges>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |it| it.as_str());
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let answered = {
        let mut served = served.lock().unwrap_or_else(PoisonError::into_inner);
        served.answer(parts.method.as_str(), path, &body)
    };
    Ok(response(answered.unwrap_or_else(|refused| Reply {
        status: StatusCode::BAD_REQUEST.as_u16(),
        headers: Vec::new(),
        body: refusal(&refused),
    })))
}

/// Writes a refusal in a form that clients of every provider can parse.
fn refusal(refused: &ReplayError) -> String {
    let message = format!("the replay refuses the request: {refused}");
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
        .to_string()
}

fn response(reply: Reply) -> Response<Full<Bytes>> {
    let kind = match reply.body.starts_with(['{', '[']) {
        true => "application/json",
        false => "text/plain; charset=utf-8",
    };
    let has_kind = reply.headers.iter().any(|(name, _)| name == CONTENT_TYPE.as_str());
    let mut response = Response::builder().status(reply.status);
    if !has_kind {
        response = response.header(CONTENT_TYPE, kind);
    }
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    response.body(Full::from(reply.body)).unwrap_or_else(|error| {
        let words = format!("the recorded response cannot be served: {error}");
        let mut response = Response::new(Full::from(words));
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}
