//! Spans by `OpenTelemetry`'s conventions for generative AI: `invoke_agent` around the work of a run, `chat` around
//! each request to the model. The `execute_tool` spans of calls are children of `invoke_agent`. No span contains text
//! of the conversation.

use toolwright::dialect::Dialect;
use tracing::Span;
use tracing::field::{Empty, display};

use crate::events::RunEnd;
use crate::model::{Model, ModelAnswer, StopReason};

/// Makes the span around the work of a driver on a run, until the run ends, waits or stops.
pub(crate) fn invoke_agent(agent: &str, run: &str) -> Span {
    let span = tracing::info_span!(
        "invoke_agent",
        otel.name = Empty,
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = agent,
        gen_ai.conversation.id = run,
        toolwright.run.ended = Empty,
        error.r#type = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", display(format_args!("invoke_agent {agent}")));
    }
    span
}

/// Makes the span around one request, with its retries and fallback models.
pub(crate) fn chat(model: &dyn Model, run: &str) -> Span {
    let span = tracing::info_span!(
        "chat",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.conversation.id = run,
        gen_ai.provider.name = provider(model.dialect()),
        gen_ai.request.model = model.name(),
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.r#type = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", display(format_args!("chat {}", model.name())));
    }
    span
}

/// Records an answer in the span of the request.
pub(crate) fn answered(span: &Span, answer: &ModelAnswer) {
    if let Some(model) = &answer.model {
        span.record("gen_ai.response.model", model.as_str());
    }
    // The conventions ask for a list, but the field of a span can hold it only as text.
    let reasons = match answer.stop {
        StopReason::Finished if answer.calls.is_empty() => r#"["stop"]"#,
        StopReason::Finished => r#"["tool_calls"]"#,
        StopReason::Paused => r#"["pause_turn"]"#,
        StopReason::CutShort | StopReason::CutInCall => r#"["length"]"#,
        StopReason::Refused => r#"["content_filter"]"#,
    };
    span.record("gen_ai.response.finish_reasons", reasons);
    if let Some(usage) = answer.usage {
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    }
}

/// Records in the span of a run how the run ended.
pub(crate) fn ended(span: &Span, ended: &RunEnd) {
    span.record("toolwright.run.ended", ended.name());
    if let RunEnd::ModelFailed { kind, .. } = ended {
        error_of(span, kind);
    }
    if let RunEnd::InvalidOutput { .. } | RunEnd::GuardStopped { .. } = ended {
        error_of(span, ended.name());
    }
}

/// Records in the span of a request why the request failed, or in the span of a run why the run stopped.
pub(crate) fn error_of(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

/// Returns the name that the conventions give the provider of an API.
pub(crate) fn provider(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Anthropic | Dialect::AnthropicStrict => Some("anthropic"),
        Dialect::OpenAiChat
        | Dialect::OpenAiChatStrict
        | Dialect::OpenAiResponses
        | Dialect::OpenAiResponsesStrict => Some("openai"),
        Dialect::Gemini | Dialect::GeminiOpenApi => Some("gcp.gemini"),
        _ => None,
    }
}
