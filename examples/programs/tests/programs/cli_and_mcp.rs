//! One function as a command and as a tool of an MCP server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::{printed, program};

const SHOP: &str = env!("CARGO_BIN_EXE_cli_and_mcp");

#[test]
fn the_function_is_a_command() {
    assert_eq!(printed(&program(SHOP).args(["price-of", "tea"]).output().unwrap()), "450\n");
    let help = printed(&program(SHOP).arg("--help").output().unwrap());
    assert!(help.contains("price-of") && help.contains("Look up what an article costs"), "{help}");
}

#[test]
fn the_function_is_a_tool_of_an_mcp_server() {
    let mut command = program(SHOP);
    command.args(["mcp", "serve"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let client = json!({ "name": "test", "version": "1" });
    let begin =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let call = json!({ "name": "price_of", "arguments": { "article": "tea" } });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let mut answer = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(answer()["result"]["serverInfo"]["name"], "cli_and_mcp");
    assert_eq!(answer()["result"]["content"][0]["text"], "450");
    drop(input);
    assert!(server.wait().unwrap().success());
}
