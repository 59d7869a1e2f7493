//! Sends a request and reads its response: the only I/O of a call.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, Method, StatusCode};
use toolwright::address::{AddressGuard, RefusedAddress};
use toolwright::{ToolContext, ToolError};

use crate::answer::Response;
use crate::credentials::{self, Credential, Credentials};
use crate::request::Request;
use crate::security::{Requirement, SchemeKind, SecurityScheme};

/// The time limit for connecting to a server.
const CONNECT: Duration = Duration::from_secs(10);
/// The maximum number of redirects within one server that are followed.
const MOST_REDIRECTS: usize = 5;
/// The maximum number of bytes of an answer that are read, unless the application sets another limit.
pub(crate) const BODY_LIMIT: usize = 1024 * 1024;

/// Makes the HTTP client for a server that the application has set.
///
/// # Errors
/// When the system provides no TLS or no random numbers.
pub(crate) fn client() -> Result<Client, String> {
    build(Client::builder())
}

/// Makes the HTTP client for a server that the document names. The client connects only to public addresses, and to
/// addresses that the application has permitted.
///
/// # Errors
/// The errors of [`client`].
pub(crate) fn guarded_client(guard: &AddressGuard) -> Result<Client, String> {
    build(Client::builder().dns_resolver(Arc::new(guard.clone())))
}

fn build(client: ClientBuilder) -> Result<Client, String> {
    let client = client.redirect(Policy::custom(on_the_same_server));
    let client = client
        .connect_timeout(CONNECT)
        .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|error| error.to_string())
}

/// Follows redirects only within one server, because another server must not get the credentials and the arguments of
/// the call.
fn on_the_same_server(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let same = attempt.previous().first().is_some_and(|it| it.origin() == attempt.url().origin());
    match same && attempt.previous().len() <= MOST_REDIRECTS {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

/// A sender of the requests of one document's operations.
pub(crate) struct Sender<'a> {
    pub(crate) client: &'a Client,
    /// Checks the server's address; `None` if the application has set the server.
    pub(crate) guard: Option<&'a AddressGuard>,
    pub(crate) credentials: &'a [Arc<dyn Credentials>],
    /// The maximum number of bytes of an answer that are read.
    pub(crate) limit: usize,
}

impl Sender<'_> {
    /// Sends a request with the credentials that its operation needs. If the server refuses a credential that can be
    /// replaced, sends the request once more. This is safe, because a server does not process a request that it has not
    /// authorized.
    pub(crate) async fn send(
        &self,
        request: &Request,
        requirement: &Requirement,
        context: &ToolContext,
    ) -> Result<Response, ToolError> {
        if let Some(guard) = self.guard {
            let host = request.url.host_str().unwrap_or_default();
            // Without a proxy, the client itself checks the address when it resolves the host name.
            if request.url.domain().is_none() || has_proxy() {
                let server = request.url.origin().ascii_serialization();
                guard.judge_host(host).await.map_err(|error| match error.kind() {
                    "unreachable" => hinted(error, &server, false),
                    _ => unless_permitted(error),
                })?;
            }
        }
        let (response, given) = self.send_once(request.clone(), requirement, context).await?;
        if response.status != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let mut has_other = false;
        for (scheme, credential) in requirement.iter().zip(&given) {
            if let Some(source) = self.source(scheme) {
                has_other |= source.refused(scheme, credential).await;
            }
        }
        match has_other {
            true => Ok(self.send_once(request.clone(), requirement, context).await?.0),
            false => Ok(response),
        }
    }

    async fn send_once(
        &self,
        mut request: Request,
        requirement: &Requirement,
        context: &ToolContext,
    ) -> Result<(Response, Vec<Credential>), ToolError> {
        let mut given = Vec::new();
        for scheme in requirement {
            let Some(source) = self.source(scheme) else {
                let words = format!("there are no credentials for `{}`", scheme.name);
                return Err(ToolError::internal(words));
            };
            let credential = source.credential(scheme, context).await?;
            authorize(&mut request, scheme, &credential)?;
            given.push(credential);
        }
        let Request { method, url, headers, body } = request;
        let (is_head, is_safe) = (method == Method::HEAD, method.is_safe());
        let headers: HeaderMap = headers.into_iter().collect();
        let server = url.origin().ascii_serialization();
        let request = self.client.request(method, url).headers(headers).body(body);
        let mut response =
            request.send().await.map_err(|error| match RefusedAddress::cause_of(&error) {
                Some(refused) => unless_permitted(refused.into()),
                None => hinted(error.into(), &server, is_safe),
            })?;
        let (status, mut headers) = (response.status(), response.headers().clone());
        let (mut body, mut is_cut) = (Vec::new(), false);
        while !is_head && !is_cut {
            let piece = response.chunk().await;
            let piece = piece.map_err(|error| hinted(error.into(), &server, is_safe))?;
            let Some(piece) = piece else { break };
            let room = self.limit - body.len();
            is_cut = piece.len() > room;
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        let secrets: Vec<String> = given.iter().flat_map(Credential::secrets).collect();
        if is_cut {
            body.truncate(credentials::without_beginning(&body, &secrets).len());
        }
        body = credentials::hide(&body, &secrets);
        for value in headers.values_mut() {
            let hidden = credentials::hide(value.as_bytes(), &secrets);
            *value = HeaderValue::from_bytes(&hidden).map_err(ToolError::internal)?;
        }
        Ok((Response { status, headers, body, is_cut }, given))
    }

    fn source(&self, scheme: &SecurityScheme) -> Option<&dyn Credentials> {
        self.credentials.iter().find(|it| it.gives(scheme)).map(|it| &**it)
    }
}

/// Adds a hint to the error of a request that got no whole response: whether the server may have done what the request
/// asks for, and what to check.
fn hinted(error: ToolError, server: &str, is_safe: bool) -> ToolError {
    let hint = match error.kind() {
        "unreachable" => format!(
            "nothing was done, because no connection to {server} was made. Check that this is the address of the API (the application sets another with `.server(…)`), that the API runs, and that the network or proxy of this machine leads to it"
        ),
        "no_response" | "connection_lost" if !is_safe => format!(
            "{server} may have done what the call asks for; find out before you repeat the call"
        ),
        _ => return error,
    };
    error.hint(hint)
}

/// Adds a hint to the error of a refused address: how the application can permit the address.
fn unless_permitted(error: ToolError) -> ToolError {
    let hint = "the document names the server; the application gives one that it trusts with `.server(…)`, or permits its address with `.permit(…)`";
    error.hint(hint)
}

/// Returns whether the environment names a proxy, which would resolve host names without our check.
fn has_proxy() -> bool {
    let names =
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    names.iter().any(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()))
}

