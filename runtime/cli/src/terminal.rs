//! Asks a person at a terminal for approval.
//!
//! - Only a complete line that says yes or gives other arguments lets a call run. The end of the input, an unknown word
//!   or an error never does.
//! - Only one question is asked at a time. Text typed before a question never answers it: typed text is discarded until
//!   no key has been typed for half a second. If typed text cannot be discarded, or the call is dangerous, the answer
//!   must repeat a code that the question shows.
//! - Reading blocks a separate thread, which delays neither the runtime nor its shutdown.

#[cfg_attr(unix, path = "terminal/keyboard.rs")]
#[cfg_attr(not(unix), path = "terminal/elsewhere.rs")]
mod keyboard;

use std::io::{self, BufRead, BufReader, IsTerminal as _, Read as _, Stderr, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use futures::FutureExt;
use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

use self::keyboard::{Keyboard, Typing};
use toolwright_core::json::canonical;
use toolwright_core::tool::Danger;
use toolwright_journal::approval::{ApprovalRequest, Approver, ApproverError, Reply, Response};

/// The maximum length of a line, in bytes.
const LONGEST: u64 = 1 << 20;
/// The maximum number of times that a question is asked until there is a valid answer.
const QUESTIONS: u32 = 3;

/// An approver that asks the person at the terminal. It writes the question to standard error, and reads the answer
/// from standard input.
///
/// `y` approves, `n` rejects and asks for a reason, `e` asks for other arguments. Only text typed after the question
/// counts. Text typed before is discarded until no key has been typed for half a second; then the prompt appears. For a
/// call that is [`Dangerous`](Danger::Dangerous) or [`Critical`](Danger::Critical), an answer must also repeat a code
/// of four characters (`y 3f9c`), which differs from call to call. If the system cannot discard typed text, every
/// answer must repeat the code.
///
/// If standard input or standard error is not a terminal, the approver fails. A program that pipes answers in cannot
/// decide, and neither can a person who does not see the questions.
///
/// ```
/// use toolwright::approval::Terminal;
/// use toolwright::{Executor, Registry};
///
/// let builder = Executor::builder(Registry::empty()).ask(Terminal::new());
/// # builder.build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Terminal<R = BufReader<Keyboard>, W = Stderr> {
    ends: Arc<Mutex<(R, W)>>,
    attended: fn() -> Result<(), &'static str>,
    /// Drops input that was read ahead.
    discard: fn(&mut R),
    /// Controls the keyboard during a question; `None` if typed text cannot be discarded.
    typing: fn() -> Option<Typing>,
}

impl Terminal {
    /// Makes an approver that asks at the terminal of this process.
    #[must_use]
    pub fn new() -> Self {
        let ends = (BufReader::new(Keyboard::new()), io::stderr());
        let discard = |reader: &mut BufReader<Keyboard>| reader.consume(reader.buffer().len());
        Self { ends: Arc::new(Mutex::new(ends)), attended, discard, typing: Typing::here }
    }
}

/// Checks whether a person can see questions and answer them at this terminal; the error is the reason why not.
pub(crate) fn attended() -> Result<(), &'static str> {
    match (io::stdin().is_terminal(), io::stderr().is_terminal()) {
        (false, _) => Err("standard input is no terminal"),
        (true, false) => Err("standard error, where the question would be, is no terminal"),
        (true, true) => Ok(()),
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl<R, W> Terminal<R, W>
where
    R: BufRead + Send + 'static,
    W: Write + Send + 'static,
{
    /// Makes an approver that asks a person through other streams. The caller makes sure that a person answers there.
    /// Text typed before a question cannot be discarded, so every answer must repeat the code of its question.
    pub fn at(reader: R, writer: W) -> Self {
        let ends = Arc::new(Mutex::new((reader, writer)));
        Self { ends, attended: || Ok(()), discard: |_| (), typing: || None }
    }
}

impl<R, W> Approver for Terminal<R, W>
where
    R: BufRead + Send + 'static,
    W: Write + Send + 'static,
{
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        async move {
            (self.attended)().map_err(|why| {
                ApproverError::new(format!(
                    "{why}, so no person can be asked: run the program at a terminal, or give another approver"
                ))
            })?;
            // `_restored` is dropped after `receiver`. So when the mode of the terminal is restored, the thread can
            // already see that its answer is not needed any more.
            let typing = (self.typing)();
            let _restored = typing.as_ref().map(Typing::restore_at_end);
            let (sender, receiver) = oneshot::channel();
            let (ends, request) = (Arc::clone(&self.ends), request.clone());
            let discard = self.discard;
            let asking = move || {
                let settle = |reader: &mut R| {
                    discard(reader);
                    typing.as_ref().map(|it| it.settle(|| sender.is_closed())).transpose()
                };
                let decision = ask(&ends, &request, &sender, settle);
                // If the call has expired in the meantime, there is no receiver.
                let _ = sender.send(decision);
            };
            let named = thread::Builder::new().name("toolwright-terminal".to_owned());
            named.spawn(asking).map_err(|error| {
                ApproverError::new(format!(
                    "no thread could be started to ask at the terminal: {error}"
                ))
            })?;
            let silent = |_| ApproverError::new("the terminal's thread ended without a decision");
            receiver.await.map_err(silent)?.map(Reply::Decided)
        }
        .boxed()
    }
}

