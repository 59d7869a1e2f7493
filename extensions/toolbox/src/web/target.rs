//! The URL that a model requests, which is checked before anything is sent. Pure.

use std::fmt;

use reqwest::Url;
use toolwright::untrusted::line;
use toolwright::{ErrorClass, ToolError};

/// The maximum length of a URL, in bytes.
pub(super) const LONGEST: usize = 8 * 1024;

/// A checked URL: http or https, with a host and without a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) site: Site,
}

/// The host that a person allows: in lower case, international names in ASCII form, with its port unless that is the
/// default.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Site(String);

impl Target {
    /// Parses and checks a URL. The parser normalizes the spelling: `HTTP://0x7f.1` becomes `http://127.0.0.1/`.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        if text.len() > LONGEST {
            return Err(refused(text, "it has more than 8,192 bytes"));
        }
        let url = Url::parse(text.trim()).map_err(|error| refused(text, &error.to_string()))?;
        Self::of(url)
    }

    /// Checks a parsed URL.
    pub(super) fn of(mut url: Url) -> Result<Self, ToolError> {
        let problem = if !matches!(url.scheme(), "http" | "https") {
            Some("its scheme is neither http nor https")
        } else if !url.username().is_empty() || url.password().is_some() {
            Some("it has a user before the host")
        } else if url.as_str().len() > LONGEST {
            Some("it has more than 8,192 bytes")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(refused(url.as_str(), problem));
        }
        // A trailing dot means the root of all names and does not make another host.
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
        if host.is_empty() || url.set_host(Some(&host)).is_err() {
            return Err(refused(url.as_str(), "it has no host"));
        }
        url.set_fragment(None);
        // Read the host again after it was set, because the parser may normalize it, for example a number to an
        // address.
        let site = Site::of(url.host_str().unwrap_or_default(), url.port());
        Ok(Self { url, site })
    }
}

impl Site {
    fn of(host: &str, port: Option<u16>) -> Self {
        Self(match port {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }

    /// Parses a host as a person or a model writes it, `docs.rs` or `docs.rs:8443`.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        let is_bare = !text.is_empty() && !text.contains(['/', '?', '#', '@', '\\', '*']);
        let target = is_bare.then(|| Target::parse(&format!("https://{text}")));
        // In an https URL the parser keeps port 80, which is the default of http, so the port is removed below.
        let target = target.unwrap_or_else(|| Err(refused(text, "it is not a host")));
        let site = target.map(|it| it.site).map_err(|_| {
            let message = format!("`{}` is not a host, expected one such as `docs.rs`", line(text));
            ToolError::new("invalid_host", message)
                .class(ErrorClass::Invalid)
                .hint("give the host alone, without scheme and path")
        })?;
        Ok(Self(site.0.strip_suffix(":80").map(str::to_owned).unwrap_or(site.0)))
    }
}

impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn refused(text: &str, problem: &str) -> ToolError {
    let message = format!("`{}` cannot be fetched: {problem}", line(text));
    ToolError::new("invalid_url", message)
        .class(ErrorClass::Invalid)
        .hint("give a whole address, such as `https://docs.rs/tokio`")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn site(text: &str) -> String {
        Target::parse(text).expect(text).site.to_string()
    }

    /// S3.29: the host that is looked up in the allow-list is in small letters, however it is spelt.
    #[test]
    fn one_host_is_one_site_however_it_is_spelt() {
        for text in [
            "https://docs.rs/tokio",
            "HTTPS://DOCS.RS/tokio",
            "https://docs.rs:443/",
            "http://docs.rs:80",
            "https://docs.rs./",
            " https://Docs.rs#part ",
            "https://d%6Fcs.rs/",
            "https://docs。rs/",
        ] {
            assert_eq!(site(text), "docs.rs", "{text}");
        }
        assert_eq!(site("https://docs.rs:8443/"), "docs.rs:8443");
        // Letters that look alike are another host, and are seen to be.
        assert_eq!(site("https://dоcs.rs/"), "xn--dcs-sed.rs");
        for text in ["Docs.rs", "docs.rs.", "docs.rs:443", " docs.rs", "docs.rs:80"] {
            assert_eq!(Site::parse(text).expect(text).0, "docs.rs");
        }
        for text in ["", "a/b", "https://a", "u@a", "*.a", "a b", "*"] {
            assert_eq!(Site::parse(text).expect_err(text).kind(), "invalid_host");
        }
    }

    #[test]
    fn addresses_in_odd_spellings_are_read_as_what_they_are() {
        for (text, host) in [
            ("http://127.1/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://[::ffff:10.0.0.1]/", "[::ffff:a00:1]"),
            ("http://127.0.0.1./", "127.0.0.1"),
            ("http://１２７.0.0.1/", "127.0.0.1"),
        ] {
            assert_eq!(site(text), host, "{text}");
        }
    }

    #[test]
    fn what_is_no_page_of_the_web_is_refused_and_named() {
        for text in [
            "file:///etc/passwd",
            "gopher://a/",
            "ftp://a/",
            "data:text/html,x",
            "javascript:alert(1)",
            "docs.rs",
            "//docs.rs",
            "https://",
            "https:///",
            "http://a@b/",
            "http://:secret@b/",
            "http://./",
            "http://a b/",
            "",
        ] {
            let error = Target::parse(text).expect_err(text);
            assert_eq!(error.kind(), "invalid_url", "{text}");
        }
        let long = format!("https://a/{}", "a".repeat(LONGEST));
        assert!(Target::parse(&long).expect_err("long").message().contains("8,192 bytes"));
    }

    proptest! {
        /// What is fetched has the site that was judged, whatever was written.
        #[test]
        fn the_address_that_is_sent_is_the_one_that_was_judged(text in "[htps:/@.0-9a-z\\[\\]%#?\\\\ ]{0,40}") {
            for text in [text.clone(), format!("http://{text}"), format!("https://a{text}")] {
                let Ok(target) = Target::parse(&text) else { continue };
                let again = Target::parse(target.url.as_str()).expect("it was read before");
                prop_assert_eq!(&again, &target);
                prop_assert!(matches!(target.url.scheme(), "http" | "https"));
                prop_assert!(target.url.username().is_empty() && target.url.password().is_none());
                prop_assert_eq!(target.site.0.to_lowercase(), target.site.0);
            }
        }
    }
}
