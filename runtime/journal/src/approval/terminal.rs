//! A person at a terminal.
//!
//! - Only a whole line that says yes approves. The end of the input, an unknown word or an error never does.
//! - One question at a time. An answer repeats the code that is shown with its question, so that what was typed before
//!   the question was there never answers it, wherever it waited.
//! - Reading blocks a thread of its own, which stops neither the runtime nor its end.

use std::io::{self, BufRead, BufReader, IsTerminal as _, Read as _, Stderr, Stdin, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use futures::FutureExt;
use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

use super::approver::{Approver, ApproverError, Decision, Reply};
use super::request::ApprovalRequest;
use toolwright_core::json::canonical;

/// The longest line that is read.
const LONGEST: u64 = 1 << 20;
/// How often a question is repeated.
const QUESTIONS: u32 = 3;

/// Asks the person at the terminal: the question goes to standard error, the answer comes from standard input.
///
/// `y` approves, `n` rejects and asks for a reason, `e` asks for other arguments. Each takes a code of four characters that
/// is shown with the question, another one for each call: nobody answers a question before they see it. Standard input
/// that is no terminal is refused: whoever pipes answers in has not seen the questions.
pub struct Terminal<R = BufReader<Stdin>, W = Stderr> {
    ends: Arc<Mutex<(R, W)>>,
    attended: fn() -> bool,
}

impl Terminal {
    /// This process's terminal.
    #[must_use]
    pub fn new() -> Self {
        let ends = (BufReader::new(io::stdin()), io::stderr());
        Self { ends: Arc::new(Mutex::new(ends)), attended: || io::stdin().is_terminal() }
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
    /// A person who reads and writes elsewhere. That it is a person, the caller knows.
    pub fn at(reader: R, writer: W) -> Self {
        Self { ends: Arc::new(Mutex::new((reader, writer))), attended: || true }
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
            if !(self.attended)() {
                return Err(ApproverError::new(
                    "standard input is no terminal, so that nobody can be asked: run it at one, or give another \
                     approver",
                ));
            }
            let (sender, receiver) = oneshot::channel();
            let (ends, request) = (Arc::clone(&self.ends), request.clone());
            let asking = move || {
                let decision = ask(&ends, &request, &sender);
                // Nobody hears it when the call has expired meanwhile.
                let _ = sender.send(decision);
            };
            let named = thread::Builder::new().name("toolwright-terminal".to_owned());
            named.spawn(asking).map_err(|error| {
                ApproverError::new(format!("no thread could be started to ask at the terminal: {error}"))
            })?;
            let silent = |_| ApproverError::new("the terminal's thread ended without a decision");
            receiver.await.map_err(silent)?.map(Reply::Decided)
        }
        .boxed()
    }
}

type Outcome = Result<Decision, ApproverError>;

fn ask<R: BufRead, W: Write>(
    ends: &Mutex<(R, W)>,
    request: &ApprovalRequest,
    sender: &oneshot::Sender<Outcome>,
) -> Outcome {
    let mut ends = ends.lock().map_err(|_| {
        ApproverError::new("the terminal cannot be used any more: a question at it panicked")
    })?;
    // The question before may have taken until this one was over.
    if sender.is_closed() {
        return Err(ApproverError::new("the question was over before it was asked"));
    }
    let (reader, writer) = &mut *ends;
    let outcome = converse(reader, writer, request);
    if sender.is_closed() {
        let _ = writeln!(writer, "This question is over: your answer to it does not count.");
    }
    outcome.unwrap_or_else(|error| {
        Err(ApproverError::new(format!("the terminal cannot be read or written: {error}")))
    })
}

/// The conversation about one request.
fn converse<R: BufRead, W: Write>(
    reader: &mut R,
    writer: &mut W,
    request: &ApprovalRequest,
) -> io::Result<Outcome> {
    let ended = || {
        let call = request.call;
        Ok(Err(ApproverError::new(format!("the input ended before call {call} was decided"))))
    };
    let code = code(request);
    let question =
        format!("Approve? `y {code}`: yes, `n {code}`: no, `e {code}`: with other arguments");
    write!(writer, "\nA call needs your approval.\n\n{request}\n")?;
    for _ in 0..QUESTIONS {
        let Some(line) = answer(reader, writer, &question)? else { return ended() };
        let line = line.to_ascii_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        let word = match words[..] {
            [word, said] if said == code => word,
            _ => "",
        };
        match word {
            "y" | "yes" => return Ok(Ok(Decision::Approve)),
            "n" | "no" => {
                let reason =
                    answer(reader, writer, "Why? The model reads it; empty for no reason")?;
                let reason = reason.map(|reason| reason.trim().to_owned());
                let reason = reason.filter(|reason| !reason.is_empty());
                return Ok(Ok(Decision::Reject { reason }));
            }
            "e" | "edit" => {
                let question = "All arguments, as a JSON object on one line";
                let Some(text) = answer(reader, writer, question)? else { return ended() };
                match canonical(&text) {
                    Ok(object) if object.starts_with('{') => {
                        return Ok(Ok(Decision::Edit(text.trim().to_owned())));
                    }
                    Ok(_) => writeln!(writer, "That is JSON, but no object.")?,
                    Err(error) => writeln!(writer, "That is no JSON object: {error}.")?,
                }
            }
            _ => {
                writeln!(writer, "Please answer y, n or e, with the code {code} of this question.")?
            }
        }
    }
    let call = request.call;
    Ok(Err(ApproverError::new(format!(
        "call {call} was asked about {QUESTIONS} times at the terminal and not decided"
    ))))
}

/// What an answer to this question has to repeat. The id of a call is made by chance, so nobody knows it before.
fn code(request: &ApprovalRequest) -> String {
    let ApprovalRequest { call, generation, digest, .. } = request;
    let hash = Sha256::digest(format!("{call} {generation} {digest}"));
    hex::encode(&hash[..2])
}

/// The line that answers a question; nothing when the input ends before the line does.
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
    // The rest of a line must not be read as the next answer.
    reader.skip_until(b'\n')?;
    Err(io::Error::other(format!("a line is longer than {LONGEST} bytes")))
}
