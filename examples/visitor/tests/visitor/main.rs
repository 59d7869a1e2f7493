//! The page as a browser asks for it: what it shows, what counts, and what comes of it.
#![cfg(test)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use toolwright::approval::ApproverKey;

/// A program that serves the page.
struct Visitor {
    child: Child,
    out: BufReader<ChildStdout>,
    host: String,
    home: String,
}

impl Visitor {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_visitor"));
        let command = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let link = line.trim().strip_prefix("open http://").unwrap_or_else(|| panic!("{line}"));
        let (host, home) = link.split_once('/').unwrap();
        let (host, home) = (host.to_owned(), format!("/{home}"));
        Self { child, out, host, home }
    }

    /// Asks once; the status and the page.
    fn asks(&self, host: &str, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer[9..12].parse().unwrap(), answer)
    }

    fn posts(&self, call: &str, token: &str, colour: &str) -> (u16, String) {
        let path = format!("{}/pick", self.home);
        let body = format!("call={call}&token={token}&colour={colour}");
        self.asks(&self.host, "POST", &path, &body)
    }

    /// The page, as soon as it has a form: its call and its token.
    fn form(&self) -> (String, String) {
        let begun = Instant::now();
        loop {
            let (status, page) = self.asks(&self.host, "GET", &self.home, "");
            assert_eq!(status, 200, "{page}");
            if let Some(call) = value(&page, "call") {
                assert!(page.contains("Which colour shall the door have?"), "{page}");
                return (call, value(&page, "token").unwrap());
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{page}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// How the run ended.
    fn ended(mut self) -> String {
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        assert!(self.child.wait().unwrap().success(), "{out}");
        out
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value of a hidden field.
fn value(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\""))?;
    Some(rest.split_once('"')?.0.to_owned())
}

#[test]
fn what_the_visitor_picks_is_the_result_of_the_call() {
    let mut visitor = Visitor::start(&[]);
    let (call, token) = visitor.form();
    let (status, page) = visitor.posts(&call, &token, "Blue");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("Thank you. You picked Blue."), "{page}");
    let mut out = String::new();
    visitor.out.read_to_string(&mut out).unwrap();
    assert!(visitor.child.wait().unwrap().success());
    assert_eq!(out, "The door is painted Blue.\n");
}

#[test]
fn what_does_not_count_leaves_the_call_as_it_was() {
    let visitor = Visitor::start(&[]);
    let (call, token) = visitor.form();
    for (call, token, colour, status, words) in [
        (&*call, &*token, "Pink", 422, "is not what `pick_colour` promises"),
        (&call, "nothing", "Blue", 403, "the token does not count"),
        (
            &call,
            &format!("{}x", &token[..token.len() - 1]),
            "Blue",
            403,
            "the token does not count",
        ),
        ("7", &token, "Blue", 400, "found no call"),
    ] {
        let (found, page) = visitor.posts(call, token, colour);
        assert_eq!(found, status, "{page}");
        assert!(page.contains(words), "{page}");
    }
    assert_eq!(visitor.posts(&call, &token, "Green").0, 200);
    assert_eq!(visitor.ended(), "The door is painted Green.\n");
}

#[test]
fn who_has_no_link_sees_nothing_and_picks_nothing() {
    let visitor = Visitor::start(&[]);
    let (call, token) = visitor.form();
    for path in ["/", "/pick", "/0123456789abcdef0123456789abcdef"] {
        let (status, page) = visitor.asks(&visitor.host, "GET", path, "");
        assert!(status == 404 && !page.contains(&token), "{page}");
    }
    // Another name that leads to this address.
    let (status, page) = visitor.asks("evil.example", "GET", &visitor.home, "");
    assert!(status == 403 && !page.contains(&token), "{page}");
    let long = format!("call={call}&token={token}&colour={}", "x".repeat(1 << 20));
    let (status, _) =
        visitor.asks(&visitor.host, "POST", &format!("{}/pick", visitor.home), &long[..20_000]);
    assert_eq!(status, 413);
    assert_eq!(visitor.posts(&call, &token, "Red").0, 200);
    assert_eq!(visitor.ended(), "The door is painted Red.\n");
}

#[test]
fn a_program_that_is_killed_while_it_waits_goes_on_waiting_for_the_same_call() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, key) = (folder.path().join("calls.db"), folder.path().join("tokens.key"));
    ApproverKey::generate("tokens").unwrap().save(&key).unwrap();
    let arguments = ["--journal", text(&journal), "--key", text(&key)];
    let first = Visitor::start(&arguments);
    let (call, token) = first.form();
    drop(first);
    let again = Visitor::start(&arguments);
    assert_eq!(again.form(), (call.clone(), token.clone()));
    assert_eq!(again.posts(&call, &token, "Blue").0, 200);
    assert_eq!(again.ended(), "The door is painted Blue.\n");
    // It has ended: what is asked again is what was recorded.
    let last = Visitor::start(&arguments);
    assert_eq!(last.ended(), "The door is painted Blue.\n");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
