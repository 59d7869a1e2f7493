//! A person decides.

use serde_json::{Value, json};

use crate::provider::Provider;
use crate::{printed, program};

const APPROVE: &str = env!("CARGO_BIN_EXE_approve");

fn called(name: &str, arguments: &Value) -> String {
    let call = json!({
        "type": "function_call", "id": "fc_1", "call_id": format!("call_{name}"), "name": name,
        "arguments": arguments.to_string(), "status": "completed",
    });
    json!({
        "id": "resp_1", "object": "response", "model": "gpt-5.2", "status": "completed", "output": [call],
        "usage": { "input_tokens": 10, "output_tokens": 5, "total_tokens": 15 },
    })
    .to_string()
}

fn provider(summary: &str) -> Provider {
    Provider::of([
        called("order", &json!({ "article": "tea", "count": 3 })),
        called("finish", &json!({ "summary": summary })),
    ])
}

/// The output that the model read of its first call.
fn first_answer(provider: Provider) -> String {
    let requests = provider.requests();
    let items = requests[1]["input"].as_array().unwrap();
    let output = items.iter().find(|it| it["type"] == "function_call_output").unwrap();
    output["output"].to_string()
}

#[test]
fn without_a_terminal_nothing_is_ordered() {
    let provider = provider("I could not order tea.");
    let mut approve = program(APPROVE);
    approve.env("OPENAI_API_KEY", "secret").env("OPENAI_BASE_URL", format!("{}/v1", provider.url));
    let output = approve.output().unwrap();
    assert_eq!(printed(&output), "I could not order tea.\n");
    let answer = first_answer(provider);
    assert!(answer.contains("approval_required") && !answer.contains("ordered 3"), "{answer}");
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Stdio;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::Duration;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::{APPROVE, first_answer, provider};
    use crate::program;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// What was shown until this text was there.
    fn until(text: &str, shown: &Receiver<String>) -> String {
        let mut all = String::new();
        while !all.contains(text) {
            let more = shown.recv_timeout(PATIENCE);
            all += &more.unwrap_or_else(|_| panic!("`{text}` is not shown after {all}"));
        }
        all
    }

    #[test]
    fn it_asks_and_a_yes_runs_the_call() {
        let provider = provider("I ordered tea.");
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let name = OsStr::from_bytes(name.as_bytes());
        let terminal =
            File::from(open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = program("setsid");
        command.args(["--ctty", "--wait", APPROVE]).stdin(end()).stdout(end()).stderr(end());
        command.env("OPENAI_API_KEY", "secret");
        command.env("OPENAI_BASE_URL", format!("{}/v1", provider.url));
        let mut child = command.spawn().unwrap();
        drop((command, terminal));
        let mut person = File::from(person);
        let mut reader = person.try_clone().unwrap();
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // It ends with an error when the program has closed the terminal.
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                let _ = sender.send(String::from_utf8_lossy(&buffer[..length]).into_owned());
            }
        });
        let question = until("\n> ", &shown);
        assert!(question.contains("it spends money"), "{question}");
        person.write_all(b"y\n").unwrap();
        let end = until("tokens in", &shown);
        assert!(
            end.contains("I ordered tea.") && end.contains("2 turns, 20 tokens in, 10 out"),
            "{end}"
        );
        assert!(child.wait().unwrap().success());
        assert!(first_answer(provider).contains("ordered 3 of tea"));
    }
}
