//! Rules that select calls by the untrusted sources that their run has read, and by what leaves the machine.

use regex::Regex;

use super::holds::Holds;
use super::programs::runs_programs;
use super::question::Asking;
use toolwright_core::json::tree::Node;
use toolwright_core::untrusted::line;

/// The condition of a rule on the untrusted sources that a run has read.
#[derive(Debug)]
pub(super) enum AfterUntrusted {
    /// The run has read any untrusted source.
    Any,
    /// The run has read an untrusted source that matches one of these patterns.
    From(Vec<Regex>),
}

impl AfterUntrusted {
    /// Whether the sources that a run has read meet the condition. A rule that allows requires at least one source, and
    /// that all sources match. Other rules require one source that matches.
    pub(super) fn holds(&self, sources: Option<&[String]>, is_allow: bool) -> Holds {
        let Some(sources) = sources else { return Holds::Unknown };
        let each = sources.iter().map(|source| Holds::from(self.fits(source)));
        if is_allow { Holds::all(each) } else { Holds::any(each) }
    }

    /// Returns the sources that the condition matches.
    pub(super) fn among(&self, sources: &[String]) -> Vec<String> {
        sources.iter().filter(|source| self.fits(source)).cloned().collect()
    }

    fn fits(&self, source: &str) -> bool {
        match self {
            Self::Any => true,
            Self::From(patterns) => patterns.iter().any(|it| it.is_match(source)),
        }
    }
}

/// Whether a call sends data off the machine. This is unknown for a tool that does not declare it, and for a tool that
/// runs programs.
pub(super) fn sends(asking: &Asking<'_>) -> Holds {
    let Some(definition) = asking.question.definition else { return Holds::Unknown };
    if definition.sinks().next().is_some() {
        let Some(arguments) = asking.arguments() else { return Holds::Unknown };
        let is_given = definition.sinks().any(|sink| is_given(arguments, sink));
        if is_given {
            return Holds::Yes;
        }
    }
    let is_known = definition.declares_sinks && !runs_programs(definition);
    if is_known { Holds::No } else { Holds::Unknown }
}

/// Returns the parameters that leave the machine, if the call has values for them.
pub(super) fn sinks(asking: &Asking<'_>) -> Vec<String> {
    let (Some(definition), Some(arguments)) = (asking.question.definition, asking.arguments())
    else {
        return Vec::new();
    };
    let given = definition.sinks().filter(|sink| is_given(arguments, sink));
    given.map(str::to_owned).collect()
}

fn is_given(arguments: &Node, key: &str) -> bool {
    let Node::Object(entries) = arguments else { return false };
    entries.iter().any(|(name, value)| name == key && !matches!(value, Node::Null))
}

/// Lists sources in a sentence, the first few by name.
pub(super) fn in_words(sources: &[String]) -> String {
    const NAMED: usize = 3;
    // An untrusted party may have chosen the name, so a backquote in it must not end the quotation.
    let quoted = |it: &String| format!("`{}`", line(it).replace('`', "'"));
    let named: Vec<String> = sources.iter().take(NAMED).map(quoted).collect();
    match sources.len().checked_sub(NAMED) {
        None | Some(0) => named.join(", "),
        Some(more) => format!("{} and {more} more", named.join(", ")),
    }
}
