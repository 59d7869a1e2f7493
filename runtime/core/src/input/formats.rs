//! Describes texts of a known format in our own words, whatever library parses them.
//!
//! - A parser's message is meant for the programmer who calls it. For a known format, our message shows an example of
//!   such a text instead.
//! - Only this file contains messages and names of libraries. Messages of the application's own types are passed
//!   through.

/// Describes a format of JSON Schema, such as `date`; `None` for an unknown format.
#[doc(hidden)]
pub fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "a date such as 2026-11-20",
        "time" => "a time of day with its offset such as 14:30:00Z",
        "partial-time" => "a time of day such as 14:30:00",
        "date-time" => "a date and time with its offset such as 2026-11-20T14:30:00Z",
        "partial-date-time" => "a date and time such as 2026-11-20T14:30:00",
        "duration" => "a length of time such as PT1H30M",
        "email" | "idn-email" => "an email address such as ada@example.org",
        "hostname" | "idn-hostname" => "a host name such as example.org",
        "ip" => "an IP address such as 192.0.2.1 or 2001:db8::1",
        "ipv4" => "an IPv4 address such as 192.0.2.1",
        "ipv6" => "an IPv6 address such as 2001:db8::1",
        "uri" | "iri" => "a URL such as https://example.org/",
        "uri-reference" | "iri-reference" => {
            "a URL or a part of one such as https://example.org/ or /notes/7"
        }
        "uri-template" => "a URL template such as https://example.org/{id}",
        "uuid" => "a UUID such as 6a2f41a3-c54c-4ce8-92d2-0324e1c32e22",
        "json-pointer" => "a JSON pointer such as /notes/7",
        "relative-json-pointer" => "a relative JSON pointer such as 1/notes",
        "regex" => "a regular expression such as ^[a-z]+$",
        _ => return None,
    })
}

/// Translates the description that a library's type gives of the text that it expects.
pub(super) fn of_reader(expected: &str) -> Option<&'static str> {
    let format = match expected {
        "a date string" | "a formatted date string" => "date",
        "a time string" | "a formatted time string" => "partial-time",
        "a datetime string" | "a formatted date and time string" => "partial-date-time",
        "a timestamp string" | "an RFC 3339 formatted date and time string" => "date-time",
        "a span duration string" | "a signed duration string" | "an unsigned duration string" => {
            "duration"
        }
        _ if expected.starts_with("a UUID string") => "uuid",
        "a formatted UUID string" => "uuid",
        "a string representing an URL" => "uri",
        "IP address" => "ip",
        "IPv4 address" => "ipv4",
        "IPv6 address" => "ipv6",
        "an ISO 8601 week date string" => return Some("a week and day such as 2026-W47-5"),
        "a zoned datetime string" => {
            return Some(
                "a date and time with its zone such as 2026-11-20T14:30:00+01:00[Europe/Berlin]",
            );
        }
        "socket address" | "IPv4 socket address" | "IPv6 socket address" => return Some(SOCKET),
        "Weekday" => return Some(WEEKDAY),
        "Month" => return Some(MONTH),
        "os string" => return Some("a string"),
        _ => return None,
    };
    of_format(format)
}

/// Translates an error of the type `E` with this message, if both belong to a known library.
///
/// No trait says from which library an error comes: serde only requires `Display`. So the path of the error's type
/// shows the crate. An error that is already a text is recognised by its beginning.
pub(super) fn of_error<E>(said: &str) -> Option<&'static str> {
    let name = std::any::type_name::<E>().trim_start_matches(['&', ' ']);
    // The beginning of the message is checked first, because the standard library has one error type for all kinds of
    // addresses.
    let of_text = TEXTS.iter().find(|(beginning, _)| said.starts_with(beginning));
    let of_type = || ERRORS.iter().find(|(prefix, _)| name.starts_with(prefix));
    let (_, expected) = of_text.or_else(of_type)?;
    Some(of_format(expected).unwrap_or(expected))
}

