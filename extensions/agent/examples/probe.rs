//! Lets an agent with one tool work with a model over HTTP, and prints what became of that as one JSON object: for
//! `against-mocks`, which holds it against what the server was asked to do.
//!
//! ```sh
//! cargo run -p toolwright-agent --features http,testing --example probe -- anthropic http://127.0.0.1:8000 "read the notes" out.jsonl stream 5
//! ```

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use toolwright::dialect::Dialect;
use toolwright::provider::Provider;
use toolwright::{Executor, Registry, tool};
use toolwright_agent::http::HttpModel;
use toolwright_agent::recording::Recording;
use toolwright_agent::{
    Agent, Delta, DeltaListener, Model, ModelAnswer, ModelError, ModelRequest, NoticeKind, RunEnd,
    Stopped,
};

/// Reads the notes.
#[tool(effect = read)]
async fn read_notes() -> &'static str {
    "buy tea"
}

/// What was heard of the answer that is coming, and over the whole run.
#[derive(Default)]
struct Heard {
    text: String,
    deltas: usize,
    restarts: usize,
    unknown: Vec<String>,
}

/// A model whose answers are heard as they come.
struct Heeded {
    model: HttpModel,
    heard: Arc<Mutex<Heard>>,
}

struct Listener<'a>(&'a Mutex<Heard>);

impl DeltaListener for Listener<'_> {
    fn delta(&self, delta: Delta<'_>) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.deltas += 1;
        match delta {
            Delta::Text(text) => heard.text.push_str(text),
            Delta::Restarted => {
                heard.text.clear();
                heard.restarts += 1;
            }
            Delta::Unknown { kind } => heard.unknown.push(kind.to_owned()),
            _ => {}
        }
    }
}

impl Model for Heeded {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn dialect(&self) -> Dialect {
        self.model.dialect()
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            self.heard.lock().unwrap_or_else(PoisonError::into_inner).text.clear();
            self.model.answer(request.listener(&Listener(&self.heard))).await
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [provider, url, prompt, file, how, seconds, tokens @ ..] = &arguments[..] else {
        return Err("expected PROVIDER URL PROMPT FILE whole|stream SECONDS [TOKENS]".into());
    };
    let provider: Provider = provider.parse()?;
    let (exchanges, waits) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (exchanged, waited) = (Arc::clone(&exchanges), Arc::clone(&waits));
    let name = match provider {
        Provider::Anthropic => "claude-sonnet-4-6",
        Provider::Gemini => "gemini-2.5-pro",
        _ => "gpt-5.2",
    };
    let model = HttpModel::of(provider, name)?
        .base_url(url)
        .key("mock-key")
        .timeout(Duration::from_secs(seconds.parse()?))
        .on_exchange(move |it| exchanged.lock().unwrap_or_else(PoisonError::into_inner).push(it))
        .on_retry(move |it| {
            waited.lock().unwrap_or_else(PoisonError::into_inner).push(it.wait.as_secs_f64());
        });
    // A certificate in which the servers' own are rooted.
    #[cfg(feature = "tls")]
    let model = match std::env::var("PROBE_ROOT") {
        Ok(file) if !file.is_empty() => {
            use toolwright_agent::http::reqwest::Certificate;
            let root = Certificate::from_pem(&std::fs::read(file)?)?;
            model.client(|client| client.tls_certs_merge([root]))
        }
        _ => model,
    };
    let model = match tokens {
        [tokens, ..] => model.max_tokens(tokens.parse()?),
        [] => model,
    };
    let model = model.build()?;
    let heard = Arc::new(Mutex::new(Heard::default()));
    let model: Arc<dyn Model> = match how.as_str() {
        "stream" => Arc::new(Heeded { model, heard: Arc::clone(&heard) }),
        _ => Arc::new(model),
    };
    let executor = Executor::builder(Registry::of([READ_NOTES])?).unrestricted().build()?;
    let is_heard = Arc::new(Mutex::new(true));
    let (hearing, compared) = (Arc::clone(&heard), Arc::clone(&is_heard));
    let is_stream = how == "stream";
    let agent = Agent::on(executor, model)
        .instructions("You read notes.")
        .max_turns(4)
        .listen(move |notice| {
            if let NoticeKind::Answered { answer } = notice.kind
                && is_stream
            {
                let heard = hearing.lock().unwrap_or_else(PoisonError::into_inner);
                let mut is_heard = compared.lock().unwrap_or_else(PoisonError::into_inner);
                *is_heard &= heard.text == answer.text;
            }
        })
        .build()?;
    let mut run = agent.new_run("probe").start()?;
    let ended = run.send(prompt.as_str()).await;
    let exchanges = std::mem::take(&mut *exchanges.lock().unwrap_or_else(PoisonError::into_inner));
    std::fs::write(file, Recording::new(provider, exchanges).to_string())?;
    toolwright_agent::check(run.history())?;
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    let (ended, kind, text) = match &ended {
        Ok(RunEnd::Text { text, .. }) => ("text", "", text.clone()),
        Ok(RunEnd::ModelFailed { kind, message, .. }) => {
            ("model_failed", kind.as_str(), message.clone())
        }
        Ok(RunEnd::Limit(limit)) => ("limit", "", limit.to_string()),
        Ok(other) => ("other", "", other.to_string()),
        // The run has not ended: it can be resumed when the model is back.
        Err(Stopped::ModelUnreachable { kind, message, .. }) => {
            ("stopped", kind.as_str(), message.clone())
        }
        Err(stopped) => return Err(stopped.clone().into()),
    };
    let line = json!({
        "ended": ended,
        "kind": kind,
        "text": text,
        "calls": run.history().iter().map(|message| message.calls().len()).sum::<usize>(),
        "deltas": heard.deltas,
        "is_heard": *is_heard.lock().unwrap_or_else(PoisonError::into_inner),
        "restarts": heard.restarts,
        "unknown": heard.unknown,
        "waits": *waits.lock().unwrap_or_else(PoisonError::into_inner),
        "spent": run.state().spent().to_string(),
    });
    println!("{line}");
    Ok(())
}
