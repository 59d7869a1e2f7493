//! `json_lines COUNT`: fails unless standard input is so many lines, each of them a JSON object or list.

use std::process::ExitCode;

use serde_json::Value;

fn main() -> ExitCode {
    let expected = std::env::args().nth(1).and_then(|count| count.parse().ok());
    let text = std::io::read_to_string(std::io::stdin()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        match serde_json::from_str(line) {
            Ok(Value::Object(_) | Value::Array(_)) => {}
            _ => {
                eprintln!("line {} is no JSON object or list: {line}", index + 1);
                return ExitCode::FAILURE;
            }
        }
    }
    if expected != Some(lines.len()) {
        eprintln!("found {} lines, expected {expected:?}", lines.len());
        return ExitCode::FAILURE;
    }
    println!("{} lines, each of them JSON", lines.len());
    ExitCode::SUCCESS
}
