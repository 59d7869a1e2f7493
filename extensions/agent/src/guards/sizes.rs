//! A guard that limits sizes.

use super::{AfterDecision, BeforeDecision, Guard, IntoGuards, OutgoingRequest, texts};
use crate::history::Message;

/// A guard that limits the size of input to a model and of its output, in bytes. A message of the user or a request
/// that is too large ends the run; an answer that is too large is sent back to the model.
///
/// ```
/// use toolwright_agent::{Agent, ScriptedModel, SizeLimit};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = ScriptedModel::new().says("Well, ".repeat(100)).says("Yes.");
/// let agent = Agent::builder(model).guard(SizeLimit::new().prompt(2_000).answer(200)).build()?;
/// assert_eq!(agent.run("Is there tea?").await?.to_string(), "Yes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SizeLimit {
    prompt: Option<usize>,
    request: Option<usize>,
    answer: Option<usize>,
}

impl SizeLimit {
    /// Makes a guard without limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits a message of the user, including the texts among its attachments.
    #[must_use]
    pub fn prompt(mut self, bytes: usize) -> Self {
        self.prompt = Some(bytes);
        self
    }

    /// Limits a request: instructions, messages, arguments and answers together, without tools and pictures. An answer
    /// of the model that its provider requires verbatim counts once, in its longer form.
    #[must_use]
    pub fn request(mut self, bytes: usize) -> Self {
        self.request = Some(bytes);
        self
    }

    /// Limits an answer of the model: its text, and the arguments of its calls.
    #[must_use]
    pub fn answer(mut self, bytes: usize) -> Self {
        self.answer = Some(bytes);
        self
    }
}

/// The name of the guards that limit sizes.
const NAME: &str = "size";

fn too_large(texts: impl Iterator<Item = impl AsRef<str>>, most: usize) -> Option<usize> {
    Some(size(texts)).filter(|found| *found > most)
}

fn size(texts: impl Iterator<Item = impl AsRef<str>>) -> usize {
    texts.map(|it| it.as_ref().len()).fold(0, usize::saturating_add)
}

/// Returns the size of a request. Of an answer of the model, either the verbatim content or text and arguments are sent.
fn size_of_request(request: &OutgoingRequest) -> usize {
    let of_message = |message: &Message| match message {
        Message::Assistant { text, calls, verbatim: Some(verbatim) } => {
            let arguments = calls.iter().map(|call| call.arguments.as_str());
            size(std::iter::once(text.as_str()).chain(arguments)).max(verbatim.text().len())
        }
        other => size(texts::of_message(other).iter()),
    };
    let history = request.history.iter().map(of_message);
    history.fold(request.instructions.len(), usize::saturating_add)
}

fn before<C>(what: &str, found: Option<usize>, most: usize) -> BeforeDecision<C> {
    match found {
        Some(found) => {
            BeforeDecision::stop(format!("{what} has {found} bytes, expected at most {most}"))
        }
        None => BeforeDecision::Continue,
    }
}

impl IntoGuards for SizeLimit {
    fn into_guards(self) -> Vec<Guard> {
        let Self { prompt, request, answer } = self;
        let prompt = prompt.map(|most| {
            Guard::before_run(NAME, move |prompt| async move {
                before("what was said", too_large(prompt.texts(), most), most)
            })
        });
        let request = request.map(|most| {
            Guard::before_model(NAME, move |request| async move {
                let size = size_of_request(&request);
                before("the request", Some(size).filter(|size| *size > most), most)
            })
        });
        let answer = answer.map(|most| {
            Guard::after_model(NAME, move |answer| async move {
                match too_large(answer.texts(), most) {
                    Some(found) => AfterDecision::ask_again(format!(
                        "it has {found} bytes, expected at most {most}; make it shorter"
                    )),
                    None => AfterDecision::Continue,
                }
            })
        });
        prompt.into_iter().chain(request).chain(answer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::GuardedRun;
    use crate::history::Verbatim;

    #[test]
    fn an_answer_that_is_sent_back_verbatim_counts_once() {
        let text = "a".repeat(60);
        let verbatim = format!(r#"[{{"text":"{text}"}}]"#);
        let size = verbatim.len();
        let answer = Message::assistant(text, []).verbatim(Verbatim::new("gemini", verbatim));
        let run = GuardedRun { id: "r".into(), agent: "a".into(), user: None };
        let history = [Message::user("Go."), answer].into();
        let request = OutgoingRequest { run, turn: 2, instructions: "Be brief.".into(), history };
        assert_eq!(size_of_request(&request), "Be brief.".len() + "Go.".len() + size);
    }
}
