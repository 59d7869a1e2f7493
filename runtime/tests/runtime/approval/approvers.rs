//! Whoever is asked, and what they are shown.

use std::collections::VecDeque;
use std::io::{self, BufRead, Cursor, Read, Write};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use insta::assert_snapshot;
use proptest::prelude::*;
use tokio::sync::mpsc;
use toolwright::approval::{
    ApprovalRequest, Approver, ApproverError, Callback, Channel, Reply, Response, Terminal,
};
use toolwright::repair::{Change, ChangeRule};

use super::scene::pending;

fn request() -> ApprovalRequest {
    ApprovalRequest {
        digest: "d1".to_owned(),
        ..ApprovalRequest::of(&pending(1)).expect("it waits")
    }
}

/// What a terminal writes, for the test to read.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("UTF-8")
    }

    /// The code of the question that was asked last.
    fn code(&self) -> String {
        let text = self.text();
        let (_, code) = text.rsplit_once("`y ").expect("a question");
        code[..4].to_owned()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Somebody who types one thing after the other. For `#` they type the code that they see then.
struct Person {
    types: VecDeque<Vec<u8>>,
    typed: Cursor<Vec<u8>>,
    screen: Screen,
}

impl Person {
    fn who_types<'a>(things: impl IntoIterator<Item = &'a [u8]>, screen: &Screen) -> Self {
        let types = things.into_iter().map(<[u8]>::to_vec).collect();
        Self { types, typed: Cursor::default(), screen: screen.clone() }
    }
}

impl Read for Person {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let read = bytes.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Person {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.typed.position() == self.typed.get_ref().len() as u64
            && let Some(next) = self.types.pop_front()
        {
            let parts: Vec<_> = next.split(|byte| *byte == b'#').collect();
            self.typed = Cursor::new(parts.join(self.screen.code().as_bytes()));
        }
        self.typed.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.typed.consume(bytes);
    }
}

/// What a person who types these lines decides, each when they are asked for it, and what they see.
async fn typed(input: impl AsRef<[u8]>) -> (Result<Reply, ApproverError>, String) {
    let screen = Screen::default();
    let lines = input.as_ref().split_inclusive(|byte| *byte == b'\n');
    let terminal = Terminal::at(Person::who_types(lines, &screen), screen.clone());
    let reply = terminal.ask(&request()).await;
    (reply, screen.text())
}

async fn decided(input: impl AsRef<[u8]>) -> Option<Response> {
    match typed(input).await.0 {
        Ok(Reply::Decided(decision)) => Some(decision),
        Ok(Reply::Noted | Reply::Reviewed { .. }) => panic!("a terminal decides"),
        Err(_) => None,
    }
}

#[tokio::test]
async fn yes_approves() {
    for input in ["y #\n", "yes #\n", " Y  # \n", "y #\r\n", "what?\ny #\n"] {
        assert_eq!(decided(input).await, Some(Response::Approve), "{input:?}");
    }
}

#[tokio::test]
async fn no_rejects_with_the_reason_or_without() {
    let reject =
        |reason: Option<&str>| Some(Response::Reject { reason: reason.map(str::to_owned) });
    assert_eq!(decided("n #\nnot today\n").await, reject(Some("not today")));
    for input in ["n #\n\n", "no #\n", "n #\n \n"] {
        assert_eq!(decided(input).await, reject(None), "{input:?}");
    }
    // A reason that looks like an answer is a reason.
    assert_eq!(decided("n #\ny\n").await, reject(Some("y")));
}

