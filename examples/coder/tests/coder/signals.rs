//! An interrupt ends a run wherever it is: what is open is answered, and the exit code says so.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::provider::{against, call, serve};
use crate::{Ran, folder};

/// Starts the command, and interrupts it when a line with these words is on its standard error.
fn interrupted(mut command: Command, signal: &str, at: &str) -> Ran {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut err = String::new();
    while !err.contains(at) {
        assert!(stderr.read_line(&mut err).unwrap() > 0, "no {at} in\n{err}");
    }
    send(&child, signal);
    stderr.read_to_string(&mut err).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    Ran { code: output.status.code().unwrap(), out, err }
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn an_interrupt_in_the_middle_of_a_turn_answers_the_open_calls() {
    let folder = folder();
    fs::create_dir(folder.path().join("src")).unwrap();
    let manifest = "[package]\nname = \"sleepy\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    let pid = folder.path().join("pid");
    let test = format!(
        "#[test]\nfn it_sleeps() {{\n    std::fs::write({pid:?}, std::process::id().to_string()).unwrap();\n    \
         std::thread::sleep(std::time::Duration::from_secs(600));\n}}\n"
    );
    fs::write(folder.path().join("src/lib.rs"), test).unwrap();
    let input = json!({"program": "cargo", "args": ["test", "--offline", "--lib"]});
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let replay = runtime.block_on(serve(vec![call("run_command", input)]));
    let mut command = against(&replay.url(), folder.path(), &[]);
    let ran = {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The interrupt comes when the program of the call runs.
        while !pid.exists() {
            thread::sleep(Duration::from_millis(20));
        }
        send(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    };
    assert_eq!((ran.code, &ran.end()["ended"]), (130, &json!("cancelled")), "{}", ran.err);
    assert!(ran.err.contains("[1] answer  run_command failed\n"), "{}", ran.err);
    let pid = fs::read_to_string(pid).unwrap();
    // One that has ended may wait for its new parent to hear of it.
    let is_there = || {
        let state = Command::new("ps").args(["-o", "stat=", "-p", &pid]).output().unwrap().stdout;
        !state.is_empty() && state[0] != b'Z'
    };
    let begun = Instant::now();
    while is_there() {
        assert!(begun.elapsed() < Duration::from_secs(5), "the program was left behind");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(replay.finish(), Ok(()));
}

#[test]
fn an_interrupt_while_the_model_is_asked_ends_the_run() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let folder = folder();
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let command = against(&url, folder.path(), &[]);
        let ran = interrupted(command, signal, "[0] user");
        assert_eq!((ran.code, &ran.end()["ended"]), (code, &json!("cancelled")), "{}", ran.err);
    }
}
