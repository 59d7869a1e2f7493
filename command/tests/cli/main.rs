//! The command as a person and a script see it: results on standard output and nothing else, words
//! for people on standard error, exit codes for scripts.
#![cfg(test)]

mod approvals;
mod calls;
mod damaged;
mod dead_letters;
mod drift;
mod exit;
mod grants;
#[cfg(unix)]
mod guide;
mod indeterminate;
mod input;
mod journal;
mod keys;
mod mcp;
mod openapi;
mod plan;
mod races;
mod runs;
mod watch;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

/// What a command left behind.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn toolwright(arguments: &[&str], input: &[u8]) -> Ran {
    ran(Command::new(env!("CARGO_BIN_EXE_toolwright")).args(arguments), input)
}

fn ran(command: &mut Command, input: &[u8]) -> Ran {
    // How wide help is must not depend on who runs the tests.
    let mut child = command
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A command that does not read its input may have ended already.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn shown(ran: &Ran) -> String {
    format!("exit {}\n--- out\n{}--- err\n{}", ran.code, ran.out, ran.err)
}

const TOOLS: &str = r##"{"name":"find","description":"Finds it.","input_schema":{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}}

{"name":"mcp","description":"As MCP has it.","inputSchema":{"type":"object"}}
{"type":"function","function":{"name":"chat","description":"As OpenAI has it.","parameters":{"type":"object","properties":{"n":{"type":"integer","x-ui":"slider"}}}}}
{"name":"snake","description":"Of Python.","parameters":{"type":"dict","properties":{"f":{"type":"float"}}}}
{"name":"lost","input_schema":{"type":"object","properties":{"a":{"$ref":"#/$defs/b"},"c":{"type":"string","enum":[1]}}}}
"##;

const BROKEN: &str = r#"{"name":"a","input_schema":{}
[1]
{"input_schema":{}}
{"name":7,"input_schema":{}}
{"name":"none"}
{"name":"two","input_schema":{},"parameters":{}}
{"name":"fine","input_schema":{}}
"#;

#[test]
fn each_tool_is_shown_or_refused_on_a_line_of_its_own() {
    insta::assert_snapshot!(shown(&toolwright(&["schema", "--dialect", "mcp"], TOOLS.as_bytes())));
}

#[test]
fn a_note_does_not_act_on_the_terminal() {
    let line = br#"{"name":"find","input_schema":{"type":"object","properties":{"a\u001b[2J\u202e":{"type":"string","minLength":1}},"additionalProperties":false}}"#;
    let ran = toolwright(&["schema", "-d", "openai-chat-strict"], line);
    assert!(ran.err.contains(r"properties/a\u{1b}[2J\u{202e}"), "{}", ran.err);
    assert!(!ran.err.contains(['\u{1b}', '\u{202e}']), "{:?}", ran.err);
}

#[test]
fn foreign_names_of_types_are_understood_when_asked_for() {
    let arguments = ["schema", "--dialect", "mcp", "--types", "foreign", "--output", "report", "-"];
    insta::assert_snapshot!(shown(&toolwright(&arguments, TOOLS.as_bytes())));
}

#[test]
fn a_line_that_is_no_tool_is_told_and_stops_nothing() {
    insta::assert_snapshot!(shown(&toolwright(&["schema", "-d", "mcp"], BROKEN.as_bytes())));
}

#[test]
fn each_dialect_has_its_line_once() {
    let line = br#"{"name":"find","input_schema":{}}"#;
    let arguments = ["schema", "-d", "mcp,anthropic", "-d", "mcp", "--output", "report"];
    let ran = toolwright(&arguments, line);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].contains(r#""dialect":"mcp""#) && lines[1].contains(r#""dialect":"anthropic""#)
    );
    let all = toolwright(&["schema", "-d", "all", "--output", "report"], line);
    assert_eq!(all.out.lines().count(), toolwright::dialect::Dialect::ALL.len());
}

#[test]
fn nothing_but_good_tools_ends_with_zero() {
    let ran = toolwright(
        &["schema", "-d", "mcp"],
        br#"{"name":"find","input_schema":{"type":"object"}}"#,
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(toolwright(&["schema", "-d", "mcp"], b"").code, 0);
    assert_eq!(toolwright(&["--help"], b"").code, 0);
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    for arguments in [
        &["schema"][..],
        &["schema", "-d", "openai"],
        &["schema", "-d", "mcp", "--types", "python"],
        &["tools"],
        &[],
    ] {
        let ran = toolwright(arguments, b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let ran = toolwright(&["schema", "-d", "mcp", "no/such/file"], b"");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error: no/such/file cannot be read: "), "{}", ran.err);
}

#[test]
fn a_line_without_end_is_refused_and_not_kept() {
    let mut input = vec![b' '; 17 * 1024 * 1024];
    input.extend_from_slice(b"\n{\"name\":\"after\",\"input_schema\":{}}\n");
    let ran = toolwright(&["schema", "-d", "mcp"], &input);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].contains("longer than 16777216 bytes"), "{}", lines[0]);
    assert!(lines[1].contains(r#""name":"after""#));
    assert_eq!(ran.code, 1);
}

#[test]
fn nested_json_is_refused_without_a_crash() {
    let mut input = br#"{"name":"deep","input_schema":"#.to_vec();
    input.extend(std::iter::repeat_n(*b"[", 100_000).flatten());
    let ran = toolwright(&["schema", "-d", "mcp"], &input);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("nested too deep"), "{}", ran.out);
}

#[test]
fn who_reads_only_the_first_line_ends_the_command_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .args(["schema", "-d", "mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut first = String::new();
    // The answer to a line comes before the next line is written.
    writeln!(stdin, r#"{{"name":"first","input_schema":{{"type":"object"}}}}"#).unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains(r#""name":"first""#));
    for _ in 0..10_000 {
        if writeln!(stdin, r#"{{"name":"more","input_schema":{{"type":"object"}}}}"#).is_err() {
            break;
        }
    }
    drop(stdin);
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!((child.wait().unwrap().code(), words.as_str()), (Some(0), ""));
}
