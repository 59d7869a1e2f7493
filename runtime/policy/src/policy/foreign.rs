//! Rules that select by what a run has read of strangers, and by what of a call leaves the machine.

use regex::Regex;

use super::holds::Holds;
use super::programs::runs_programs;
use super::question::Asking;
use toolwright_core::json::tree::Node;
use toolwright_core::untrusted::line;

/// Of which foreign text a rule asks whether the run has read it.
#[derive(Debug)]
pub(super) enum AfterUntrusted {
    /// Of any.
    Any,
    /// Of a source that one of these patterns fits.
    From(Vec<Regex>),
}

impl AfterUntrusted {
    /// Whether a run that has read text of these sources has read such text. For an allow, all that it has read must be such, and
    /// there must be some.
    pub(super) fn holds(&self, sources: Option<&[String]>, is_allow: bool) -> Holds {
        let Some(sources) = sources else { return Holds::Unknown };
        let each = sources.iter().map(|source| Holds::from(self.fits(source)));
        if is_allow { Holds::all(each) } else { Holds::any(each) }
    }

    /// The sources that it is about.
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

/// Whether something of a call leaves the machine. Of a tool that does not say, and of one that runs programs, that is unknown.
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

/// The parameters of a call that leave the machine and are given.
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

/// Sources in words, the first few of them by name.
pub(super) fn in_words(sources: &[String]) -> String {
    const NAMED: usize = 3;
    // A stranger may have chosen the name: it ends no quotation.
    let quoted = |it: &String| format!("`{}`", line(it).replace('`', "'"));
    let named: Vec<String> = sources.iter().take(NAMED).map(quoted).collect();
    match sources.len().checked_sub(NAMED) {
        None | Some(0) => named.join(", "),
        Some(more) => format!("{} and {more} more", named.join(", ")),
    }
}
