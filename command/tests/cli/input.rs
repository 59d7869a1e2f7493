//! `toolwright input`: what becomes of calls, for scripts and for people.

use super::{shown, toolwright};

/// The tool of every line.
const TOOL: &str = r##"{"name":"read_file","input_schema":{"type":"object","properties":{"path":{"type":"string","minLength":1},"limit":{"type":"integer"},"unit":{"enum":["lines","bytes"]}},"required":["path"],"additionalProperties":false}}"##;

/// Lines of calls with these arguments, which are JSON.
fn calls(arguments: &[&str]) -> String {
    let line = |it: &&str| format!("{{\"tool\":{TOOL},\"arguments\":{it}}}\n");
    arguments.iter().map(line).collect()
}

fn sent() -> String {
    calls(&[
        r#""{\"path\":\"a\",\n \"limit\":9007199254740993}""#,
        r#"{"path":"a", "limit":3}"#,
        r#""{'path': 'a', 'Limit': '9007199254740993'}""#,
        r#"{"path":"a","limt":"many","unit":"line"}"#,
        r#""{\"path\":\"a\",\"limt\":3}""#,
        r#""{\"path\":\"a\"""#,
        r#"{"path":"a","limit":1e400}"#,
        r#""""#,
        "null",
    ])
}

const BROKEN: &str = r#"{"tool":{"name":"a","input_schema":{}}
[1]
"text"
{"arguments":{}}
{"tool":{"name":"a","input_schema":{"type":"object"}}}
{"tool":{"name":"a"},"arguments":{}}
{"tool":{"name":"a","input_schema":{"type":"dict"}},"arguments":{}}
{"tool":{"name":"a","input_schema":{}},"arguments":"\ud800"}
{"tool":{"name":"a","input_schema":{}},"arguments":{},"arguments":{}}

{"id":7,"tool":{"name":"fine","inputSchema":{"type":"object"}},"arguments":{}}
"#;

#[test]
fn each_call_is_accepted_repaired_or_refused_on_a_line_of_its_own() {
    insta::assert_snapshot!(shown(&toolwright(&["input"], sent().as_bytes())));
}

#[test]
fn people_read_the_same_in_words() {
    insta::assert_snapshot!(shown(&toolwright(&["input", "--output", "text"], sent().as_bytes())));
}

