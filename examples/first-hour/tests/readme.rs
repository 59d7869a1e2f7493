//! *Start here* of README.md is what stands in the files of this crate, and its programs print what it says.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A block in a fence, with the comment above it that says what it is.
struct Block {
    marker: Option<String>,
    text: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The blocks of *Start here*.
fn blocks() -> Vec<Block> {
    let readme = fs::read_to_string(folder().join("../../README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Start here\n").expect("README.md has this heading");
    let section = section.split("\n## ").next().unwrap();
    let (mut blocks, mut marker, mut inside) = (Vec::new(), None, None::<String>);
    for line in section.lines() {
        match (&mut inside, line.starts_with("```")) {
            (Some(_), true) => {
                let text = inside.take().unwrap();
                blocks.push(Block { marker: marker.take(), text });
            }
            (Some(text), false) => *text += &format!("{line}\n"),
            (None, true) => inside = Some(String::new()),
            (None, false) => {
                let comment = line.strip_prefix("<!-- first-hour: ");
                marker = comment.and_then(|it| it.strip_suffix(" -->")).map(ToOwned::to_owned);
            }
        }
    }
    blocks
}

fn with_marker(wanted: &str) -> String {
    let mut found = blocks().into_iter().filter(|it| it.marker.as_deref() == Some(wanted));
    let block = found.next().unwrap_or_else(|| panic!("README.md has no block `{wanted}`"));
    assert!(found.next().is_none(), "README.md has two blocks `{wanted}`");
    block.text
}

/// The program of this package, as cargo built it for this test.
fn program(name: &str) -> Command {
    let path = match name {
        "agent" => env!("CARGO_BIN_EXE_agent"),
        "approval" => env!("CARGO_BIN_EXE_approval"),
        "shop" => env!("CARGO_BIN_EXE_shop"),
        other => panic!("README.md runs `{other}`, which is no program of this package"),
    };
    let mut command = Command::new(path);
    command.current_dir(folder());
    command
}

#[test]
fn every_block_of_start_here_is_a_file_or_a_run() {
    let markers: Vec<_> = blocks().into_iter().map(|it| it.marker.unwrap_or_default()).collect();
    let expected = [
        "Cargo.toml",
        "src/lib.rs",
        "src/bin/shop.rs",
        "run shop",
        "src/bin/approval.rs",
        "src/bin/agent/main.rs",
        "run agent",
        "src/bin/agent/model.rs",
    ];
    assert_eq!(markers, expected);
}

#[test]
fn the_blocks_are_the_files() {
    for Block { marker, text } in blocks() {
        let Some(path) = marker.filter(|it| Path::new(it).extension().is_some()) else { continue };
        if path != "Cargo.toml" {
            assert_eq!(text, fs::read_to_string(folder().join(&path)).unwrap(), "{path}");
        }
    }
}

/// Only where the runtime lies differs: README speaks of a clone beside the user's crate.
#[test]
fn the_dependencies_are_those_of_this_package() {
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    let from = manifest.find("[dependencies]").unwrap();
    let section = manifest[from..].split("\n\n").next().unwrap();
    let shown = with_marker("Cargo.toml").replace("../toolwright/runtime", "../../runtime");
    assert_eq!(shown.trim_end(), section);
}

#[test]
fn the_tool_takes_20_lines_with_its_test_and_the_loop_30() {
    assert!(with_marker("src/lib.rs").lines().count() <= 20);
    let agent = with_marker("src/bin/agent/main.rs");
    let main = &agent[agent.find("#[tokio::main]").unwrap()..];
    assert!(main.lines().count() <= 30, "{main}");
}

#[test]
fn the_programs_print_what_start_here_says() {
    for block in ["run shop", "run agent"] {
        let text = with_marker(block);
        let runs: Vec<&str> = text.split("$ cargo run -q ").skip(1).collect();
        assert!(!runs.is_empty(), "{text}");
        for run in runs {
            let (line, expected) = run.split_once('\n').unwrap();
            let mut words = line.split_whitespace().filter(|it| !matches!(*it, "--bin" | "--"));
            let ran = program(words.next().unwrap()).args(words).output().unwrap();
            assert!(ran.status.success(), "{line}: {ran:?}");
            assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected, "{line}");
        }
    }
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::{Command, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::Duration;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

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
    fn the_approval_asks_at_the_terminal_and_a_yes_runs_the_call() {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let name = OsStr::from_bytes(name.as_bytes());
        let terminal =
            File::from(open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let mut child = Command::new("setsid")
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_approval")])
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        drop(terminal);
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
        assert!(!question.contains("ordered"), "{question}");
        person.write_all(b"y\n").unwrap();
        until("ordered 3 of tea", &shown);
        assert!(child.wait().unwrap().success());
    }
}
