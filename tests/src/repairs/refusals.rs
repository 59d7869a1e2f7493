//! Ten refusals as a model reads them: each says where, what was found, what was expected and what to do.

use serde_json::Value;
use toolwright::{Call, data, tool};

use crate::support::{builder, kind};

/// A day or a stretch of hours.
#[data]
#[serde(tag = "kind", rename_all = "snake_case")]
enum When {
    /// One day.
    Day {
        /// Which, counted from today.
        day: i32,
    },
    /// Some hours.
    Span {
        /// How many.
        hours: u32,
    },
}

/// A unit of temperature.
#[data]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Kelvin,
}

/// Tells the weather.
#[tool]
async fn tell_weather(
    /// The town.
    #[arg(length = 1..=40)]
    town: String,
    /// In which unit.
    unit: Unit,
    /// How many lines.
    #[arg(default = 5, minimum = 1, maximum = 100)]
    limit: u32,
    /// What to tell of.
    #[arg(default, length = ..=3)]
    topics: Vec<String>,
    /// When.
    when: Option<When>,
    /// The code of the station.
    #[arg(pattern = "^[A-Z]{3}$")]
    station: Option<String>,
) -> String {
    let days = match when {
        Some(When::Day { day }) => i64::from(day),
        Some(When::Span { hours }) => i64::from(hours / 24),
        None => 0,
    };
    let unit = matches!(unit, Unit::Kelvin);
    format!("{town} {unit} {limit} {} {days} {station:?}", topics.len())
}

const SENT: [&str; 10] = [
    r#"{"twn":"Oslo","unit":"celsius"}"#,
    r#"{"town":"Oslo","unit":"celcius"}"#,
    r#"{"town":"Oslo","unit":"kelvin","limit":"many","topics":["wind",{"sun":true}]}"#,
    r#"{"town":"","unit":"kelvin","limit":1000,"topics":["a","b","c","d"],"station":"osl"}"#,
    r#"{"unit":null,"place":"Oslo"}"#,
    r#"{"town":"Oslo","unit":"kelvin","when":{"kind":"span","hour":"3"}}"#,
    r#"{"town":"Oslo","town":"Bergen","unit":"kelvin"}"#,
    r#"{"town":"Oslo","unit":"kelvin","topics":["wind","su"#,
    r#"{"town":"say "Oslo" twice","unit":"kelvin"}"#,
    "I need to know the town before I can look up the weather.",
];

#[tokio::test]
async fn ten_refusals_say_where_what_and_what_to_do() {
    let executor = builder([TELL_WEATHER]).build().unwrap();
    let mut told = String::new();
    for sent in SENT {
        let answer = executor.call(&Call::new("tell_weather", sent)).await;
        assert_eq!(kind(&answer), "invalid_input", "{sent}");
        let text = answer.text();
        assert!(text.chars().count() <= 2_000, "{text}");
        let fields: Value = serde_json::from_str(&text).unwrap();
        let words = |key: &str| fields[key].as_str().unwrap().to_owned();
        told.push_str(&format!("{sent}\n"));
        for line in words("message").lines().chain([words("next_action_hint").as_str()]) {
            told.push_str(&format!("    {line}\n"));
        }
        told.push('\n');
    }
    println!("{told}");
    insta::assert_snapshot!(told);
}
