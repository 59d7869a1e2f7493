//! Bearer tokens: the application's check of a token, and the header of a request that has one.

use futures::future::BoxFuture;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

/// Decides which user a bearer token belongs to.
///
/// A check verifies that the token was made for this server (its audience), by an authorization server that it trusts, and
/// that it has not expired.
///
/// ```
/// use futures::future::BoxFuture;
/// use toolwright_mcp::{TokenCheck, TokenRefusal};
///
/// struct OneToken(String);
///
/// impl TokenCheck for OneToken {
///     fn check<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
///         let is_right = token == self.0; // compare digests where a stranger can measure time
///         Box::pin(async move { if is_right { Ok("ada".into()) } else { Err(TokenRefusal::Invalid) } })
///     }
/// }
/// ```
pub trait TokenCheck: Send + Sync + 'static {
    /// Returns the user for whom calls are made, by the name that policy and journal will use.
    fn check<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>>;
}

/// The reason why a token is refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenRefusal {
    /// The token is unknown, made for another server, or expired.
    #[error("the token is not valid here")]
    Invalid,
    /// The token does not allow the request.
    #[error("the token lacks the scope `{0}`")]
    MissingScope(String),
    /// The token could not be checked.
    #[error("the token cannot be checked now")]
    Unavailable,
}
toolwright::unstable::debug_as_sentence!(TokenRefusal);

/// Returns the bearer token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?.to_str().ok()?, values.next()) else { return None };
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn a_token_is_read_from_one_header_of_the_scheme_bearer() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_static(value));
            }
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(of(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(of(&["bearer  abc"]).as_deref(), Some("abc"));
        for wrong in [&["Basic abc"][..], &["Bearer "], &["Bearer"], &["Bearer a", "Bearer b"], &[]]
        {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }
}
