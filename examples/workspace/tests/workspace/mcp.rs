//! The application as a server of the Model Context Protocol, over its pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

#[test]
fn a_client_lists_the_tools_and_calls_them_under_the_policy() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("served");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.txt"), "one\ntwo\n").unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_workspace"))
        .args(["mcp", "serve"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |id: u32, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    assert_eq!(ask(1, "initialize", hello)["serverInfo"]["name"], "workspace");
    let listed = ask(2, "tools/list", json!({}));
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"read_file") && names.contains(&"run_command"), "{names:?}");
    let read = ask(3, "tools/call", json!({"name": "read_file", "arguments": {"path": "a.txt"}}));
    assert!(read["content"][0]["text"].as_str().unwrap().contains("two"), "{read}");
    let outside =
        ask(4, "tools/call", json!({"name": "read_file", "arguments": {"path": "../a.txt"}}));
    assert_eq!(outside["isError"], true, "{outside}");
    let run = json!({"name": "run_command", "arguments": {"program": "rm", "args": ["a.txt"]}});
    let refused = ask(5, "tools/call", run);
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(folder.join("a.txt").exists());
    drop(input);
    assert!(server.wait().unwrap().success());
}
