//! Texts that are made to cost are answered soon and with few words, through everything that a call goes through.

use std::time::{Duration, Instant};

use toolwright::{Call, Repair, data, tool};

use crate::support::{builder, kind};

/// A thing with others in it.
#[data]
struct Nested {
    /// What it is called.
    name: Option<String>,
    /// What is in it.
    #[serde(default)]
    inner: Vec<Nested>,
}

/// Takes things.
#[tool(effect = read)]
async fn take_things(
    /// Which.
    things: Vec<Nested>,
    /// How many.
    #[arg(default = 1)]
    count: u32,
) -> usize {
    let names = things.iter().filter(|it| it.name.is_some()).count();
    names + things.iter().map(|it| it.inner.len()).sum::<usize>() + count as usize
}

/// Longer than any of them takes on a machine with much else to do.
const LONG: Duration = Duration::from_secs(20);

fn texts() -> Vec<(&'static str, String)> {
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let quotes = "\"".repeat(5_000);
    vec![
        ("arrays", deep("[", "]")),
        ("objects", deep("{\"things\":", "}")),
        ("things", format!("{{\"things\":{}", deep("[{\"inner\":", "}]"))),
        ("open", "[{".repeat(500_000)),
        (
            "two mebibytes of name",
            format!(r#"{{"things":[{{"name":"{}"}}],"x":1}}"#, "a".repeat(2 << 20)),
        ),
        ("two mebibytes of words", "read the file ".repeat(150_000)),
        ("quotes", quotes.clone()),
        ("quotes inside", format!(r#"{{"things":"{quotes}"}}"#)),
        ("escaped quotes", format!(r#"{{"things":"{}"}}"#, "\\\"".repeat(5_000))),
        ("layers", layered(12)),
        ("wrappers", format!("{}{}{}", "{\"arguments\":".repeat(60), "{}", "}".repeat(60))),
        ("many problems", format!(r#"{{"things":[{}1]}}"#, "{\"nam\":1},".repeat(20_000))),
        ("digits", format!(r#"{{"things":[],"count":"{}"}}"#, "9".repeat(500_000))),
    ]
}

/// An object made a text again and again.
fn layered(times: usize) -> String {
    let mut text = r#"{"things":[]}"#.to_owned();
    for _ in 0..times {
        text = serde_json::json!({"things": text}).to_string();
    }
    text
}

#[tokio::test]
async fn every_hostile_text_is_refused_soon_and_in_few_words() {
    for level in [Repair::Off, Repair::Standard, Repair::Lenient] {
        let executor = builder([TAKE_THINGS]).repair(level).build().unwrap();
        for (name, text) in texts() {
            let start = Instant::now();
            let answer = executor.call(&Call::new("take_things", text)).await;
            let taken = start.elapsed();
            assert_eq!(kind(&answer), "invalid_input", "{name}");
            let length = answer.text().chars().count();
            // What JSON makes of quotes and line breaks comes on top of the words.
            let words = answer.error().unwrap().message().chars().count();
            assert!(words <= 2_000 && length <= 4_000, "{name}: {words} of {length}");
            assert!(taken < LONG, "{name} ({level:?}): {taken:?}");
        }
    }
}