type Outcome = Result<Response, ApproverError>;

fn ask<R: BufRead, W: Write>(
    ends: &Mutex<(R, W)>,
    request: &ApprovalRequest,
    sender: &oneshot::Sender<Outcome>,
    settle: impl Fn(&mut R) -> io::Result<Option<bool>>,
) -> Outcome {
    let mut ends = ends.lock().map_err(|_| {
        ApproverError::new("the terminal can no longer be used: an earlier question panicked")
    })?;
    // The call may have ended while it waited for its turn at the terminal.
    if sender.is_closed() {
        return Err(ApproverError::new("the question was over before it was asked"));
    }
    let (reader, writer) = &mut *ends;
    let outcome = converse(reader, writer, request, settle);
    if sender.is_closed() {
        let _ = writeln!(writer, "This question is over: your answer to it does not count.");
    }
    outcome.unwrap_or_else(|error| {
        Err(ApproverError::new(format!("the terminal cannot be read or written: {error}")))
    })
}

/// Asks a person about one request. `settle` discards the keys typed so far and returns whether there were any;
/// `None` if it cannot discard them.
fn converse<R: BufRead, W: Write>(
    reader: &mut R,
    writer: &mut W,
    request: &ApprovalRequest,
    settle: impl Fn(&mut R) -> io::Result<Option<bool>>,
) -> io::Result<Outcome> {
    let ended = || {
        let call = request.call;
        Ok(Err(ApproverError::new(format!("the input ended before call {call} was decided"))))
    };
    let code = code(request);
    write!(writer, "\nA call needs your approval.\n\n{request}\n")?;
    for _ in 0..QUESTIONS {
        writer.flush()?;
        let discarded = settle(reader)?;
        if discarded == Some(true) {
            writeln!(writer, "\nWhat was typed before this question does not count.")?;
        }
        let needed = code_needed(request.danger, discarded.is_some());
        let with = if needed.is_some() { format!(" {code}") } else { String::new() };
        if let Some(why) = needed {
            writeln!(writer, "{why}")?;
        }
        let question =
            format!("Approve? `y{with}`: yes, `n{with}`: no, `e{with}`: with other arguments");
        let Some(line) = answer(reader, writer, &question)? else { return ended() };
        let line = line.to_ascii_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        let word = match words[..] {
            [word, said] if said == code => word,
            [word] if needed.is_none() => word,
            _ => "",
        };
        match word {
            "y" | "yes" => return Ok(Ok(Response::Approve)),
            "n" | "no" => {
                let reason =
                    answer(reader, writer, "Why? The model reads it; empty for no reason")?;
                let reason = reason.map(|reason| reason.trim().to_owned());
                let reason = reason.filter(|reason| !reason.is_empty());
                return Ok(Ok(Response::Reject { reason }));
            }
            "e" | "edit" => {
                let question = "All arguments, as a JSON object on one line";
                let Some(text) = answer(reader, writer, question)? else { return ended() };
                match canonical(&text) {
                    Ok(object) if object.starts_with('{') => {
                        return Ok(Ok(Response::Edit(text.trim().to_owned())));
                    }
                    Ok(_) => writeln!(writer, "That is JSON, but no object.")?,
                    Err(error) => writeln!(writer, "That is no JSON object: {error}.")?,
                }
            }
            _ if needed.is_some() => {
                writeln!(writer, "Please answer y, n or e, with the code {code} of this question.")?
            }
            _ => writeln!(writer, "Please answer y, n or e.")?,
        }
    }
    let call = request.call;
    Ok(Err(ApproverError::new(format!(
        "call {call} was asked about {QUESTIONS} times at the terminal and not decided"
    ))))
}

/// Returns the reason why an answer must repeat the code of its question; `None` if it need not.
fn code_needed(danger: Danger, discards: bool) -> Option<&'static str> {
    match danger {
        Danger::Critical => {
            Some("This call is critical, so the answer repeats the code of this question.")
        }
        Danger::Dangerous => {
            Some("This call is dangerous, so the answer repeats the code of this question.")
        }
        Danger::Safe | Danger::Moderate if discards => None,
        Danger::Safe | Danger::Moderate => Some(
            "What was typed before cannot be discarded here, so the answer repeats the code of this question.",
        ),
    }
}

/// Returns the code that an answer must repeat. The id of a call is random, so the code cannot be known before the
/// question.
fn code(request: &ApprovalRequest) -> String {
    let ApprovalRequest { call, generation, digest, .. } = request;
    let hash = Sha256::digest(format!("{call} {generation} {digest}"));
    hex::encode(&hash[..2])
}

/// Reads the line that answers a question; `None` if the input ends before the line does.
fn answer<R: BufRead, W: Write>(
    reader: &mut R,
    writer: &mut W,
    question: &str,
) -> io::Result<Option<String>> {
    write!(writer, "{question}\n> ")?;
    writer.flush()?;
    let mut line = Vec::new();
    reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
    if line.pop() == Some(b'\n') {
        return String::from_utf8(line).map(Some).map_err(io::Error::other);
    }
    if (line.len() as u64) + 1 < LONGEST {
        return Ok(None);
    }
    // The rest of an overlong line must not be read as the answer to the next question.
    reader.skip_until(b'\n')?;
    Err(io::Error::other(format!("a line is longer than {LONGEST} bytes")))
}
