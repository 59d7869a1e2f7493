//! Puts one server's entry into the text of another application's configuration file. The rest of the text stays
//! unchanged, except for white space in an object that was empty. Pure.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The keys that hold the servers: that of Claude Desktop, Claude Code, Cursor and Cline, and that of VS Code.
const KEYS: [&str; 2] = ["mcpServers", VS_CODE];
const VS_CODE: &str = "servers";

/// Returns the key under which the application that reads this file expects the servers. VS Code reads
/// `.vscode/mcp.json` in a project, and `mcp.json` in its folder `User`.
pub(crate) fn expected_key(file: &Path) -> &'static str {
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let is_of_user = folder == "User" && file.file_name().is_some_and(|name| name == "mcp.json");
    if folder == ".vscode" || is_of_user { VS_CODE } else { KEYS[0] }
}

/// The reason why a file is not changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The text is not JSON of the expected shape.
    Unreadable(String),
    /// A key occurs twice, so applications may read the file differently.
    Ambiguous(String),
    /// The file already has another entry with this name.
    Taken,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(formatter, "it cannot be read as JSON: {why}"),
            Self::Ambiguous(key) => write!(formatter, "it has `{key}` more than once"),
            Self::Taken => formatter
                .write_str("it has a server of this name that is another one; `--replace` puts this one in its place"),
        }
    }
}

/// Returns the text with the entry added or replaced, or `None` if the text already has the same entry. `entry` is
/// JSON. `key` holds the servers if the text has none of the keys that may hold them.
pub(crate) fn put(
    text: &str,
    key: &str,
    name: &str,
    entry: &str,
    replaces: bool,
) -> Result<Option<String>, Refusal> {
    if text.trim().is_empty() {
        let whole = format!("{{\n  \"{key}\": {{\n    {}\n  }}\n}}\n", pair(name, entry));
        return Ok(Some(whole));
    }
    let file = Object::read(text, 0..text.len())?;
    let Some(servers) = file.only(&KEYS)? else {
        let servers = format!("{{\n    {}\n  }}", pair(name, entry));
        return Ok(Some(file.with(text, &pair(key, &servers), "  ")));
    };
    let servers = Object::read(text, servers)?;
    let Some(earlier) = servers.only(&[name])? else {
        return Ok(Some(servers.with(text, &pair(name, entry), "    ")));
    };
    match (is_equal(&text[earlier.clone()], entry), replaces) {
        (true, _) => Ok(None),
        (false, false) => Err(Refusal::Taken),
        (false, true) => {
            Ok(Some(format!("{}{entry}{}", &text[..earlier.start], &text[earlier.end..])))
        }
    }
}

fn pair(key: &str, value: &str) -> String {
    format!("{}: {value}", serde_json::Value::from(key))
}

fn is_equal(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    read(one) == read(other)
}

/// A JSON object in the text: its byte range, its keys, and the byte ranges of their values.
struct Object {
    place: Range<usize>,
    entries: Vec<(String, Range<usize>)>,
}

impl Object {
    fn read(text: &str, place: Range<usize>) -> Result<Self, Refusal> {
        let unreadable = |error: serde_json::Error| Refusal::Unreadable(error.to_string());
        let part = &text[place];
        let pairs: Pairs<'_> = serde_json::from_str(part).map_err(unreadable)?;
        // The pieces are slices of `text`, so their addresses give their offsets.
        let begin = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
        let range = |piece: &str| begin(piece)..begin(piece) + piece.len();
        let entries = pairs.0.into_iter().map(|(key, value)| (key, range(value.get())));
        Ok(Self { place: range(part.trim()), entries: entries.collect() })
    }

    /// Finds the value of one of these keys, and refuses an object that has several of them.
    fn only(&self, keys: &[&str]) -> Result<Option<Range<usize>>, Refusal> {
        let mut found = self.entries.iter().filter(|(key, _)| keys.contains(&key.as_str()));
        let first = found.next();
        match found.next() {
            Some((key, _)) => Err(Refusal::Ambiguous(key.clone())),
            None => Ok(first.map(|(_, place)| place.clone())),
        }
    }

