//! The header that says to a client which token it needs (`WWW-Authenticate`, RFC 6750 and RFC 9728). The functions are
//! pure.

use std::fmt::Write as _;

use hyper::header::HeaderValue;

/// The value of `WWW-Authenticate` with the scheme `Bearer`: its parameters, by name.
#[derive(Debug, Default)]
pub(super) struct Challenge(Vec<(&'static str, String)>);

impl Challenge {
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Returns the header. A value is left out if it would end its own quotes or cannot be in a header.
    pub(super) fn header(&self) -> HeaderValue {
        let mut text = "Bearer".to_owned();
        let mut separator = " ";
        for (name, value) in &self.0 {
            let fits = |it: char| matches!(it, ' '..='~') && !matches!(it, '"' | '\\');
            if !value.chars().all(fits) {
                tracing::error!(name, value, "a header cannot carry this value of a challenge");
                continue;
            }
            let _ = write!(text, "{separator}{name}=\"{value}\"");
            separator = ", ";
        }
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_has_its_parameters_in_quotes() {
        let both = Challenge::default().with("error", "insufficient_scope").with("scope", "a b,c");
        assert_eq!(both.header(), r#"Bearer error="insufficient_scope", scope="a b,c""#);
        assert_eq!(Challenge::default().header(), "Bearer");
    }

    #[test]
    fn a_value_cannot_add_a_parameter_of_its_own() {
        for scope in ["a\", realm=\"b", "a\\", "a\nb", "ä"] {
            let error =
                Challenge::default().with("scope", scope).with("error", "insufficient_scope");
            assert_eq!(error.header(), r#"Bearer error="insufficient_scope""#, "{scope}");
        }
    }
}
