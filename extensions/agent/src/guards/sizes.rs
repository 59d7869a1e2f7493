//! A guard that limits sizes.

use super::{AfterDecision, BeforeDecision, Guard, IntoGuards};

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

    /// Limits a request: instructions, messages, arguments and answers together, without tools and pictures.
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
    let found = texts.map(|it| it.as_ref().len()).fold(0, usize::saturating_add);
    (found > most).then_some(found)
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
                before("the request", too_large(request.texts().iter(), most), most)
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
