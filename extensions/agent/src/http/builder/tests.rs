//! Options that are wrong are refused with what to do, and nothing shows a key.

use super::*;
use crate::http::HttpModel;
use crate::http::key::{Keys, Secret};

fn refused(builder: HttpModelBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

fn at(url: &str) -> HttpModelBuilder {
    HttpModel::anthropic("some-model").base_url(url)
}

#[test]
fn an_address_that_is_none_is_refused_with_one_that_is() {
    for (url, why) in [
        ("", "relative URL without a base"),
        ("127.0.0.1:8000", "relative URL without a base"),
        ("ftp://127.0.0.1", "`ftp` is not HTTP"),
        ("http://127.0.0.1?key=hunter2#top", "it has more than a path and a query in it"),
        ("http://ada:hunter2@127.0.0.1", "it has a user in it; give the key apart"),
    ] {
        let words = refused(at(url));
        let expected = "expected one such as `https://api.anthropic.com`: ";
        assert!(words.contains(expected) && words.ends_with(why), "{words}");
        assert!(!words.contains("hunter2"), "{words}");
    }
}

#[test]
fn no_part_of_a_password_is_shown_even_if_it_has_the_signs_of_an_address() {
    for url in ["http://ada:hun?ter2@host/v1", "http://ada:hun#ter2@host/v1", "//ada:hun?ter2@host"]
    {
        let words = refused(at(url));
        assert!(words.contains("host"), "{words}");
        assert!(["ada", "hun", "ter2"].iter().all(|part| !words.contains(part)), "{words}");
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn https_without_tls_is_refused_with_the_feature_that_brings_it() {
    let words = refused(HttpModel::openai_chat("some-model"));
    assert!(words.contains("`https://api.openai.com/v1`"), "{words}");
    assert!(words.contains("build with the feature `tls` of toolwright-agent"), "{words}");
}

#[test]
fn an_option_that_lets_no_request_through_is_refused() {
    let local = || at("http://127.0.0.1:1");
    assert!(refused(local().timeout(Duration::ZERO)).starts_with("`timeout` is 0"));
    assert!(refused(local().body_limit(0)).starts_with("`body_limit` is 0"));
    let none = RetryPolicy::NETWORK.attempts(0);
    assert!(refused(local().retry(none)).starts_with("`retry.attempts` is 0"));
    let nameless = HttpModel::anthropic(" ").base_url("http://127.0.0.1:1");
    assert!(refused(nameless).starts_with("the model's name is empty"));
}

#[test]
fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
    for (name, value) in [("x version", "hunter2"), ("x-version", "hun\nter2"), ("", "hunter2")] {
        let words = refused(at("http://127.0.0.1:1").header(name, value));
        assert!(words.starts_with(&format!("found the header `{name}`")), "{words}");
        assert!(!words.contains("ter2"), "{words}");
    }
    let words = refused(at("http://127.0.0.1:1").key_header("api key"));
    assert!(words.starts_with("found the header `api key`"), "{words}");
    let words = refused(at("http://127.0.0.1:1").plain_max_tokens());
    assert!(words.starts_with("`plain_max_tokens` is for models of the chat API"), "{words}");
}

#[test]
fn a_key_is_shown_by_nothing() {
    let builder = at("http://127.0.0.1:1").key("hunter2");
    assert!(!format!("{builder:?}").contains("hunter2"));
    let model = builder.build().unwrap();
    let secret = Secret::new("hunter2");
    let headers = model.endpoint.api.headers(secret.as_ref(), None).unwrap();
    assert!(headers.iter().any(|(_, value)| value == "hunter2"));
    let shown = format!("{model:?} {:?} {headers:?} {secret:?}", model.endpoint.keys);
    assert!(!shown.contains("hunter2"), "{shown}");
    let broken = refused(at("http://127.0.0.1:1").key("hun\nter2"));
    assert!(broken.starts_with("the key holds characters") && !broken.contains("ter2"), "{broken}");
}

#[test]
fn the_path_stands_below_the_address() {
    let model = at("http://127.0.0.1:8000/anthropic/").build().unwrap();
    assert_eq!(model.endpoint.place(), "http://127.0.0.1:8000/anthropic/v1/messages");
}

#[test]
fn a_key_is_read_from_the_environment_when_the_model_is_made() {
    // Cargo sets it for tests.
    let named = at("http://127.0.0.1:1").key(ApiKey::from_env("CARGO_PKG_NAME"));
    let Keys::Fixed(key) = named.build().unwrap().endpoint.keys else { panic!("it is no command") };
    assert_eq!(key, Secret::new(env!("CARGO_PKG_NAME")));
    let words = refused(at("http://127.0.0.1:1").key(ApiKey::from_env("TOOLWRIGHT_NO_SUCH_KEY")));
    assert_eq!(
        words,
        "found no key in TOOLWRIGHT_NO_SUCH_KEY, expected that of the account; set it"
    );
}

#[test]
fn a_command_for_the_key_has_a_program() {
    for words in [vec![], vec![""]] {
        let words = refused(at("http://127.0.0.1:1").key(ApiKey::from_command(words)));
        assert!(words.starts_with("the command for the key is empty"), "{words}");
    }
    let shown = format!("{:?}", ApiKey::from_command(["vault", "read", "hunter2"]));
    assert_eq!(shown, "ApiKey(printed by `vault`)");
}
