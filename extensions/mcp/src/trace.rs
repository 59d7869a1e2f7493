//! The trace context of a call, which both sides send in `_meta` of a request (W3C Trace Context). The functions are
//! pure.

use std::fmt;
use std::sync::Arc;

/// A W3C trace context: the trace that a request belongs to, and the span in which it was made.
///
/// ```
/// use toolwright_mcp::TraceContext;
///
/// let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let trace = TraceContext::new(parent, None).expect("it is one");
/// assert_eq!(trace.traceparent(), parent);
/// assert_eq!(TraceContext::new("00-0-0-01", None), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    parent: String,
    state: Option<String>,
}

/// The maximum length of a `tracestate` that is passed on.
const LONGEST_STATE: usize = 512;

impl TraceContext {
    /// Reads `traceparent` and `tracestate`; `None` if `traceparent` is invalid. An invalid `tracestate` is left out.
    #[must_use]
    pub fn new(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        is_parent(traceparent).then(|| Self {
            parent: traceparent.to_owned(),
            state: tracestate.filter(|it| is_state(it)).map(str::to_owned),
        })
    }

    /// Returns the version, the trace, the span, and flags, as in the header `traceparent`.
    #[must_use]
    pub fn traceparent(&self) -> &str {
        &self.parent
    }

    /// Returns the additional data of tracing systems, as in the header `tracestate`.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

fn is_parent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, span, flags, more @ ..] = &parts[..] else { return false };
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_id =
        |part: &str, length: usize| is_hex(part, length) && part.bytes().any(|it| it != b'0');
    // Later versions of the format may have more parts.
    let is_whole = more.is_empty() || *version != "00" && text.len() <= LONGEST_STATE;
    is_hex(version, 2)
        && *version != "ff"
        && is_id(trace, 32)
        && is_id(span, 16)
        && is_hex(flags, 2)
        && is_whole
}

fn is_state(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST_STATE
        && text.bytes().all(|it| matches!(it, b' '..=b'~'))
}

/// The function that reads the trace context of the current span.
#[derive(Clone)]
pub(crate) struct Tracer(pub(crate) Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>);

impl fmt::Debug for Tracer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tracer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn what_is_no_trace_context_is_none() {
        for wrong in [
            "",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        ] {
            assert_eq!(TraceContext::new(wrong, None), None, "{wrong}");
        }
        assert!(TraceContext::new(&PARENT.replacen("00", "01", 1), None).is_some());
        let state =
            |state: &str| TraceContext::new(PARENT, Some(state)).unwrap().tracestate().is_some();
        assert!(state("vendor=1") && !state("a\nb") && !state(&"x".repeat(513)));
    }
}
