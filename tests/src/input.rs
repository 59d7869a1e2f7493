//! Input is read as strictly as its schema says, and all that is wrong is told at once.

use std::collections::BTreeMap;

use toolwright::{Call, data, tool};

use crate::support::{executor, kind, strict};

/// Where to look.
#[data]
struct Place {
    /// The shelf.
    shelf: u8,
    /// The row.
    row: Option<u8>,
}

/// Looks for books.
#[tool(effect = read)]
async fn look_for_books(
    /// Words of the title.
    #[arg(length = 1..=20)]
    title: String,
    /// A signature.
    #[arg(pattern = "^[A-Z]{2}[0-9]+$")]
    signature: Option<String>,
    /// How many at the most.
    #[arg(default = 3, minimum = 1, maximum = 9)]
    limit: u32,
    /// Where.
    place: Option<Place>,
    /// Names of authors.
    #[arg(default, length = ..=2)]
    authors: Vec<String>,
) -> String {
    let row = place.as_ref().map(|place| (place.shelf, place.row));
    format!("{title} {signature:?} {limit} {row:?} {authors:?}")
}

async fn told(arguments: &str) -> String {
    let answer = strict([LOOK_FOR_BOOKS]).call(&Call::new("look_for_books", arguments)).await;
    answer.error().map_or_else(|| answer.text().into_owned(), |error| error.message().to_owned())
}

fn problems(message: &str) -> Vec<&str> {
    message.lines().skip(1).collect()
}

/// S0.32: input is checked against the input schema before anything runs.
/// S2.10: a function tool checks its input by its schema: required, unknown, types, arrays, bounds.
#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once_by_its_place() {
    let message = told(
        r#"{"signature":"x1","limit":0,"place":{"shelf":256,"sheelf":1},"authors":["a",7],"titel":"Emma"}"#,
    )
    .await;
    insta::assert_snapshot!(message);
}

