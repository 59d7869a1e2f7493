//! Strings, keys, syntax, and how faults show what they found.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use toolwright::__private0::{Reader, Rule};

use super::{read, refused};

#[test]
fn strings_have_all_escapes() {
    let text = r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 x""#;
    assert_eq!(read::<String>(text).unwrap(), "\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600} x");
    assert_eq!(Reader::new(text).skip_value().unwrap(), text);
    assert_eq!(read::<String>("\"日本 — 語のテスト\"").unwrap(), "日本 — 語のテスト");
    for length in 0..40 {
        let plain = "é".repeat(length);
        assert_eq!(read::<String>(&format!("\"{plain}\"")).unwrap(), plain);
        assert_eq!(
            read::<String>(&format!("\"{plain}\\n{plain}\"")).unwrap(),
            format!("{plain}\n{plain}")
        );
    }
}

#[test]
fn broken_strings_are_refused_when_read_and_when_skipped() {
    let wrong = [
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\n\"",
        "\"\\ud800\\ud800\"",
        "\"\\ud800x\"",
        "\"\n\"",
        "\"\0\"",
        "\"\u{1f}\"",
        "\"aaaaaaaaa\tbbb\"",
        "\"\\u+123\"",
    ];
    for text in wrong {
        assert_eq!(read::<String>(text).unwrap_err().problem().rule, Rule::Syntax, "{text}");
        assert!(Reader::new(text).skip_value().is_err(), "{text}");
        assert!(serde_json::from_str::<String>(text).is_err(), "{text}");
    }
    let fault = read::<String>("\"a\\ud800b\"").unwrap_err();
    let message = "input: found \\ud800 at byte 2, expected both halves of a surrogate pair";
    assert_eq!(fault.to_string(), message);
}

#[test]
fn strings_without_escapes_are_borrowed() {
    let mut reader = Reader::new(r#""plain""#);
    assert_eq!(<&str>::deserialize(&mut reader).unwrap(), "plain");
    let fault = <&str>::deserialize(&mut Reader::new(r#""\n""#)).unwrap_err();
    assert_eq!(fault.problem().rule, Rule::Type);
}

#[test]
fn a_char_is_a_string_of_one() {
    assert_eq!(read::<char>("\"é\"").unwrap(), 'é');
    let message = "input: found \"ab\", expected a string of one character";
    refused::<char>("\"ab\"", Rule::Value, message);
}

#[test]
fn keys_may_be_scalars_in_one_spelling() {
    assert_eq!(read::<HashMap<u8, u8>>(r#"{"1":2}"#).unwrap()[&1], 2);
    assert_eq!(read::<HashMap<i8, u8>>(r#"{"-1":2}"#).unwrap()[&-1], 2);
    assert_eq!(read::<HashMap<bool, u8>>(r#"{"true":2}"#).unwrap()[&true], 2);
    for key in ["01", "+1", " 1", "-0", "1.0", "256", ""] {
        let fault = read::<HashMap<u8, u8>>(&format!("{{\"{key}\":2}}")).unwrap_err();
        assert_eq!(fault.problem().pointer, format!("/{key}"), "{key}");
    }
    let message = "/yes: found \"yes\", expected true or false";
    refused::<HashMap<bool, u8>>(r#"{"yes":1}"#, Rule::Type, message);
}

#[test]
fn a_types_own_message_comes_with_what_was_found_and_a_librarys_is_put_into_our_words() {
    let fault = read::<Vec<std::net::IpAddr>>(r#"["::1","nowhere"]"#).unwrap_err();
    assert_eq!(fault.problem().pointer, "/1");
    assert_eq!(fault.problem().found, "\"nowhere\"");
    let message = "/1: found \"nowhere\", expected an IP address such as 192.0.2.1 or 2001:db8::1";
    assert_eq!(fault.to_string(), message);

    #[derive(Debug, serde::Deserialize)]
    #[serde(try_from = "String")]
    struct Vowel;
    impl TryFrom<String> for Vowel {
        type Error = &'static str;
        fn try_from(text: String) -> Result<Self, &'static str> {
            if "aeiou".contains(&text) { Ok(Self) } else { Err("it is no vowel") }
        }
    }
    let fault = read::<Vec<Vowel>>(r#"["a","b"]"#).unwrap_err();
    assert_eq!(fault.to_string(), "/1: found \"b\", it is no vowel");
}

#[test]
fn what_was_found_is_short_and_cut_between_characters() {
    let text = format!("\"{}\"", "é".repeat(200));
    let fault = read::<u8>(&text).unwrap_err();
    assert_eq!(fault.problem().found.chars().count(), 60);
    assert!(fault.problem().found.ends_with("é…"));
    refused::<u8>("[\n  1,\n  2\n]", Rule::Type, "input: found [ 1, 2 ], expected an integer");
}

#[test]
fn trailing_text_is_refused() {
    let message = "input: found x at byte 2 (line 1, column 3), expected the end of the text";
    refused::<u8>("1 x", Rule::Syntax, message);
    refused::<Vec<u8>>(
        "[1,\n2,]",
        Rule::Syntax,
        "/2: found ] at byte 6 (line 2, column 3), expected a JSON value",
    );
    let message =
        "input: found the end of the text at byte 0 (line 1, column 1), expected a JSON value";
    refused::<u8>("", Rule::Syntax, message);
}

#[test]
fn broken_json_is_refused_when_read_and_when_skipped() {
    let wrong = [
        "",
        " ",
        "[",
        "]",
        "{",
        "}",
        "[1",
        "[1,",
        "[,1]",
        "[1,]",
        "[1 2]",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "[1}",
        "{\"a\":1]",
        "nul",
        "tru",
        "falze",
        "'a'",
        "//",
        "[\u{a0}1]",
        "\u{feff}1",
        "{\"a\":1 \"b\":2}",
        "[1,,2]",
    ];
    for text in wrong {
        assert_eq!(read::<Value>(text).unwrap_err().problem().rule, Rule::Syntax, "{text}");
        assert!(Reader::new(text).skip_value().is_err(), "{text}");
        assert!(read::<serde::de::IgnoredAny>(text).is_err(), "{text}");
    }
}

#[test]
fn nesting_is_limited_when_read_and_when_skipped() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(read::<Value>(&nested(127)).is_ok());
        assert!(serde_json::from_str::<Value>(&nested(127)).is_ok());
        assert!(Reader::new(&nested(127)).skip_value().is_ok());
        assert_eq!(read::<Value>(&nested(128)).unwrap_err().problem().rule, Rule::Depth);
        let fault = Reader::new(&nested(128)).skip_value().unwrap_err();
        assert_eq!(fault.problem().rule, Rule::Depth);
    }
}

#[test]
fn the_reader_hands_out_the_text_it_read() {
    let mut reader = Reader::new(" {\"a\": [1, \"]\"]} , 2");
    assert_eq!(reader.skip_value().unwrap(), "{\"a\": [1, \"]\"]}");
    let start = reader.position();
    assert_eq!(reader.since(start), "");
    assert_eq!(reader.since(1000), "");
    assert!(reader.finish().is_err());
}
