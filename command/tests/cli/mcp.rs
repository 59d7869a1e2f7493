//! `toolwright mcp install`: the entry of a server in the file of another application.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Ran, toolwright};

fn install(file: &Path, more: &[&str]) -> Ran {
    let file = file.to_str().unwrap();
    toolwright(&[&["mcp", "install", "notes", "--file", file], more].concat(), b"")
}

#[test]
fn an_entry_is_written_beside_what_is_there_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let program = ["--env", "LOG=warn", "--", "./notes", "mcp", "serve"];
    let dry = install(&file, &[&["--dry-run"], &program[..]].concat());
    assert_eq!((dry.code, file.exists()), (0, false), "{}", dry.err);
    let ran = install(&file, &program);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, dry.out);
    let entry = serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["notes"].clone();
    let command = entry["command"].as_str().unwrap();
    assert!(Path::new(command).is_absolute() && command.ends_with("notes"), "{command}");
    assert_eq!(entry["args"], serde_json::json!(["mcp", "serve"]));
    assert_eq!(entry["env"]["LOG"], "warn");

    let again = install(&file, &program);
    assert!(again.err.contains("already"), "{}", again.err);
    let other = install(&file, &["--url", "https://notes.example/mcp"]);
    assert_eq!(other.code, 1);
    assert!(other.err.contains("`--replace`"), "{}", other.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(install(&file, &["--url", "https://notes.example/mcp", "--replace"]).code, 0);
    assert!(fs::read_to_string(&file).unwrap().contains("https://notes.example/mcp"));
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    for text in
        ["{\n  // Mine.\n  \"servers\": {}\n}\n", "{\"mcpServers\": {}, \"servers\": {}}", "[]"]
    {
        fs::write(&file, text).unwrap();
        let ran = install(&file, &["--", "notes"]);
        assert_eq!(ran.code, 1, "{text}: {}", ran.err);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left there");
    let neither = install(&file, &[]);
    assert_eq!(neither.code, 2, "{}", neither.err);
}

#[cfg(unix)]
#[test]
fn a_link_stays_one_and_the_file_as_readable_as_it_was() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("dotfiles.json"), folder.path().join("mcp.json"));
    fs::write(&file, "{}").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let ran = install(&link, &["--", "notes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("\"notes\""));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

/// It may hold a key, and a link that leads nowhere is no place for one.
#[cfg(unix)]
#[test]
fn a_new_file_is_its_owners_alone_and_a_link_to_nothing_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("new.json"), folder.path().join("link.json"));
    let ran = install(&file, &["--", "notes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    std::os::unix::fs::symlink(folder.path().join("gone/mcp.json"), &link).unwrap();
    let ran = install(&link, &["--", "notes"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("create that file, or remove the link"), "{}", ran.err);
    assert!(link.is_symlink());
}