fn authorize(
    request: &mut Request,
    scheme: &SecurityScheme,
    credential: &Credential,
) -> Result<(), ToolError> {
    let name = &scheme.name;
    let unfit = |what: &str| {
        ToolError::new("no_credential", format!("the credential for `{name}` is not a {what}"))
    };
    let token = || credential.as_token().ok_or_else(|| unfit("token"));
    let secret_header = |text: String| {
        let mut value =
            HeaderValue::from_str(&text).map_err(|_| unfit("text that a header can hold"))?;
        value.set_sensitive(true);
        Ok::<_, ToolError>(value)
    };
    match &scheme.kind {
        SchemeKind::Bearer => {
            request.headers.push((AUTHORIZATION, secret_header(format!("Bearer {}", token()?))?));
        }
        SchemeKind::Basic => {
            let (user, password) =
                credential.as_basic().ok_or_else(|| unfit("user with a password"))?;
            request
                .headers
                .push((AUTHORIZATION, secret_header(credentials::basic(user, password))?));
        }
        SchemeKind::Header(key) => {
            let key = HeaderName::try_from(key).map_err(ToolError::internal)?;
            request.headers.push((key, secret_header(token()?.to_owned())?));
        }
        SchemeKind::Query(key) => {
            request.url.query_pairs_mut().append_pair(key, token()?);
        }
        SchemeKind::Cookie(key) => {
            let written = format!("{key}={}", token()?);
            let before = request.headers.iter().position(|(name, _)| *name == COOKIE);
            let before = before.map(|index| request.headers.swap_remove(index).1);
            let text = match before.as_ref().and_then(|it| it.to_str().ok()) {
                Some(before) => format!("{before}; {written}"),
                None => written,
            };
            request.headers.push((COOKIE, secret_header(text)?));
        }
        SchemeKind::Unknown(why) => return Err(ToolError::internal(why.clone())),
    }
    Ok(())
}
