//! Words of the libraries that read a type reach neither a model nor a person: a message says what is expected.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU8;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::{Call, Executor, data, tool};

use crate::support::{executor, strict};

/// A day, which its own schema calls a text.
#[data]
struct Day(#[schemars(with = "String")] jiff::civil::Date);

/// A number of a booking, read by an error of a library.
#[data]
#[serde(try_from = "String")]
struct Booking(uuid::Uuid);

impl TryFrom<String> for Booking {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

/// A number of beds, read by a rule of the application's own.
#[data]
#[serde(try_from = "u8")]
struct Beds(u8);

impl TryFrom<u8> for Beds {
    type Error = String;

    fn try_from(beds: u8) -> Result<Self, String> {
        if beds.is_multiple_of(2) {
            Ok(Self(beds))
        } else {
            Err(format!("beds come in pairs, {beds} is odd"))
        }
    }
}

/// Books a room.
#[tool(effect = read)]
async fn book(
    /// The first day.
    day: jiff::civil::Date,
    /// How many nights.
    nights: u8,
    /// How many beds.
    beds: Option<Beds>,
) -> String {
    format!("{day} {nights} {:?}", beds.map(|it| it.0))
}

macro_rules! readers {
    ($($name:ident: $type:ty,)*) => {
        /// Reads what libraries read.
        #[expect(clippy::too_many_arguments, reason = "one for each type of a library")]
        #[tool(effect = read)]
        async fn read(
            $(
                /// One of them.
                $name: Option<$type>,
            )*
        ) -> String {
            $(let _ = $name;)*
            "read".to_owned()
        }
    };
}

readers! {
    jiff_date: jiff::civil::Date,
    jiff_time: jiff::civil::Time,
    jiff_local: jiff::civil::DateTime,
    jiff_moment: jiff::Timestamp,
    jiff_length: jiff::SignedDuration,
    jiff_span: jiff::Span,
    chrono_date: chrono::NaiveDate,
    chrono_time: chrono::NaiveTime,
    chrono_local: chrono::NaiveDateTime,
    chrono_moment: chrono::DateTime<chrono::Utc>,
    id: uuid::Uuid,
    page: url::Url,
    ip: IpAddr,
    ipv4: Ipv4Addr,
    ipv6: Ipv6Addr,
    socket: SocketAddr,
    nonzero: NonZeroU8,
    length: Duration,
    weekday: chrono::Weekday,
    by_id: BTreeMap<uuid::Uuid, u8>,
    day: Day,
    days: Vec<Day>,
    booking: Booking,
    float: f64,
    byte: u8,
}

async fn told(executor: &Executor, tool: &str, arguments: &Value) -> Vec<String> {
    told_of(executor, tool, arguments.to_string()).await
}

async fn told_of(executor: &Executor, tool: &str, arguments: String) -> Vec<String> {
    let answer = executor.call(&Call::new(tool, arguments)).await;
    let message = answer.error().map_or("ok", |error| error.message());
    message.lines().skip(1).map(str::to_owned).collect()
}

const DATE: &str = "a date such as 2026-11-20";
const TIME: &str = "a time of day such as 14:30:00";
const LOCAL: &str = "a date and time such as 2026-11-20T14:30:00";
const MOMENT: &str = "a date and time with its offset such as 2026-11-20T14:30:00Z";
const LENGTH: &str = "a length of time such as PT1H30M";
const UUID: &str = "a UUID such as 6a2f41a3-c54c-4ce8-92d2-0324e1c32e22";

#[tokio::test]
async fn a_bad_date_is_told_with_the_other_problems_of_the_call() {
    let arguments = json!({"day": "20.11.2026", "nights": "many", "beds": 3, "guests": 2});
    for executor in [executor([BOOK]), strict([BOOK])] {
        let mut told = told(&executor, "book", &arguments).await;
        told.sort();
        let guests = told.iter().find(|line| line.starts_with("/guests: unknown key, "));
        let guests = guests.map_or("", |line| line).to_owned();
        assert_eq!(
            told,
            [
                "/beds: found 3, beds come in pairs, 3 is odd",
                r#"/day: found "20.11.2026", expected a date such as 2026-11-20"#,
                &guests,
                r#"/nights: found "many", expected an integer from 0 to 255"#,
            ]
        );
    }
}

#[tokio::test]
async fn a_type_of_a_library_is_told_by_what_its_texts_look_like() {
    let readers = [executor([READ]), strict([READ])];
    for (key, expected) in [
        ("jiff_date", DATE),
        ("jiff_time", TIME),
        ("jiff_local", LOCAL),
        ("jiff_moment", MOMENT),
        ("jiff_length", LENGTH),
        ("jiff_span", LENGTH),
        ("chrono_date", DATE),
        ("chrono_time", TIME),
        ("chrono_local", LOCAL),
        ("chrono_moment", MOMENT),
        ("id", UUID),
        ("page", "a URL such as https://example.org/"),
        ("ip", "an IP address such as 192.0.2.1 or 2001:db8::1"),
        ("ipv4", "an IPv4 address such as 192.0.2.1"),
        ("ipv6", "an IPv6 address such as 2001:db8::1"),
    ] {
        for wrong in ["tomorrow", "", "2026-02-30", "2026-13-01T25:00:00Z", "12:60:00", "1:2:3:4:5"]
        {
            for executor in &readers {
                let told = told(executor, "read", &json!({key: wrong})).await;
                // An empty text means that the key is left out: it is mended, or a second line says so.
                if told.is_empty() && wrong.is_empty() {
                    continue;
                }
                assert_eq!(told[..1], [format!("/{key}: found {wrong:?}, expected {expected}")]);
            }
        }
        for executor in &readers {
            let told = told(executor, "read", &json!({key: [true]})).await;
            assert_eq!(told, [format!("/{key}: found [true], expected {expected}")]);
        }
    }
}

#[tokio::test]
async fn what_a_schema_takes_and_its_type_refuses_is_told_in_our_words_too() {
    let readers = [executor([READ]), strict([READ])];
    let number = "each part of it within its range";
    for (arguments, pointer, expected) in [
        (json!({"day": "20.11.2026"}), "/day", number),
        (json!({"days": ["2026-11-20", "soon"]}), "/days/1", number),
        (json!({"booking": "7"}), "/booking", UUID),
        (json!({"page": "http://[::1"}), "/page", "a URL such as https://example.org/"),
        (json!({"page": "http://:80"}), "/page", "a URL such as https://example.org/"),
        (json!({"by_id": {"7": 1}}), "/by_id/7", "expected a UUID such as"),
        (json!({"socket": "here"}), "/socket", "expected an IP address with a port such as"),
    ] {
        for executor in &readers {
            let told = told(executor, "read", &arguments).await;
            assert!(told.len() == 1, "{told:?}");
            assert!(told[0].starts_with(&format!("{pointer}: ")), "{told:?}");
            assert!(told[0].contains(expected), "{told:?}");
        }
    }
}

/// Whatever is sent, no message has a word of the libraries behind the types.
#[tokio::test]
async fn no_word_of_a_library_reaches_a_model() {
    let readers = [executor([READ]), strict([READ])];
    const THEIRS: [&str; 16] = [
        "jiff",
        "chrono",
        "serde",
        "parse",
        "parsing",
        "invalid",
        "premature",
        "trailing",
        "0-9",
        "RFC 3339",
        "formatted",
        "string representing",
        "without a base",
        "deserializ",
        "syntax",
        "is not of type",
    ];
    let wrong = [
        json!("x"),
        json!("20.11.2026"),
        json!("2026-11-20T"),
        json!("2026-11-20T14:30:00[Europe/Berlin]"),
        json!("http://"),
        json!("1.2.3"),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(true),
        json!([7]),
        json!({"7": 1}),
        json!({"secs": 1}),
        json!({"secs": 1, "nanos": 1_000_000_000}),
    ];
    let registry = toolwright::Registry::of([READ]).unwrap();
    let keys = registry
        .get("read")
        .unwrap()
        .parameters
        .iter()
        .map(|it| it.name.clone())
        .collect::<Vec<_>>();
    for key in keys {
        for value in &wrong {
            for executor in &readers {
                for line in told(executor, "read", &json!({&key: value})).await {
                    let said = line.replace(&value.to_string(), "").replace(&key, "");
                    assert!(!THEIRS.iter().any(|it| said.contains(it)), "{key}: {line}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_number_that_no_float_holds_is_out_of_range() {
    let readers = [executor([READ]), strict([READ])];
    for executor in &readers {
        assert_eq!(
            told_of(
                executor,
                "read",
                r#"{"float": -1e400, "byte": 1e400, "ip": "here"}"#.to_owned()
            )
            .await
            .len(),
            3
        );
        assert_eq!(
            told_of(executor, "read", r#"{"float": 1e400}"#.to_owned()).await,
            ["/float: found 1e400, expected a number from -1.7976931348623157e308 to \
                 1.7976931348623157e308; this one is out of range"]
        );
        assert_eq!(
            told_of(executor, "read", r#"{"byte": 1e400}"#.to_owned()).await,
            ["/byte: found 1e400, expected an integer from 0 to 255"]
        );
    }
}
