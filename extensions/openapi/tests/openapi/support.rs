//! A server on this machine that answers as a test says, and shows the requests that it got.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use toolwright::{Answer, Call, Executor, Registry};
use toolwright_openapi::OpenApi;

/// The address of this machine.
pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Arrived {
    pub method: String,
    /// Path and query, as they were sent.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Arrived {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}

pub type Answering = dyn Fn(&Arrived) -> Response<Full<Bytes>> + Send + Sync;

/// A server that ends with the runtime of its test.
pub struct Server {
    pub url: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Server {
    /// Answers every request with the status 200 and an empty object.
    pub async fn start() -> Self {
        Self::answering(|_| json(200, "{}")).await
    }

    pub async fn answering(
        answer: impl Fn(&Arrived) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen): (Arc<Answering>, _) = (Arc::new(answer), Arc::clone(&arrived));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                    let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                    async move {
                        let arrived = read(request).await;
                        seen.lock().expect("no holder panics").push(arrived.clone());
                        Ok::<_, Infallible>(answer(&arrived))
                    }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { url, arrived }
    }

    /// The requests so far.
    pub fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().expect("no holder panics").clone()
    }

    /// How many requests arrived so far.
    pub fn count(&self) -> usize {
        self.arrived.lock().expect("no holder panics").len()
    }

    /// The request of this number, from 0 on, where so many arrived.
    pub fn get(&self, number: usize) -> Option<Arrived> {
        self.arrived.lock().expect("no holder panics").get(number).cloned()
    }

    /// The last request.
    pub fn last(&self) -> Arrived {
        self.arrived().pop().expect("a request arrived")
    }
}

async fn read(request: Request<Incoming>) -> Arrived {
    let (parts, body) = request.into_parts();
    let headers = parts.headers.iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Arrived {
        method: parts.method.to_string(),
        target: parts.uri.to_string(),
        headers: headers.collect(),
        body: body.collect().await.expect("a body").to_bytes().to_vec(),
    }
}

pub fn response(status: u16, media_type: &str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let response = Response::builder().status(status).header("content-type", media_type);
    response.body(Full::new(body.into())).expect("a response")
}

pub fn json(status: u16, body: &str) -> Response<Full<Bytes>> {
    response(status, "application/json", body.to_owned())
}

/// A document of these paths in YAML, whose server is the one given.
pub fn document(server: &str, paths: &str) -> String {
    format!(
        "openapi: 3.1.0\ninfo: {{title: Tests, version: '1'}}\nservers: [{{url: '{server}'}}]\npaths:\n{paths}"
    )
}

/// The tools of a document, which run unasked.
pub fn executor(document: &str) -> Executor {
    build(OpenApi::load(document).expect("a document"))
}

/// The tools of a document that may name this machine.
pub fn build(api: OpenApi) -> Executor {
    guarded(api.permit(HERE))
}

/// The same of one that may not.
pub fn guarded(api: OpenApi) -> Executor {
    Executor::builder(Registry::empty()).with(api).unrestricted().build().expect("an executor")
}

pub async fn call(executor: &Executor, tool: &str, input: serde_json::Value) -> Answer {
    executor.call(&Call::new(tool, input.to_string())).await
}
