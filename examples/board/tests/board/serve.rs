//! `board serve` as a process, over loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::repository;

fn serve(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_board"));
    command.arg("--folder").arg(folder.join("board")).arg("serve").args(arguments);
    // Nothing of the keys of the user who runs the tests.
    command.env("USER", "ada").env("XDG_CONFIG_HOME", folder).env_remove("TOOLWRIGHT_KEY");
    command
}

fn with_board() -> TempDir {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("tea");
    std::fs::create_dir(&place).unwrap();
    repository(&place, &[("README.md", "tea\n")]);
    let mut init = Command::new(env!("CARGO_BIN_EXE_board"));
    init.arg("--folder").arg(folder.path().join("board"));
    init.arg("init").arg(place).args(["--name", "tea"]);
    assert!(init.stdout(Stdio::null()).status().unwrap().success());
    folder
}

#[test]
fn beyond_this_machine_the_page_is_served_behind_a_proxy_that_encrypts_alone() {
    let folder = with_board();
    for (arguments, words) in [
        (
            &["--listen", "0.0.0.0:0"][..],
            "put a proxy with TLS before it and name that with `--origin`",
        ),
        (
            &["--listen", "127.0.0.1:0", "--origin", "http://board.example.org"],
            "expected `https://` and a name",
        ),
        (
            &["--listen", "127.0.0.1:0", "--key", "/no/such.key"],
            "the key could not be read from /no/such.key",
        ),
    ] {
        let output = serve(folder.path(), arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn the_page_is_served_at_loopback_to_who_has_the_link_and_ends_in_order() {
    let folder = with_board();
    let mut page = serve(folder.path(), &["--listen", "127.0.0.1:0"]);
    let mut page = page.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(page.stdout.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let (host, link) =
        line.strip_prefix("sign in as ada: http://").unwrap().split_once('/').unwrap();
    let asked = |path: &str, cookie: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").unwrap();
        stream
    };
    let head = |stream: &mut TcpStream| {
        let (mut text, mut byte) = (String::new(), [0]);
        while !text.ends_with("\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            text.push(char::from(byte[0]));
        }
        text
    };
    assert!(head(&mut asked("", "")).starts_with("HTTP/1.1 401 "));
    let signed_in = head(&mut asked(link, ""));
    let header = |name: &str| {
        let mut lines = signed_in.lines();
        lines.find_map(|it| it.strip_prefix(name)).unwrap().trim().to_owned()
    };
    let cookie = header("set-cookie:").split(';').next().unwrap().to_owned();
    let path = header("location:").trim_start_matches('/').to_owned();
    assert!(head(&mut asked(&path, &cookie)).starts_with("HTTP/1.1 200 "));
    assert!(
        lines.next().unwrap().unwrap().starts_with("sign in as ada: "),
        "there is another link"
    );
    // A stream that is open keeps it from ending no longer than a moment.
    let mut events = asked(&format!("{path}events"), &cookie);
    assert!(head(&mut events).contains("text/event-stream"));
    let ended = Command::new("kill").arg(page.id().to_string()).status().unwrap();
    assert!(ended.success() && page.wait().unwrap().success());
}
