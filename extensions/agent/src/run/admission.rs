//! Admits a request to a model only if it fits under every ceiling.

use std::time::Duration;

use toolwright::journal::StoreErrorKind;
use toolwright::{CallFailure, Content};

use super::Stopped;
use crate::history::Message;
use crate::limits::ceilings::{Ceilings, RequestRefusal, Reservation};
use crate::model::{Model, ModelError, OutputFormat};
use crate::run::StepInput;

/// The maximum number of tokens that an API adds to a request, for names of fields and marks between messages.
const ADDED: u64 = 4_096;

/// The number of tokens that are reserved for a picture or document in addition to its bytes. A document with few bytes
/// and very many pages may take more, and then its request may exceed a ceiling: the pages are not counted.
const ATTACHED: u64 = 32_768;

/// The first pause before the journal is asked again.
const PAUSE: Duration = Duration::from_millis(200);

/// The longest pause. Each pause is twice as long as the previous one.
const LONGEST: Duration = Duration::from_secs(5);

/// Returns the maximum number of tokens of a request, counted by its bytes: a token has at least one byte.
pub(super) fn largest(
    system: &str,
    tools: &str,
    output: Option<&OutputFormat>,
    history: &[Message],
) -> u64 {
    // A provider turns the schema of a value into part of the prompt.
    let schema = output.map_or(0, |it| it.schema().to_string().len());
    let (mut bytes, mut attached) = (system.len() + tools.len() + schema, 0);
    for message in history {
        bytes += serde_json::to_string(message).map_or(0, |it| it.len());
        attached += match message {
            Message::User { attachments, .. } => attached_of(attachments),
            Message::Assistant { .. } => 0,
            Message::ToolResults(answered) => {
                answered.iter().map(|(_, answer)| attached_of(&answer.content())).sum()
            }
        };
    }
    (bytes as u64).saturating_add(ADDED).saturating_add(attached.saturating_mul(ATTACHED))
}

/// Counts the blocks of content that are not text.
fn attached_of(blocks: &[Content<'_>]) -> u64 {
    let is_text = |it: &&Content<'_>| {
        matches!(it, Content::Text(_) | Content::Json(_) | Content::Resource { text: Some(_), .. })
    };
    (blocks.len() - blocks.iter().filter(is_text).count()) as u64
}

/// Reserves the maximum cost of a request, or returns the input that ends the run. Waits while the journal is
/// unavailable or full.
pub(super) async fn admit(
    ceilings: &Ceilings,
    who: (&str, Option<&str>),
    model: &dyn Model,
    (input, max_tokens): (u64, Option<u32>),
) -> Result<Result<Reservation, StepInput>, Stopped> {
    let most = model.most_cost(input, max_tokens.unwrap_or(u32::MAX).into());
    let Some(most) = most else {
        let model = model.name();
        let why =
            format!("the price of `{model}` is not known, so that the ceiling cannot be enforced");
        return Ok(Err(StepInput::Failed(ModelError::new("price_unknown", why))));
    };
    let mut pause = PAUSE;
    loop {
        match ceilings.reserve(who, most).await {
            Ok(reservation) => return Ok(Ok(reservation)),
            Err(RequestRefusal::Reached(limit)) => return Ok(Err(StepInput::TooDear(limit))),
            Err(RequestRefusal::Store(error)) => {
                let may_pass =
                    matches!(error.kind(), StoreErrorKind::Unavailable | StoreErrorKind::Full);
                if !may_pass {
                    let tool = "a request to the model".to_owned();
                    return Err(CallFailure::NotRecorded { tool, error }.into());
                }
                tokio::time::sleep(pause).await;
                pause = LONGEST.min(pause * 2);
            }
        }
    }
}
