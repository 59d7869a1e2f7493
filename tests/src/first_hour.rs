//! README.md shows the programs of `examples/programs` as they are, whole or in part; that crate's tests run each of them.

use std::fs;
use std::path::{Path, PathBuf};

/// The crate of the programs.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/programs")
}

/// The blocks of *Start here*: the comment above each that names its file, and its text.
fn blocks() -> Vec<(String, String)> {
    let readme = fs::read_to_string(folder().join("../../README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Start here\n").expect("README.md has this heading");
    let section = section.split("\n## ").next().unwrap();
    let (mut blocks, mut marker, mut inside) = (Vec::new(), String::new(), None::<String>);
    for line in section.lines() {
        match (&mut inside, line.starts_with("```")) {
            (Some(text), true) => {
                blocks.push((std::mem::take(&mut marker), std::mem::take(text)));
                inside = None;
            }
            (Some(text), false) => *text += &format!("{line}\n"),
            (None, true) => inside = Some(String::new()),
            (None, false) => {
                if let Some(name) = line.strip_prefix("<!-- programs: ") {
                    name.trim_end_matches(" -->").clone_into(&mut marker);
                }
            }
        }
    }
    blocks
}

#[test]
fn each_block_is_a_program_that_a_test_runs() {
    let mut shown = Vec::new();
    for (marker, text) in blocks() {
        assert!(!marker.is_empty(), "a block without its file:\n{text}");
        let file = |name: &str| fs::read_to_string(folder().join("src/bin").join(name)).unwrap();
        if let Some(name) = marker.strip_prefix("part of ") {
            assert!(file(name).contains(&text), "{name} has no such part:\n{text}");
        } else if marker.ends_with(".rs") {
            assert_eq!(text, file(&marker));
        }
        if let Some(program) = marker.trim_start_matches("part of ").strip_suffix(".rs") {
            let tests = folder().join(format!("tests/programs/{program}.rs"));
            let tests = fs::read_to_string(&tests).unwrap();
            let run = format!("CARGO_BIN_EXE_{program}");
            assert!(tests.contains(&run), "no test of `{program}` runs it");
        }
        shown.push(marker);
    }
    shown.dedup();
    assert_eq!(
        shown,
        ["Cargo.toml", "hello.rs", "part of approve.rs", "part of durable.rs", "cli_and_mcp.rs"]
    );
}

/// The transcript is that of the coder's own page, which its tests hold.
#[test]
fn the_transcript_is_that_of_the_coder() {
    let page = |path: &str| fs::read_to_string(folder().join(path)).unwrap();
    let readme = page("../../README.md");
    let (_, block) = readme.split_once("```console\n").unwrap();
    let block = block.split("```").next().unwrap();
    let coder = page("../coder/README.md");
    for line in block.lines().filter(|line| line.trim() != "…") {
        assert!(coder.lines().any(|it| it == line), "{line}");
    }
    assert!(block.lines().count() > 10);
}

/// Only the paths differ: README speaks of a clone beside the user's crate.
#[test]
fn the_dependencies_are_those_of_the_programs() {
    let (_, shown) = blocks().into_iter().find(|(marker, _)| marker == "Cargo.toml").unwrap();
    for name in ["futures", "tokio", "toolwright"] {
        assert!(shown.lines().any(|line| line.starts_with(&format!("{name} = "))), "{shown}");
    }
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    assert!(
        shown.contains(r#"features = ["agent", "cli", "mcp", "sqlite", "toolbox"]"#),
        "{shown}"
    );
    for feature in ["agent", "cli", "mcp", "sqlite", "toolbox"] {
        assert!(manifest.contains(&format!("{feature:?}")), "{manifest}");
    }
}
