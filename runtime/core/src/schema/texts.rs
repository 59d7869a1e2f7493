//! Patterns for texts of a known format. A schema needs one if there is no standard format for the text, or if the Rust
//! type parses less than the standard format allows.

use serde_json::{Map, Value, json};

/// Matches a valid day in a calendar with leap years, for a date and time without a time zone. That form has no
/// standard format.
const DATE: &str = "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)\
    |02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)";
const TIME: &str = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?";
/// Matches a point in time. Excludes leap seconds, which jiff does not have, more decimals than jiff accepts, and the
/// year 9999, whose end is beyond jiff's range.
const MOMENT: &str = r"^([0-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])-[^.]{5}[Tt][0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]{1,9})?([Zz]|[+-][0-9:]{5})$";

/// Returns the name of the format that `pattern` describes, if it is one of the patterns in this file.
pub fn format_of(pattern: &str) -> Option<&'static str> {
    let is = |format: &str| {
        let mut written = Map::from_iter([("type".into(), "string".into())]);
        written.insert("format".into(), format.into());
        tighten(&mut written);
        written.get("pattern").is_some_and(|it| it == pattern)
    };
    ["partial-time", "partial-date-time", "date-time", "duration"].into_iter().find(|it| is(it))
}

/// Replaces formats that only schemars uses: `ip` by a choice of two standard formats, the others by patterns. Adds a
/// pattern to a format whose parser accepts less than the format allows.
pub fn tighten(object: &mut Map<String, Value>) {
    if object.get("type").is_none_or(|it| *it != "string" && *it != json!(["string", "null"])) {
        return;
    }
    let (pattern, keeps_format) = match object.get("format").and_then(Value::as_str) {
        Some("ip") => {
            object.remove("format");
            object.insert("anyOf".into(), json!([{"format": "ipv4"}, {"format": "ipv6"}]));
            return;
        }
        Some("partial-time") => (format!("^{TIME}$"), false),
        Some("partial-date-time") => (format!("^{DATE}T{TIME}$"), false),
        Some("date-time") => (MOMENT.to_owned(), true),
        // Both of jiff's types for durations accept this form. Days and months are excluded, because only one of the
        // types accepts them.
        Some("duration") => (
            r"^PT([0-9]{1,6}H([0-9]{1,6}M)?([0-9]{1,6}S)?|[0-9]{1,6}M([0-9]{1,6}S)?|[0-9]{1,6}S)$"
                .to_owned(),
            true,
        ),
        _ => return,
    };
    if !keeps_format {
        object.remove("format");
    }
    object.entry("pattern").or_insert_with(|| pattern.into());
}
