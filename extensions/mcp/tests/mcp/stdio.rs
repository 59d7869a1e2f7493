//! The command `mcp serve` of a real application, over its pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// A program of this crate's examples. They are built with the tests, but for a run of this test alone.
pub fn example(name: &str) -> PathBuf {
    static BUILD: Mutex<()> = Mutex::new(());
    let test = std::env::current_exe().unwrap();
    let target = test.parent().unwrap().parent().unwrap();
    let program = target.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let _building = BUILD.lock().unwrap_or_else(PoisonError::into_inner);
    if !program.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "-p",
            "toolwright-mcp",
            "--features",
            "cli,http-server",
            "--example",
            name,
        ]);
        assert!(cargo.status().unwrap().success(), "{name}");
    }
    program
}

/// S0.20 needs no such server; this is the other way round: the tools of an application for any client.
#[test]
fn standard_output_carries_the_protocol_alone_and_the_server_ends_with_its_input() {
    let mut server = Command::new(example("notes"))
        .args(["mcp", "serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut exchange = |message: Value, answers: bool| {
        writeln!(input, "{message}").unwrap();
        answers.then(|| {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            serde_json::from_str::<Value>(&line).unwrap()
        })
    };
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    }});
    let begun = exchange(hello, true).unwrap();
    assert_eq!(begun["result"]["serverInfo"], json!({"name": "notes", "version": "1.0.0"}));
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    exchange(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), false);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "add_note", "arguments": {"text": "milk"}
    }});
    let added = exchange(call, true).unwrap();
    assert_eq!(added["id"], 2);
    assert_eq!(added["result"]["structuredContent"], json!({"notes": 1}));
    // A call is judged as a model's: nobody typed it.
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "delete_notes", "arguments": {}
    }});
    let refused = exchange(call, true).unwrap();
    assert_eq!(refused["result"]["isError"], true);
    assert!(refused.to_string().contains("approval_required"), "{refused}");

    drop(input);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut output, &mut rest).unwrap();
    assert_eq!(rest, "");
    let ended = server.wait_with_output().unwrap();
    assert!(ended.status.success());
    let printed = String::from_utf8(ended.stderr).unwrap();
    assert!(printed.contains("a note of 4 bytes was added"), "{printed}");
}

#[test]
fn the_other_commands_stay_and_a_wrong_word_is_told() {
    let run = |words: &[&str]| Command::new(example("notes")).args(words).output().unwrap();
    let added = run(&["add-note", "milk", "--output", "json"]);
    assert!(String::from_utf8_lossy(&added.stdout).contains(r#"{"notes":1}"#), "{added:?}");
    let help = run(&["mcp", "--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("serve"), "{help:?}");
    let wrong = run(&["mcp", "surf"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("surf"), "{wrong:?}");
}

#[test]
fn a_profile_of_the_command_line_leaves_the_other_tools_out_of_reach() {
    let mut server = Command::new(example("notes"))
        .args(["mcp", "serve", "--profile", "reader"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    ask("initialize", hello);
    let listed = ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["read_note"]);
    let refused = ask("tools/call", json!({"name": "add_note", "arguments": {"text": "milk"}}));
    assert_eq!(refused["error"]["message"], "no tool is called `add_note`", "{refused}");
    drop(input);
    assert!(server.wait().unwrap().success());
}

/// Each is refused before a client is served, with the name of what is wrong.
#[test]
fn a_server_that_may_not_be_is_not_started() {
    for (words, named) in [
        (["--profile", "riter"], "no profile is called `riter`"),
        (["--http", "0.0.0.0:0"], ".check_tokens(…)"),
    ] {
        let mut command = Command::new(example("notes"));
        let command = command.args(["mcp", "serve"]).args(words).stdin(Stdio::null());
        let ended = command.output().unwrap();
        let printed = String::from_utf8(ended.stderr).unwrap();
        assert!(printed.contains(named), "{printed}");
        assert_eq!(ended.status.code(), Some(70));
    }
}

/// A line that is no message is answered by the half of the transport that reads.
#[test]
fn a_line_that_is_no_message_is_answered_and_the_next_one_is_served() {
    let mut server = Command::new(example("notes"))
        .args(["mcp", "serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |message: Value| {
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    }}));
    let wrong = ask(json!({"jsonrpc": "2.0"}));
    assert_eq!(wrong["error"]["code"], -32600, "{wrong}");
    let listed = ask(json!({"jsonrpc": "2.0", "id": "second", "method": "tools/list"}));
    assert_eq!(listed["id"], "second");
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 3, "{listed}");
    drop(input);
    assert!(server.wait().unwrap().success());
}

/// The library cannot parse such a request; the client reads what is wrong with it, and not that the method is unknown.
#[test]
fn params_that_do_not_fit_their_method_are_invalid_params_over_pipes_too() {
    let mut server = Command::new(example("notes"))
        .args(["mcp", "serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    ask("initialize", hello);
    for (method, params, found) in [
        ("tools/call", json!({"name": 7}), "found `name`"),
        ("tools/call", json!({"arguments": {}}), "found `arguments`"),
        ("tools/call", json!({"name": "read_note", "arguments": [1]}), "found `arguments`, `name`"),
        ("resources/read", json!({}), "found "),
    ] {
        let refused = ask(method, params.clone());
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(method), &json!(-32602)));
        let words = refused["error"]["message"].as_str().unwrap();
        let head = format!("the params of `{method}` are not those that the protocol describes (");
        assert!(words.starts_with(&head) && words.contains(found), "{params}: {words}");
    }
    let unknown = ask("tools/cull", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    drop(input);
    assert!(server.wait().unwrap().success());
}