#[tokio::test]
async fn an_edit_is_a_json_object_and_all_else_is_asked_again() {
    let edit = Response::Edit(r#"{"to":"bob"}"#.to_owned());
    assert_eq!(decided("e #\n{\"to\":\"bob\"}\n").await, Some(edit.clone()));
    assert_eq!(decided("e #\n[]\nedit #\n{\"to\":\"bob\"}\n").await, Some(edit));
    for input in ["e #\n{\n", "e #\n", "e #\ny #\n", "e #\n{\"a\":1,\"a\":2}\n"] {
        assert_eq!(decided(input).await, None, "{input:?}");
    }
}

#[tokio::test]
async fn nothing_but_a_whole_line_that_says_yes_is_an_approval() {
    let long = [vec![b'x'; 1 << 20], b"y #\ny #\n".to_vec()].concat();
    let cases: [&[u8]; 18] = [
        b"",
        b"y #",
        b"\n",
        b"\n\n\n",
        b"y\n",
        b"#\n",
        b"y#\n",
        b"# y\n",
        b"Y E S #\n",
        b"yy #\n",
        b"yes please #\n",
        b"ok #\n",
        b"1 #\n",
        b"\xff #\ny #\n",
        b"a\nb\nc\ny #\n",
        b"y #\x1b[A\n",
        "ｙ #\n".as_bytes(),
        &long,
    ];
    for input in cases {
        assert_eq!(
            decided(input).await,
            None,
            "{:?}",
            String::from_utf8_lossy(&input[..input.len().min(20)])
        );
    }
    let (reply, screen) = typed("a\nb\nc\n").await;
    assert!(
        reply.expect_err("undecided").message.ends_with("3 times at the terminal and not decided")
    );
    assert_eq!(screen.matches("Please answer y, n or e, with the code").count(), 3);
    assert!(typed("").await.0.expect_err("undecided").message.contains("the input ended before"));
}

#[tokio::test]
async fn a_person_sees_the_whole_question() {
    assert_snapshot!(typed("e #\nno\nn #\nask legal first\n").await.1);
}

#[tokio::test]
async fn standard_input_that_is_no_terminal_is_not_asked() {
    // The tests' own standard input may be one.
    if !io::IsTerminal::is_terminal(&io::stdin()) {
        let error = Terminal::new().ask(&request()).await.expect_err("nobody is there");
        assert!(error.message.starts_with("standard input is no terminal"), "{error}");
    }
}

/// Lines that come one by one from the test.
struct Lines(std::sync::mpsc::Receiver<String>, Cursor<Vec<u8>>);

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let read = bytes.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Lines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.1.position() == self.1.get_ref().len() as u64
            && let Ok(line) = self.0.recv()
        {
            self.1 = Cursor::new(line.into_bytes());
        }
        self.1.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.1.consume(bytes);
    }
}

