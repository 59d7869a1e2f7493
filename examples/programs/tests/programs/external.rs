//! A call that a visitor carries out: supplied at the terminal, after the program was killed while it waited.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use toolwright::approval::ApproverKey;

use crate::durable::answers_in;
use crate::program;
use crate::provider::{Answering, message};

const EXTERNAL: &str = env!("CARGO_BIN_EXE_external");

fn answer(request: &Value) -> String {
    match answers_in(request) {
        0 => {
            let input = json!({ "prompt": "the door" });
            let call =
                json!({ "type": "tool_use", "id": "t1", "name": "pick_colour", "input": input });
            message("tool_use", &json!([call]))
        }
        _ => {
            let picked = request["messages"][2]["content"].to_string();
            message("end_turn", &json!([{ "type": "text", "text": picked }]))
        }
    }
}

fn started(folder: &Path, provider: &Answering) -> Child {
    let mut command: Command = program(EXTERNAL);
    command.current_dir(folder).env("XDG_CONFIG_HOME", folder.join("config"));
    command.env("ANTHROPIC_API_KEY", "secret").env("ANTHROPIC_BASE_URL", &provider.url);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The next line that the visitor reads.
fn shown(child: &mut Child) -> (String, BufReader<std::process::ChildStderr>) {
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    (line, lines)
}

#[test]
fn killed_while_the_visitor_thinks_and_started_again_it_takes_their_colour_once() {
    let folder = tempfile::tempdir().unwrap();
    let key = ApproverKey::generate("shop").unwrap();
    key.save(folder.path().join("tokens.key")).unwrap();
    let provider = Answering::by(|request, _| answer(request));

    let mut first = started(folder.path(), &provider);
    let (line, _rest) = shown(&mut first);
    assert_eq!(line, "pick_colour: {\"prompt\":\"the door\"}\n");
    first.kill().unwrap();
    first.wait().unwrap();

    let mut again = started(folder.path(), &provider);
    let (line, mut rest) = shown(&mut again);
    assert_eq!(line, "pick_colour: {\"prompt\":\"the door\"}\n", "it waits for the same call");
    let mut visitor = again.stdin.take().unwrap();
    writeln!(visitor, "Pink").unwrap();
    let mut refused = String::new();
    rest.read_line(&mut refused).unwrap();
    assert!(refused.contains("is not what `pick_colour` promises"), "{refused}");
    writeln!(visitor, "Blue").unwrap();
    let output = again.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains("Blue"), "{printed}");
    assert_eq!(provider.asked().len(), 2, "nothing was asked twice");
}
