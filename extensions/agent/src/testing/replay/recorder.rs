//! Writes a recording during a run: replaces parts that differ between runs by placeholders, and omits secrets and
//! keys.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use toolwright::Catalog;
use toolwright::dialect::Listing;
use toolwright::provider::Provider;

use super::Placeholders;
use super::secrets::Secrets;
use super::strings::{members, strings};
use crate::recording::{Exchange, Header, RecordedRequest, RecordedResponse};

/// The members of a request in which the patterns of [`Placeholders`] apply.
const MESSAGES: [&str; 3] = ["messages", "input", "contents"];

/// Writes each exchange of a run to a file, for [`Replay`](super::Replay).
///
/// ```no_run
/// use std::sync::Arc;
/// use toolwright::Registry;
/// use toolwright::dialect::Dialect;
/// use toolwright::provider::Provider;
/// use toolwright_agent::http::HttpModel;
/// use toolwright_agent::testing::{Placeholders, Recorder};
///
/// let catalog = Registry::linked()?.catalog();
/// let listing = catalog.listing(Dialect::Anthropic)?;
/// let recorder = Recorder::create("run.jsonl", Provider::Anthropic, Placeholders::standard(), &catalog, &listing)?;
/// let recorder = Arc::new(recorder);
/// let writer = Arc::clone(&recorder);
/// let model = HttpModel::anthropic("some-model").on_exchange(move |exchange| writer.write(&exchange)).build()?;
/// // … a run with the model …
/// recorder.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    provider: Provider,
    placeholders: Placeholders,
    written: Mutex<RecordingFile>,
}

struct RecordingFile {
    file: File,
    secrets: Secrets,
    failed: Option<io::Error>,
}

impl Recorder {
    /// Begins a recording in a new file. The catalog defines which arguments of its tools are secret; the listing has
    /// the names by which the provider knows the tools.
    ///
    /// # Errors
    /// When the file exists, or cannot be written.
    pub fn create(
        path: impl AsRef<Path>,
        provider: Provider,
        placeholders: Placeholders,
        catalog: &Catalog,
        listing: &Listing,
    ) -> io::Result<Self> {
        let mut file = File::create_new(path)?;
        writeln!(file, "{}", serde_json::to_string(&Header::of(provider))?)?;
        let secrets = Secrets::of(catalog, listing);
        let written = Mutex::new(RecordingFile { file, secrets, failed: None });
        Ok(Self { provider, placeholders, written })
    }

    /// Writes an exchange. After a failure, nothing more is written, and [`finish`](Self::finish) reports the failure.
    pub fn write(&self, exchange: &Exchange) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.failed.is_some() {
            return;
        }
        if let Err(error) = self.line(exchange, &mut written) {
            written.failed = Some(error);
        }
    }

    /// Checks that everything was written.
    ///
    /// # Errors
    /// The first failure.
    pub fn finish(&self) -> io::Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match written.failed.take() {
            Some(error) => Err(error),
            None => written.file.sync_all(),
        }
    }

    /// Returns the provider whose exchanges are recorded.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    fn line(&self, exchange: &Exchange, written: &mut RecordingFile) -> io::Result<()> {
        let secrets = &mut written.secrets;
        // Secrets are removed from the response first: its calls show which values are secret in later requests.
        let said = secrets.remove_from(exchange.response.body());
        let asked = secrets.remove_from(exchange.request.body.get());
        let mut response = RecordedResponse::new(
            exchange.response.status,
            &strings(&said, |text| self.placeholders.named(text)).unwrap_or(said),
        );
        response.headers.clone_from(&exchange.response.headers);
        let request = RecordedRequest::new(
            &exchange.request.method,
            &exchange.request.path,
            &self.request(&asked),
        )?;
        let line = serde_json::to_string(&Exchange { request, response })?;
        writeln!(written.file, "{line}")
    }

    fn request(&self, body: &str) -> String {
        let named = members(body, |key, value| {
            strings(value, |text| match MESSAGES.contains(&key) {
                true => self.placeholders.recorded(text),
                false => self.placeholders.named(text),
            })
        });
        named.unwrap_or_else(|| body.to_owned())
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Recorder").field("provider", &self.provider).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