#[tokio::test]
async fn what_is_typed_for_a_question_that_is_over_does_not_answer_the_next() {
    let (lines, typed) = std::sync::mpsc::channel();
    let screen = Screen::default();
    let terminal = Terminal::at(Lines(typed, Cursor::default()), screen.clone());
    // The first question is given up while it is on the screen.
    let first = request();
    let mut asking = terminal.ask(&first);
    while !screen.text().contains("Approve?") {
        assert!(asking.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    drop(asking);
    let second = ApprovalRequest::of(&pending(2)).expect("it waits");
    let mut asking = terminal.ask(&second);
    assert!(asking.as_mut().now_or_never().is_none());
    lines.send(format!("y {}\n", screen.code())).expect("read");
    while screen.text().matches("Approve?").count() < 2 {
        assert!(asking.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    lines.send(format!("n {}\nno\n", screen.code())).expect("read");
    let reply = asking.await.expect("decided");
    assert_eq!(reply, Reply::Decided(Response::Reject { reason: Some("no".to_owned()) }));
    let screen = screen.text();
    let over = screen.find("This question is over").expect("told");
    assert!(over < screen.rfind("Approve?").expect("asked again"), "{screen}");
}

/// However it comes about that something is left: an answer given twice, words that were not asked for, a text that was
/// pasted.
#[tokio::test]
async fn what_is_typed_before_a_question_is_shown_does_not_answer_it() {
    let pasted =
        ["y #\ny #\ny\n", "a\nb\nc\ny #\nyes\n", "e #\n{}\ny #\ne #\n{}\n", "n #\n\nn #\nno\n"];
    for text in pasted {
        let screen = Screen::default();
        let person = Person::who_types([text.as_bytes()], &screen);
        let terminal = Terminal::at(person, screen.clone());
        let _ = terminal.ask(&request()).await;
        let second = ApprovalRequest::of(&pending(2)).expect("it waits");
        let reply = terminal.ask(&second).await;
        assert!(reply.is_err(), "{text:?} gives {reply:?}");
        assert_eq!(screen.text().matches("A call needs your approval").count(), 2);
    }
}

#[tokio::test]
async fn each_question_has_a_code_of_its_own() {
    let first = request();
    let requests = [
        ApprovalRequest { generation: 2, ..first.clone() },
        ApprovalRequest { digest: "d2".to_owned(), ..first.clone() },
        ApprovalRequest { call: pending(2).id, ..first.clone() },
        first,
    ];
    let mut codes = std::collections::BTreeSet::new();
    for request in &requests {
        let screen = Screen::default();
        let terminal = Terminal::at(Cursor::new(Vec::new()), screen.clone());
        let _ = terminal.ask(request).await;
        codes.insert(screen.code());
    }
    assert_eq!(codes.len(), requests.len());
}

#[tokio::test]
async fn a_function_decides_and_its_panic_is_no_approval() {
    let approver = Callback::new(|request| match request.tool.as_str() {
        "send_mail" => Response::Approve,
        _ => panic!("an unknown tool"),
    });
    assert_eq!(approver.ask(&request()).await, Ok(Reply::Decided(Response::Approve)));
    let other = ApprovalRequest { tool: "other".to_owned(), ..request() };
    let error = approver.ask(&other).await.expect_err("a panic");
    assert!(
        error.message.contains("panicked") && error.message.ends_with("not approved"),
        "{error}"
    );
}

#[tokio::test]
async fn a_channel_passes_requests_on_and_says_when_it_cannot() {
    let (sender, mut receiver) = mpsc::channel(1);
    let approver: Box<dyn Approver> = Box::new(Channel::new(sender));
    assert_eq!(approver.ask(&request()).await, Ok(Reply::Noted));
    let error = approver.ask(&request()).await.expect_err("full");
    assert!(error.message.starts_with("the approval channel is full with 1 requests"), "{error}");
    assert_eq!(receiver.recv().await, Some(request()));
    drop(receiver);
    let error = approver.ask(&request()).await.expect_err("closed");
    assert!(
        error.message.starts_with("the receiver of the approval channel was dropped"),
        "{error}"
    );
}

#[test]
fn a_call_that_nobody_was_asked_about_has_no_request() {
    assert_eq!(ApprovalRequest::of(&pending(1).with(|it| it.ask = None)), None);
}

#[test]
fn new_arguments_are_not_in_debug_output() {
    let decision = Reply::Decided(Response::Edit(r#"{"token":"hunter2"}"#.to_owned()));
    assert!(!format!("{decision:?}").contains("hunter2"));
}

#[test]
fn a_request_is_a_calm_table() {
    let request = ApprovalRequest {
        title: Some("Send a mail".to_owned()),
        arguments: r#"{"to":["eve@example.org"],"body":"Dear Eve,\nall is well, and the weather here is as it always is in November.","id":9007199254740993,"a_long_name_of_a_key":{"deep":[1,2.50]}}"#.to_owned(),
        repairs: vec![Change {
            pointer: "/id".to_owned(),
            rule: ChangeRule::Integer,
            from: "\"9007199254740993\"".to_owned(),
            to: "9007199254740993".to_owned(),
        }],
        preview: Some("To: eve@example.org\n\nDear Eve,".to_owned()),
        ..request()
    };
    assert_snapshot!(request);
}

#[test]
fn nobody_paints_another_question() {
    let evil = "x\u{1b}[2J\u{1b}[H\rtool         read_file\n\ndanger       safe\u{202e}\u{200b}\u{2028}\u{9b}0m\u{e0041}";
    let padded = format!("{}danger       safe", "x".repeat(67));
    let arguments = serde_json::json!({evil: evil, "padded": padded, "danger": "safe"});
    let request = ApprovalRequest {
        tool: evil.to_owned(),
        title: Some(evil.to_owned()),
        reason: evil.to_owned(),
        arguments: arguments.to_string(),
        preview: Some(evil.to_owned()),
        run: evil.to_owned(),
        ..request()
    };
    assert_snapshot!(request);
}

#[test]
fn arguments_that_are_no_object_or_give_a_key_twice_are_shown_as_they_are() {
    for arguments in ["[1]", "{", r#"{"to":"bob","to":"eve"}"#] {
        let shown = ApprovalRequest { arguments: arguments.to_owned(), ..request() }.to_string();
        assert!(shown.contains(&format!("arguments    {arguments}\n")), "{shown}");
    }
}

proptest! {
    /// Whatever is in a call: every line begins as ours do, is short, and shows no character that acts.
    #[test]
    fn every_line_is_ours(evil in any::<String>(), key in any::<String>()) {
        let mut arguments = serde_json::Map::new();
        arguments.insert(key, evil.clone().into());
        let request = ApprovalRequest {
            tool: evil.clone(),
            reason: evil.clone(),
            arguments: serde_json::Value::Object(arguments).to_string(),
            preview: Some(evil),
            ..request()
        };
        for line in request.to_string().lines() {
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(line.chars().count() <= 13 + 64);
            let label: String = line.chars().take(10).collect();
            let known = ["tool", "danger", "why", "asked by", "run", "until", "call", "digest", "arguments", "preview", ""];
            prop_assert!(label.starts_with("  ") || known.contains(&label.trim_end()), "{}", line);
        }
    }
}
