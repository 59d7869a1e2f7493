//! Metrics of requests to models, by `OpenTelemetry`'s conventions for clients of generative AI, which are in
//! development and may change.
//!
//! | instrument | kind | what it measures | attributes |
//! | --- | --- | --- | --- |
//! | `gen_ai.client.operation.duration` | histogram, s | the time of a request with its retries, until it is answered or fails | `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `gen_ai.response.model`, `error.type` |
//! | `gen_ai.client.token.usage` | histogram, tokens | the tokens of an answer, if the provider reports them | the same without `error.type`, and `gen_ai.token.type`: `input` or `output` |

use std::fmt;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};

use super::spans::provider;
use crate::model::{Model, ModelAnswer, ModelError};

/// The bounds of buckets that the conventions give for durations, in seconds.
const DURATIONS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// The bucket bounds of the histogram of tokens: powers of four.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The instruments, made from a meter of the application.
pub(crate) struct Metrics {
    durations: Histogram<f64>,
    tokens: Histogram<u64>,
}

impl Metrics {
    pub(crate) fn new(meter: &Meter) -> Self {
        let durations = meter
            .f64_histogram("gen_ai.client.operation.duration")
            .with_unit("s")
            .with_description("GenAI operation duration.")
            .with_boundaries(DURATIONS.to_vec());
        let tokens = meter
            .u64_histogram("gen_ai.client.token.usage")
            .with_unit("{token}")
            .with_description("Number of input and output tokens used.")
            .with_boundaries(TOKENS.to_vec());
        Self { durations: durations.build(), tokens: tokens.build() }
    }

    /// Measures a request that was answered or failed.
    pub(crate) fn asked(
        &self,
        model: &dyn Model,
        answered: Result<&ModelAnswer, &ModelError>,
        took: Duration,
    ) {
        let mut attributes = attributes(model);
        attributes.extend(match answered {
            Ok(answer) => answer.model.clone().map(|by| KeyValue::new("gen_ai.response.model", by)),
            Err(error) => Some(KeyValue::new("error.type", error.kind().to_owned())),
        });
        self.durations.record(took.as_secs_f64(), &attributes);
        let Some(usage) = answered.ok().and_then(|answer| answer.usage) else { return };
        for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
            attributes.push(KeyValue::new("gen_ai.token.type", kind));
            self.tokens.record(tokens, &attributes);
            attributes.pop();
        }
    }
}

fn attributes(model: &dyn Model) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("gen_ai.operation.name", "chat"),
        KeyValue::new("gen_ai.request.model", model.name().to_owned()),
    ];
    attributes
        .extend(provider(model.dialect()).map(|it| KeyValue::new("gen_ai.provider.name", it)));
    attributes
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Metrics").finish_non_exhaustive()
    }
}