const SOCKET: &str = "an IP address with a port such as 192.0.2.1:8080 or [2001:db8::1]:8080";
const WEEKDAY: &str = "the name of a day of the week such as Monday";
const MONTH: &str = "the name of a month such as November";
const MOMENT: &str = "a date, time or length of time such as 2026-11-20, 2026-11-20T14:30:00Z or PT1H30M, each part of it within its range";
const NUMBER: &str = "a number in digits that is within its range";
const LENGTH: &str = "a length of time that is within its range";

/// The beginnings of the paths of error types, each with a format or a description.
const ERRORS: [(&str, &str); 18] = [
    ("jiff::", MOMENT),
    ("chrono::", MOMENT),
    ("time::", MOMENT),
    ("humantime::", "a length of time such as 90s or 1h 30m"),
    ("uuid::", "uuid"),
    ("url::", "uri"),
    ("http::uri::", "uri"),
    ("core::net::", "ip"),
    ("ipnet::", "a network such as 192.0.2.0/24"),
    ("core::num::", NUMBER),
    ("core::str::traits::ParseBoolError", "true or false"),
    ("core::str::error::ParseBoolError", "true or false"),
    ("core::char::", "a single character"),
    ("core::str::", "text in UTF-8"),
    ("alloc::ffi::", "text without a NUL character"),
    ("serde_json::", "text that is JSON"),
    ("semver::", "a version such as 1.2.3"),
    ("rust_decimal::", "a decimal number such as 12.50"),
];

/// The beginnings of messages, each with a format or a description.
const TEXTS: [(&str, &str); 20] = [
    ("UUID parsing failed", "uuid"),
    ("empty host: \"", "uri"),
    ("invalid international domain name: \"", "uri"),
    ("invalid port number: \"", "uri"),
    ("invalid IPv4 address: \"", "uri"),
    ("invalid IPv6 address: \"", "uri"),
    ("invalid domain character: \"", "uri"),
    ("relative URL with", "uri"),
    ("a cannot-be-a-base", "uri"),
    ("URLs more than 4 GB", "uri"),
    ("invalid IP address syntax", "ip"),
    ("invalid IPv4 address syntax", "ipv4"),
    ("invalid IPv6 address syntax", "ipv6"),
    ("invalid socket address syntax", SOCKET),
    ("invalid IPv4 socket address syntax", SOCKET),
    ("invalid IPv6 socket address syntax", SOCKET),
    ("invalid digit found in string", NUMBER),
    ("overflow deserializing ", LENGTH),
    ("short or long weekday names", WEEKDAY),
    ("short (3-letter) or full month names", MONTH),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_library_is_known_by_its_type_and_one_of_the_application_is_not() {
        fn expected<E: std::fmt::Display>(error: E) -> Option<&'static str> {
            of_error::<E>(&error.to_string())
        }
        let of = |format| of_format(format);
        assert_eq!(expected("x".parse::<jiff::Timestamp>().unwrap_err()), Some(MOMENT));
        assert_eq!(expected("x".parse::<jiff::civil::Date>().unwrap_err()), Some(MOMENT));
        assert_eq!(expected("x".parse::<uuid::Uuid>().unwrap_err()), of("uuid"));
        assert_eq!(expected("x".parse::<std::net::IpAddr>().unwrap_err()), of("ip"));
        assert_eq!(expected("x".parse::<std::net::Ipv6Addr>().unwrap_err()), of("ipv6"));
        assert_eq!(expected("x".parse::<std::net::SocketAddr>().unwrap_err()), Some(SOCKET));
        assert_eq!(expected("x".parse::<u8>().unwrap_err()), Some(NUMBER));
        assert_eq!(expected(u8::try_from(300_u16).unwrap_err()), Some(NUMBER));
        assert_eq!(expected("x".parse::<f64>().unwrap_err()), Some(NUMBER));
        assert_eq!(expected("x".parse::<bool>().unwrap_err()), Some("true or false"));
        assert_eq!(expected("ab".parse::<char>().unwrap_err()), Some("a single character"));
        let broken = serde_json::from_str::<u8>("x").unwrap_err();
        assert_eq!(expected(broken), Some("text that is JSON"));
        assert_eq!(expected("relative URL without a base: \"x\""), of("uri"));
        assert_eq!(expected("UUID parsing failed: invalid length".to_owned()), of("uuid"));
        assert_eq!(expected("a fork has four tines"), None);
    }
}