#[tokio::test]
async fn what_is_left_out_is_its_default_or_nothing() {
    assert_eq!(told(r#"{"title":"Emma"}"#).await, "Emma None 3 None []");
    assert_eq!(
        told(
            r#"{"authors":["Jane"],"place":{"shelf":1},"limit":9,"signature":"AB1","title":"Emma"}"#
        )
        .await,
        r#"Emma Some("AB1") 9 Some((1, None)) ["Jane"]"#
    );
}

#[tokio::test]
async fn absent_is_the_only_way_to_leave_something_out() {
    let message = told(r#"{"title":"Emma","signature":null,"place":{"shelf":1,"row":null}}"#).await;
    assert_eq!(
        problems(&message),
        [
            "/place/row: found null, expected an integer from 0 to 255; leave the key out instead",
            "/signature: found null, expected a string; leave the key out instead",
            r#"if this is meant, send it: {"title":"Emma","place":{"shelf":1}}"#,
        ]
    );
}

#[tokio::test]
async fn an_unknown_key_is_refused_with_the_key_that_was_probably_meant() {
    let message = told(r#"{"title":"Emma","limits":3}"#).await;
    assert!(message.contains("/limits: unknown key"), "{message}");
    assert!(message.contains("did you mean \"limit\"?"), "{message}");
    assert!(message.ends_with(r#"send it: {"title":"Emma","limit":3}"#), "{message}");
}

#[tokio::test]
async fn a_key_that_is_given_twice_is_refused_however_it_is_spelt() {
    for twice in [r#"{"title":"Emma","title":"Emma"}"#, r#"{"title":"Emma","t\u0069tle":"Emma"}"#] {
        let message = told(twice).await;
        assert_eq!(problems(&message), ["/title: duplicate key, expected each key once"]);
    }
    let message = told(r#"{"title":"Emma","place":{"shelf":1,"shelf":1}}"#).await;
    assert_eq!(problems(&message), ["/place/shelf: duplicate key, expected each key once"]);
}

#[tokio::test]
async fn limits_hold_at_both_ends_and_one_beyond() {
    let limit = |limit: u32| format!(r#"{{"title":"Emma","limit":{limit}}}"#);
    for (within, beyond, words) in [(1, 0, "from 1 to 9"), (9, 10, "from 1 to 9")] {
        assert!(told(&limit(within)).await.starts_with("Emma"));
        assert!(told(&limit(beyond)).await.contains(words));
    }
}

#[tokio::test]
async fn a_length_counts_characters_of_text_and_items_of_lists() {
    let title = |title: String| serde_json::json!({"title": title}).to_string();
    assert!(told(&title("é".repeat(20))).await.starts_with("éé"));
    assert_eq!(
        problems(&told(&title("é".repeat(21))).await),
        ["/title: found 21 characters, expected 1 to 20 characters"]
    );
    assert_eq!(
        problems(&told(&title(String::new())).await),
        ["/title: found 0 characters, expected 1 to 20 characters"]
    );
    assert_eq!(
        problems(&told(r#"{"title":"Emma","authors":["a","b","c"]}"#).await),
        ["/authors: found 3 items, expected at most 2 items"]
    );
}

#[tokio::test]
async fn text_must_match_its_pattern() {
    let message = told(r#"{"title":"Emma","signature":"ab1"}"#).await;
    assert_eq!(
        problems(&message),
        [r#"/signature: found "ab1", expected text that matches `^[A-Z]{2}[0-9]+$`"#]
    );
}

#[tokio::test]
async fn a_number_in_quotes_and_a_list_for_an_object_are_refused() {
    let message = told(r#"{"title":"Emma","limit":"3","place":[1,2]}"#).await;
    assert_eq!(
        problems(&message),
        [
            r#"/limit: found "3", expected an integer from 1 to 9"#,
            "/place: found [1,2], expected an object",
        ]
    );
}

#[tokio::test]
async fn what_is_no_json_object_is_refused_in_words() {
    for (text, words) in [
        ("", "input"),
        ("null", "expected an object"),
        ("[]", "expected an object"),
        (r#"{"title":"Emma""#, "input"),
        (r#"{"title":"Emma"} {}"#, "input"),
    ] {
        let answer = strict([LOOK_FOR_BOOKS]).call(&Call::new("look_for_books", text)).await;
        assert_eq!(kind(&answer), "invalid_input", "{text}");
        assert!(answer.text().contains(words), "{text}: {}", answer.text());
    }
}

/// Takes nothing.
#[tool(effect = read)]
async fn take_nothing() -> &'static str {
    "taken"
}

#[tokio::test]
async fn a_tool_without_parameters_takes_the_empty_object_alone() {
    let executor = executor([TAKE_NOTHING]);
    assert_eq!(executor.call(&Call::new("take_nothing", " { } ")).await.text(), "taken");
    let answer = executor.call(&Call::new("take_nothing", r#"{"x":1}"#)).await;
    assert!(answer.text().contains("unknown key"), "{}", answer.text());
}

/// Adds up.
#[tool(effect = read)]
async fn add_up(
    /// Numbers by name.
    numbers: BTreeMap<String, i64>,
    /// A number of any size that fits.
    big: u64,
) -> String {
    format!("{} {big}", numbers.values().sum::<i64>())
}

#[tokio::test]
async fn numbers_keep_their_last_digit() {
    let executor = executor([ADD_UP]);
    let answer = executor
        .call(&Call::new(
            "add_up",
            r#"{"numbers":{"a":9007199254740993,"b":0},"big":18446744073709551615}"#,
        ))
        .await;
    assert_eq!(answer.text(), "9007199254740993 18446744073709551615");
    let beyond = r#"{"numbers":{},"big":18446744073709551616}"#;
    assert_eq!(kind(&executor.call(&Call::new("add_up", beyond)).await), "invalid_input");
}

/// S2.22: reading input is a value of its own, what was parsed or what is wrong, before any run.
#[test]
fn input_can_be_read_without_running_the_tool() {
    let executor = executor([LOOK_FOR_BOOKS]);
    assert!(executor.examine(&Call::new("look_for_books", r#"{"title":"Emma"}"#)).is_ok());
    let error = executor.examine(&Call::new("look_for_books", "{}")).unwrap_err();
    assert_eq!(
        problems(error.message()),
        ["/title: missing, expected a string of 1 to 20 characters"]
    );
}

/// Takes a secret.
#[tool]
async fn log_in(
    /// The password.
    #[arg(secret, length = 8..)]
    password: String,
) -> String {
    format!("{} letters", password.len())
}

#[tokio::test]
async fn what_is_wrong_with_a_secret_is_told_without_the_secret() {
    let executor = strict([LOG_IN]);
    for wrong in [
        r#"{"password":1234512345}"#,
        r#"{"password":["hunter2hunter2"]}"#,
        r#"{"password":"hunter2hunter2"#,
        r#""hunter2hunter2""#,
    ] {
        let answer = executor.call(&Call::new("log_in", wrong)).await;
        assert_eq!(kind(&answer), "invalid_input");
        assert!(!answer.text().contains("12345"), "{}", answer.text());
        assert!(!answer.text().contains("hunter2"), "{}", answer.text());
    }
    let short = executor.call(&Call::new("log_in", r#"{"password":"short"}"#)).await;
    assert!(short.text().contains("/password: expected at least 8 characters"), "{}", short.text());
}

/// Who signs in.
#[data]
struct Credentials {
    user: String,
    password: String,
}

/// Signs in.
#[tool]
async fn sign_in_with_both(
    /// Who.
    #[arg(secret)]
    login: Credentials,
    /// More of them, by name.
    #[arg(secret, default)]
    more: BTreeMap<String, Credentials>,
) -> String {
    login.user + &login.password + &more.len().to_string()
}

#[tokio::test]
async fn the_keys_inside_a_secret_are_told_to_nobody() {
    let login = r#""login":{"user":"ada","password":"x"}"#;
    for (wrong, told) in [
        (
            r#"{"login":{"user":"ada","hunter2hunter2":""}}"#.to_owned(),
            [
                r#"/login: unknown key, expected inside it one of "password", "user""#,
                r#"/login: expected inside it the key "password""#,
            ]
            .as_slice(),
        ),
        (
            format!(r#"{{{login},"more":{{"hunter2hunter2":{{"user":{{}}}}}}}}"#),
            &[
                "/more: expected inside it a string",
                r#"/more: expected inside it the key "password""#,
            ],
        ),
        (
            format!(r#"{{{login},"more":{{"hunter2hunter2":{{}},"hunter2hunter2":{{}}}}}}"#),
            &["/more: duplicate key, expected inside it each key once"],
        ),
    ] {
        for executor in [strict([SIGN_IN_WITH_BOTH]), executor([SIGN_IN_WITH_BOTH])] {
            let answer = executor.call(&Call::new("sign_in_with_both", &*wrong)).await;
            assert_eq!(kind(&answer), "invalid_input");
            let message = answer.error().unwrap().message();
            assert!(!message.contains("hunter2"), "{message}");
            for told in told {
                assert!(problems(message).contains(told), "{wrong}: {message}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_mended_inside_a_secret_is_told_without_its_keys() {
    let executor = executor([SIGN_IN_WITH_BOTH]);
    let mended = r#"{"login":{"user":"ada","password":"x"},"more":{"hunter2hunter2":{"user":"bob","password":7}}}"#;
    let answer = executor.call(&Call::new("sign_in_with_both", mended)).await;
    assert_eq!(answer.text(), "adax1");
    let changes = answer.repairs().unwrap().changes();
    assert_eq!(changes[0].to_string(), "/more: changed (text)");
}

/// What one is known by.
#[data]
enum Known {
    Hunter { name: String },
    Nobody,
}

/// Knows somebody.
#[tool]
async fn know_somebody(
    /// By what.
    #[arg(secret)]
    by: Known,
) -> usize {
    match by {
        Known::Hunter { name } => name.len(),
        Known::Nobody => 0,
    }
}

#[tokio::test]
async fn which_variant_a_secret_is_of_is_told_to_nobody() {
    for (wrong, sent) in [
        (r#"{"by":"Hunter"}"#, "Hunter"),
        (r#"{"by":{"Hunter":1}}"#, "Hunter"),
        (r#"{"by":{"Nobody":1}}"#, "Nobody"),
    ] {
        let answer = strict([KNOW_SOMEBODY]).call(&Call::new("know_somebody", wrong)).await;
        let told = answer.error().unwrap().message();
        assert!(!told.contains(sent), "{told}");
    }
}
