//! Approval at the terminal, in front of a pseudo-terminal: what is typed, when, and what comes of it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

const VOUCHER: [&str; 2] = ["send-voucher", "bob@example.org"];
const SENT: &str = "\"sent a voucher of 500 cents to bob@example.org\"\n";
const PROMPT: &str = "other arguments\r\n> ";

/// How long is waited for words on the screen before the test is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The application in front of a pseudo-terminal, at which the test reads and types. Results go to a pipe.
struct Seat {
    application: Child,
    keyboard: File,
    terminal: OwnedFd,
    shown: Receiver<Vec<u8>>,
    screen: String,
    read: usize,
}

impl Seat {
    fn at(arguments: &[&str]) -> Self {
        let (keyboard, terminal) = pseudo_terminal();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = application(arguments);
        command.stdin(end()).stderr(end()).stdout(Stdio::piped());
        let application = command.spawn().unwrap();
        let mut screen = keyboard.try_clone().unwrap();
        let (sender, shown) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = screen.read(&mut buffer) {
                let _ = sender.send(buffer[..read].to_vec());
            }
        });
        Self { application, keyboard, terminal, shown, screen: String::new(), read: 0 }
    }

    /// Reads until the words are on the screen, after those that were waited for before.
    #[track_caller]
    fn until(&mut self, words: &str) {
        let given_up = Instant::now() + PATIENCE;
        loop {
            if let Some(place) = self.screen[self.read..].find(words) {
                self.read += place + words.len();
                return;
            }
            let left = given_up.saturating_duration_since(Instant::now());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.screen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{error}, no {words:?} on the screen:\n{}", self.screen),
            }
        }
    }

    fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// The code of the question on the screen.
    fn code(&self) -> String {
        let (_, code) = self.screen.rsplit_once("`y ").expect("a question with a code");
        code[..4].to_owned()
    }

    /// Whether the terminal hands over whole lines, as it did before.
    fn takes_lines(&self) -> bool {
        tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    /// The exit code, and all that was printed as a result.
    fn end(mut self) -> (Option<i32>, String) {
        let mut results = String::new();
        self.application.stdout.take().unwrap().read_to_string(&mut results).unwrap();
        let code = self.application.wait().unwrap().code();
        assert!(self.takes_lines(), "the terminal is left as it was found");
        (code, results)
    }
}

/// A test that fails leaves no process behind.
impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.application.kill();
        let _ = self.application.wait();
    }
}

/// The end at which a person sits, and the end of the application.
fn pseudo_terminal() -> (File, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let person = openpt(flags).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    (File::from(person), open(name, flags, Mode::empty()).unwrap())
}

fn application(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_at-the-terminal"));
    command.args(arguments);
    command
}

/// The application where it has no terminal.
fn without_a_terminal(arguments: &[&str], errors: Stdio) -> Output {
    let mut command = application(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn y_that_is_typed_after_the_prompt_runs_the_call() {
    let mut seat = Seat::at(&VOUCHER);
    seat.until(PROMPT);
    assert!(!seat.screen.contains("does not count"), "{}", seat.screen);
    assert!(!seat.screen.contains("code"), "{}", seat.screen);
    seat.types("y\n");
    assert_eq!(seat.end(), (Some(0), SENT.to_owned()));
}

#[test]
fn y_that_is_typed_before_the_prompt_approves_nothing() {
    let mut seat = Seat::at(&VOUCHER);
    seat.types("y\ny\ny\n");
    seat.until("A call needs your approval");
    seat.types("y\n");
    seat.until(PROMPT);
    assert!(seat.screen.contains("What was typed before this question does not count."));
    seat.types("n\n");
    seat.until("Why?");
    seat.types("not today\n");
    seat.until("rejected");
    assert_eq!(seat.end(), (Some(1), String::new()));
}

/// `y` and the end of the line would be all that is left of it, if the question appeared meanwhile.
#[test]
fn the_prompt_waits_until_nobody_has_typed_for_half_a_second() {
    let mut seat = Seat::at(&VOUCHER);
    seat.until("digest");
    let began = Instant::now();
    for letter in "I was about to tell you that".chars() {
        seat.types(&letter.to_string());
        std::thread::sleep(Duration::from_millis(60));
    }
    let typed = began.elapsed();
    let last = Instant::now();
    seat.until(PROMPT);
    assert!(last.elapsed() >= Duration::from_millis(300), "{:?} after {typed:?}", last.elapsed());
    assert!(seat.screen.contains("does not count"), "{}", seat.screen);
    seat.types("y\n");
    assert_eq!(seat.end(), (Some(0), SENT.to_owned()));
}

#[test]
fn a_dangerous_call_takes_its_code_and_the_prompt_says_why() {
    let mut seat = Seat::at(&["close-account", "bob"]);
    seat.until(PROMPT);
    assert!(seat.screen.contains("This call is dangerous, so the answer repeats the code"));
    seat.types("y\n");
    seat.until("Please answer y, n or e, with the code");
    seat.until(PROMPT);
    let code = seat.code();
    seat.types(&format!("y {code}\n"));
    assert_eq!(seat.end(), (Some(0), "\"closed the account bob\"\n".to_owned()));
}

#[test]
fn three_useless_answers_end_the_call_which_a_person_must_approve_first() {
    let mut seat = Seat::at(&VOUCHER);
    for _ in 0..3 {
        seat.until(PROMPT);
        seat.types("what?\n");
        seat.until("Please answer y, n or e.");
    }
    seat.until("3 times at the terminal and not decided");
    seat.until("approval_required");
    assert_eq!(seat.end(), (Some(3), String::new()));
}

#[test]
fn an_interrupt_before_the_prompt_leaves_the_terminal_as_it_was() {
    let mut seat = Seat::at(&VOUCHER);
    seat.until("digest");
    let given_up = Instant::now() + PATIENCE;
    while seat.takes_lines() {
        assert!(Instant::now() < given_up, "it never watches the keys");
    }
    let process = Pid::from_raw(i32::try_from(seat.application.id()).unwrap()).unwrap();
    kill_process(process, Signal::INT).unwrap();
    assert_eq!(seat.end(), (Some(130), String::new()));
}

#[test]
fn without_a_terminal_it_ends_within_a_second_and_says_why() {
    let began = Instant::now();
    let ended = without_a_terminal(&VOUCHER, Stdio::piped());
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!((ended.status.code(), ended.stdout), (Some(3), Vec::new()));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("standard input is no terminal"), "{said}");
    assert!(said.contains("approval_required"), "{said}");
}

#[test]
fn who_does_not_see_the_question_is_not_asked() {
    let (_keyboard, terminal) = pseudo_terminal();
    let mut command = application(&VOUCHER);
    command.stdin(terminal).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = command.output().unwrap();
    assert_eq!((ended.status.code(), ended.stdout), (Some(3), Vec::new()));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("standard error, where the question would be, is no terminal"), "{said}");
}