    /// Returns the text with a pair of key and value added at the end of the object.
    fn with(&self, text: &str, pair: &str, indent: &str) -> String {
        let (at, before) = match self.entries.last() {
            Some((_, last)) => (last.end, format!(",\n{indent}{pair}")),
            None => {
                let outer = &indent[..indent.len().saturating_sub(2)];
                (self.place.start + 1, format!("\n{indent}{pair}\n{outer}"))
            }
        };
        let rest = match self.entries.is_empty() {
            true => text[at..].trim_start(),
            false => &text[at..],
        };
        format!("{}{before}{rest}", &text[..at])
    }
}

/// The entries of a JSON object in order, each with the text of its value.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Pairs<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Read)
    }
}

/// A server as the configuration file describes it.
#[derive(Debug, Serialize)]
pub(crate) struct Server {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<String>,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub(crate) env: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"{"command":"x"}"#;

    #[test]
    fn everything_else_stays_byte_by_byte() {
        let text = "{ \"theme\":  \"dark\",\n\t\"mcpServers\": {\n\t\t\"a\" : {\"command\": \"y\", \"env\": {\"N\": 1e2}}\n\t}, \"z\": [1,\n2] }\n";
        let whole = put(text, KEYS[0], "b", ENTRY, false).unwrap().unwrap();
        assert_eq!(whole.replacen(",\n    \"b\": {\"command\":\"x\"}", "", 1), text);
        // The same once more is no change, and another one needs a word.
        assert_eq!(put(&whole, KEYS[0], "b", r#"{ "command": "x" }"#, false), Ok(None));
        assert_eq!(put(&whole, KEYS[0], "a", ENTRY, false), Err(Refusal::Taken));
        let replaced = put(&whole, KEYS[0], "a", ENTRY, true).unwrap().unwrap();
        assert!(replaced.contains(r#""a" : {"command":"x"},"#), "{replaced}");
    }

    #[test]
    fn an_entry_finds_its_place_in_every_such_file() {
        for text in [
            "",
            "{}",
            " { } ",
            "{\"mcpServers\": {}}",
            "{\"servers\":{ }}",
            "{\"other\": 1}",
            "{\"inputs\": [], \"servers\": {\"a\": {\"type\": \"stdio\"}}}",
        ] {
            let whole = put(text, KEYS[0], "new \"one\"", ENTRY, false).unwrap().unwrap();
            let file: serde_json::Value = serde_json::from_str(&whole).expect(&whole);
            let key = if text.contains("\"servers\"") { "servers" } else { "mcpServers" };
            assert_eq!(file[key]["new \"one\""]["command"], "x", "{text}: {whole}");
        }
    }

    #[test]
    fn a_new_file_has_the_key_that_its_application_reads() {
        for (file, key) in [
            (".vscode/mcp.json", "servers"),
            ("/home/ann/.config/Code/User/mcp.json", "servers"),
            (".mcp.json", "mcpServers"),
            ("User/claude_desktop_config.json", "mcpServers"),
        ] {
            for text in ["", "{}"] {
                let whole = put(text, expected_key(Path::new(file)), "a", ENTRY, false);
                let whole: serde_json::Value =
                    serde_json::from_str(&whole.unwrap().unwrap()).unwrap();
                assert_eq!(whole[key]["a"]["command"], "x", "{file}: {whole}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_or_can_be_read_in_two_ways_is_refused() {
        for text in ["[]", "{\"mcpServers\": []}", "{} // comment", "{\"mcpServers\": {},}"] {
            let refused = put(text, KEYS[0], "a", ENTRY, false);
            assert!(matches!(refused, Err(Refusal::Unreadable(_))), "{text}: {refused:?}");
        }
        for text in [
            r#"{"mcpServers": {}, "servers": {}}"#,
            r#"{"mcpServers": {}, "mcpServers": {}}"#,
            r#"{"mcpServers": {"a": {}, "a": {}}}"#,
        ] {
            let refused = put(text, KEYS[0], "a", ENTRY, true);
            assert!(matches!(refused, Err(Refusal::Ambiguous(_))), "{text}: {refused:?}");
        }
    }
}
