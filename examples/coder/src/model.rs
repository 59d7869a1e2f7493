//! Chooses the model: that of one provider, with the model of another provider as its fallback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolwright::retry::RetryPolicy;
use toolwright_agent::http::{ApiKey, HttpModel, HttpModelBuilder};
use toolwright_agent::testing::{Recorder, Replay};
use toolwright_agent::{Fallback, Model};

use crate::arguments::{Arguments, Provider};
use crate::end::Problem;
use crate::sizes::Sizes;
use crate::transcript::Transcript;

/// How often a request is sent before the fallback model gets it.
pub const ATTEMPTS: u32 = RetryPolicy::NETWORK.attempts;

/// How long a provider that failed gets no requests in a recorded run. No run lasts that long, so the provider gets
/// none again, however slow the machine is.
const RECORDED_REST: Duration = Duration::from_secs(24 * 60 * 60);

/// The model of a run and its fallback.
pub struct Models {
    pub model: Arc<dyn Model>,
    has_fallen_back: Arc<AtomicBool>,
}

impl Models {
    /// Makes the models. If there are replays, they serve the providers in order; otherwise requests go to the real
    /// servers.
    pub fn of(
        arguments: &Arguments,
        replays: &[Replay],
        recorder: Option<Arc<Recorder>>,
        sizes: Option<Sizes>,
        transcript: Transcript,
    ) -> Result<Self, Problem> {
        let first = HttpModel::of(arguments.provider.wire(), &arguments.model);
        let first = first.map_err(|error| Problem::Usage(error.to_string()))?;
        let server = Server::of(replays.first(), arguments.base_url.as_deref());
        let key = arguments.key_command.as_deref();
        let first = placed(first, arguments.provider, key, server, transcript)?;
        let first = match (recorder, sizes) {
            (None, None) => first,
            (recorder, sizes) => first.on_exchange(move |exchange| {
                sizes.iter().for_each(|it| it.exchanged(&exchange));
                recorder.iter().for_each(|it| it.write(&exchange));
            }),
        };
        let first = built(first)?;
        let has_fallen_back = Arc::new(AtomicBool::new(false));
        let Some(provider) = arguments.fallback else {
            return Ok(Self { model: Arc::new(first), has_fallen_back });
        };
        let second = HttpModel::of(provider.wire(), provider.model());
        let second = second.map_err(|error| Problem::Usage(error.to_string()))?;
        let second = placed(second, provider, None, Server::of(replays.get(1), None), transcript)?;
        let has_fallen = Arc::clone(&has_fallen_back);
        let fallback = Fallback::builder(first).then(built(second)?).on_fallback(move |it| {
            has_fallen.store(true, Ordering::Relaxed);
            transcript.note("fallback", &format!("{}; {} is asked instead", it.error, it.to));
        });
        let fallback = match replays {
            [] => fallback,
            _ => fallback.rest(RECORDED_REST),
        };
        Ok(Self { model: Arc::new(fallback.build()), has_fallen_back })
    }

    /// Returns whether a request went to the fallback.
    pub fn has_fallen_back(&self) -> bool {
        self.has_fallen_back.load(Ordering::Relaxed)
    }
}

/// The server to which requests go.
enum Server {
    Recorded(String),
    Named(String),
    Vendors,
}

impl Server {
    fn of(replay: Option<&Replay>, base_url: Option<&str>) -> Self {
        match (replay, base_url) {
            (Some(replay), _) => Self::Recorded(replay.url()),
            (None, Some(url)) => Self::Named(url.to_owned()),
            (None, None) => Self::Vendors,
        }
    }
}

fn placed(
    model: HttpModelBuilder,
    provider: Provider,
    key_command: Option<&[String]>,
    server: Server,
    transcript: Transcript,
) -> Result<HttpModelBuilder, Problem> {
    let model = model.on_retry(move |retrying| transcript.retry(retrying.message, retrying.wait));
    let variable = provider.variable();
    let key = || std::env::var(variable).ok().filter(|key| !key.is_empty()).map(ApiKey::from);
    let key = key_command.map(ApiKey::from_command).or_else(key);
    match (server, key) {
        // A recorded model has no account, so it gets no API key.
        (Server::Recorded(url), _) => Ok(model.base_url(url)),
        (Server::Named(url), Some(key)) => Ok(model.base_url(url).key(key)),
        (Server::Named(url), None) => Ok(model.base_url(url)),
        (Server::Vendors, Some(key)) => Ok(model.key(key)),
        (Server::Vendors, None) => Err(Problem::Usage(format!(
            "found no key in {variable}, expected that of your account; set it, name what prints it with \
             `--key-command`, or another server with `--base-url`, or try `--offline`"
        ))),
    }
}

fn built(model: HttpModelBuilder) -> Result<HttpModel, Problem> {
    model.build().map_err(|error| Problem::Usage(error.to_string()))
}
