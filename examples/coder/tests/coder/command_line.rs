//! Wrong command lines are refused with what to do, and every tool is a command.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use crate::{coder, folder, own, run};

fn refused(words: &[&str]) -> String {
    let ran = run(coder(words));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    ran.err
}

#[test]
fn a_task_is_needed_and_not_an_empty_one() {
    assert!(refused(&["run"]).contains("<TASK>"));
    let empty = refused(&["run", " \n", "--offline"]);
    assert!(empty.starts_with("error: the task is empty, expected what is to be done"), "{empty}");
}

#[test]
fn a_folder_that_cannot_be_worked_in_is_named() {
    let folder = folder();
    let missing = folder.path().join("missing");
    let file = folder.path().join("notes.md");
    for path in [missing, file] {
        let path = path.to_str().unwrap();
        let words = refused(&["run", "go", "--folder", path, "--base-url", "http://127.0.0.1:1"]);
        assert!(
            words.starts_with(&format!("error: `{path}` cannot be the folder to work in: ")),
            "{words}"
        );
        assert!(
            words.contains("name a folder that exists and can be read with `--folder`"),
            "{words}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Nothing is closed to the superuser.
    if fs::read_dir(&closed).is_err() {
        let path = closed.to_str().unwrap();
        let words = refused(&["run", "go", "--folder", path, "--base-url", "http://127.0.0.1:1"]);
        assert!(words.contains("cannot be the folder to work in"), "{words}");
    }
}

#[test]
fn the_key_is_what_the_named_command_prints() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut request, _) = server.accept().unwrap();
        let mut headers = String::new();
        let mut lines = BufReader::new(request.try_clone().unwrap());
        while lines.read_line(&mut headers).unwrap() > 2 {}
        let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#;
        let length = body.len();
        let head =
            format!("HTTP/1.1 400 Bad Request\r\ncontent-length: {length}\r\nconnection: close");
        write!(request, "{head}\r\ncontent-type: application/json\r\n\r\n{body}").unwrap();
        headers
    });
    let folder = folder();
    let mut command =
        coder(&["run", "go", "--base-url", &url, "--key-command", "echo printed key"]);
    command.arg("--folder").arg(folder.path());
    let ran = run(command);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let headers = heard.join().unwrap();
    assert!(headers.contains("x-api-key: printed key\r\n"), "{headers}");
    assert!(!format!("{}{}", ran.out, ran.err).contains("printed key"), "{}{}", ran.out, ran.err);
}

#[test]
fn an_account_a_server_and_a_provider_are_checked_before_anything_runs() {
    let words = refused(&["run", "go"]);
    assert!(words.contains("found no key in ANTHROPIC_API_KEY"), "{words}");
    assert!(words.contains("`--base-url`, or try `--offline`"), "{words}");
    let words = refused(&["run", "go", "--provider", "openai-chat"]);
    assert!(words.contains("found no key in OPENAI_API_KEY"), "{words}");
    let words = refused(&["run", "go", "--provider", "openai"]);
    assert!(
        words.contains("[possible values: anthropic, openai-chat, openai-responses, gemini]"),
        "{words}"
    );
    let words = refused(&["run", "go", "--base-url", "127.0.0.1:8000"]);
    assert!(words.contains("expected one such as `https://api.anthropic.com`"), "{words}");
    let words = refused(&["run", "go", "--offline", "--fallback=anthropic"]);
    assert!(words.contains("the fallback of anthropic is anthropic itself"), "{words}");
    let words = refused(&["run", "go", "--offline", "--fallback", "--record", "new.jsonl"]);
    assert!(words.contains("leave `--record` or `--fallback` out"), "{words}");
    assert!(refused(&["run", "go", "--keep"]).contains("--offline"));
    assert!(refused(&["run", "go", "--offline", "--folder", "."]).contains("--folder"));
    assert!(refused(&["run", "go", "--turns", "0"]).contains("--turns"));
}

#[test]
fn the_help_names_every_option_and_every_exit_code() {
    let help = run(coder(&["run", "--help"]));
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    for words in [
        "--folder <DIR>",
        "--provider <NAME>",
        "--base-url <URL>",
        "--key-command <COMMAND>",
        "--model <NAME>",
        "--turns <N>",
        "--offline",
        "--keep",
        "--record <FILE>",
        "--json",
        "ANTHROPIC_API_KEY",
        "130 interrupted",
    ] {
        assert!(help.out.contains(words), "{words} is not in\n{}", help.out);
    }
    let readme = fs::read_to_string(own("README.md")).unwrap();
    let options =
        readme.lines().filter_map(|it| it.strip_prefix("| `--")?.split([' ', '`']).next());
    let options: Vec<&str> = options.collect();
    assert!(options.len() >= 9, "{options:?}");
    assert!(options.iter().all(|it| help.out.contains(&format!("--{it}"))), "{options:?}");
}

#[test]
fn every_tool_is_a_command() {
    let folder = folder();
    let tool = |words: &[&str]| {
        let mut command = coder(words);
        command.current_dir(folder.path());
        run(command)
    };
    let read = tool(&["file", "read", "notes.md", "--output", "text"]);
    assert_eq!(read.code, 0, "{}", read.err);
    assert!(read.out.contains("buy tea"), "{}", read.out);
    let found = tool(&["file", "grep", "tea", "--output", "text"]);
    assert!(found.out.contains("notes.md:1:buy tea"), "{}{}", found.out, found.err);
    let done = tool(&["task", "complete", "It is done."]);
    assert_eq!((done.code, done.out.as_str()), (0, "\"It is done.\"\n"), "{}", done.err);
    let asks = tool(&["file", "write", "Cargo.toml", ""]);
    assert_eq!((asks.code, asks.out.as_str()), (3, ""), "{}", asks.err);
}

#[test]
fn every_case_of_the_policy_holds() {
    let cases = own("policy-cases.jsonl");
    let ran = run(coder(&["policy", "test", cases.to_str().unwrap()]));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let count = fs::read_to_string(cases).unwrap().lines().filter(|it| !it.is_empty()).count();
    assert!(
        count >= 20 && ran.out.contains(&format!("{count} of {count} cases hold")),
        "{}",
        ran.out
    );
}