#[test]
fn nothing_that_others_wrote_acts_on_the_terminal_or_is_not_seen() {
    let tool = r#"{"name":"read\u001b[2J","input_schema":{"type":"object","additionalProperties":{"type":"integer"}}}"#;
    let calls: String = [r#"{"a\u001b]0;x\u0007\u202e":"7"}"#, r#"{"\u001b":"x\u200by\u202e"}"#]
        .map(|arguments| format!("{{\"tool\":{tool},\"arguments\":{arguments}}}\n"))
        .concat();
    let ran = toolwright(&["input", "--output", "text"], calls.as_bytes());
    assert!(ran.out.contains("1 repaired, 1 refused"), "{}", ran.out);
    assert!(!ran.out.contains(['\u{1b}', '\u{7}', '\u{200b}', '\u{202e}']), "{:?}", ran.out);
    assert!(ran.out.contains(r"read\u{1b}[2J: repaired"), "{}", ran.out);
    assert!(ran.out.contains(r"/a\u{1b}]0;x\u{7}\u{202e}: "), "{}", ran.out);
}

#[test]
fn a_call_of_another_tool_is_no_input() {
    let sent = |name: &str| format!(r#"{{"name":"{name}","arguments":{{"path":"a"}}}}"#);
    assert_eq!(toolwright(&["input"], calls(&[&sent("read_file")]).as_bytes()).code, 0);
    let ran = toolwright(&["input"], calls(&[&sent("delete_file")]).as_bytes());
    assert!(ran.code == 1 && ran.out.contains(r#"a call of \"delete_file\""#), "{}", ran.out);
}

#[test]
fn the_level_says_how_far_input_is_mended() {
    let outcome = |arguments: &[&str], sent: &str| {
        let ran = toolwright(&[&["input"], arguments].concat(), calls(&[sent]).as_bytes());
        let line: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        (line["outcome"].as_str().unwrap().to_owned(), ran.code)
    };
    let told = |outcome: &str, code| (outcome.to_owned(), code);
    let (lossless, guessed, open) =
        (r#"{"path":7}"#, r#"{"path":"a","limt":3}"#, r#""{\"path\":\"a\"""#);
    assert_eq!(outcome(&["--level", "off"], lossless), told("refused", 1));
    assert_eq!(outcome(&[], lossless), told("repaired", 0));
    assert_eq!(outcome(&[], guessed), told("refused", 1));
    assert_eq!(outcome(&["--level", "lenient"], guessed), told("repaired", 0));
    assert_eq!(outcome(&[], open), told("refused", 1));
    assert_eq!(outcome(&["--safe"], open), told("repaired", 0));
}

#[test]
fn formats_are_checked_as_an_executor_checks_them() {
    let line = r#"{"tool":{"name":"book","input_schema":{"type":"object","properties":{"day":{"type":"string","format":"date"},"nights":{"type":"integer"},"by":{"type":"object","propertyNames":{"format":"uuid"}}},"additionalProperties":false}},"arguments":ARGUMENTS}"#;
    let told = |arguments: &str| {
        let ran = toolwright(&["input"], line.replace("ARGUMENTS", arguments).as_bytes());
        let line: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let message = line["message"].as_str().unwrap_or_default().to_owned();
        (line["outcome"].as_str().unwrap().to_owned(), message)
    };
    assert_eq!(told(r#"{"day":"2026-11-20"}"#).0, "accepted");
    let (outcome, message) = told(r#"{"day":"20.11.2026","nights":"many","by":{"x":1}}"#);
    assert_eq!(outcome, "refused");
    let mut lines: Vec<&str> = message.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "/by/x: found \"x\", expected a UUID such as 6a2f41a3-c54c-4ce8-92d2-0324e1c32e22 as the key",
            "/day: found \"20.11.2026\", expected a date such as 2026-11-20",
            "/nights: found \"many\", expected an integer",
        ]
    );
}

#[test]
fn a_line_that_is_no_call_is_told_and_stops_nothing() {
    insta::assert_snapshot!(shown(&toolwright(&["input"], BROKEN.as_bytes())));
}

#[test]
fn foreign_names_of_types_are_understood_in_calls_too() {
    let line = br#"{"tool":{"name":"a","input_schema":{"type":"dict","properties":{"x":{"type":"float"}}}},"arguments":{"x":"1.50"}}"#;
    let ran = toolwright(&["input", "--types", "foreign"], line);
    assert!(ran.out.contains(r#""outcome":"repaired","input":{"x":1.50}"#), "{}", ran.out);
    assert_eq!(ran.code, 0);
}

#[test]
fn hostile_arguments_are_refused_without_a_crash() {
    let mut input = format!("{{\"tool\":{TOOL},\"arguments\":").into_bytes();
    input.extend(std::iter::repeat_n(b'[', 100_000));
    input.extend(std::iter::repeat_n(b']', 100_000));
    input.extend(b"}\n");
    input.extend(calls(&[&format!("\"{}\"", "{'a':[".repeat(100_000)), r#"{"path":"a"}"#]).bytes());
    let ran = toolwright(&["input"], &input);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains("at most 127 levels"), "{}", lines[0]);
    assert!(lines[1].contains(r#""outcome":"refused""#) && lines[1].len() < 4_000, "{}", lines[1]);
    assert!(lines[2].contains(r#""outcome":"accepted""#), "{}", lines[2]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
}

#[test]
fn a_wrong_command_line_of_input_ends_with_two() {
    for arguments in [&["input", "--level", "some"][..], &["input", "--output", "xml"]] {
        assert_eq!(toolwright(arguments, b"").code, 2, "{arguments:?}");
    }
}

#[test]
fn json_has_no_character_that_acts_on_the_terminal() {
    let calls = calls(&[
        r#"{"path":"a\u009b2J\u202e"}"#,
        r#"{"path":"a\u009b2J\u202e","\u007f":1}"#,
        r#"{"path":"a","x\u007fy\u0085z":1}"#,
    ]);
    let out = toolwright(&["input"], calls.as_bytes()).out;
    assert!(!out.contains(['\u{9b}', '\u{202e}', '\u{7f}', '\u{85}']), "{out:?}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains(r"\u009b2J\u202e"), "{out}");
    // A key is told apart from one with spaces.
    assert!(lines[1].contains(r"/\\u007f"), "{out}");
    assert!(lines[2].contains(r"/x\\u007fy\\u0085z"), "{out}");
}
