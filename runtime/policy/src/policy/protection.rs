//! The built-in rules, called protections, which apply unless the policy switches them off.

use super::glob::escape;
use super::paths::is_absolute;
use super::rule::{Rule, WhenUnknown};
use toolwright_core::footprint::{File, ResourceKind};

/// A rule that every policy has unless it is switched off ([`PolicyBuilder::without`](super::PolicyBuilder::without),
/// `protections_off` in a file).
///
/// | name | rule |
/// | --- | --- |
/// | `protect-git` | nothing is written below `.git` |
/// | `protect-env` | no file `.env*` is written |
/// | `protect-keys` | no key file is written |
/// | `ask-for-keys` | reading a key file needs approval |
/// | `protect-policy` | the files of the policy are not written, if they are known |
/// | `protect-journal` | the journal is not written, if it is known |
/// | `workspace-bounds` | no file outside of the roots is touched, if there are roots |
///
/// A protection refuses a call that declares the files of its rule; only `ask-for-keys` asks a person instead. A call
/// that does not declare its files may touch these files too, so a person is asked about it. A call with the effect
/// `read` writes nothing, so only `workspace-bounds` asks about it. If several protections ask about a call, this is
/// one reason for the person ([`UndeclaredTool`](super::UndeclaredTool)). `ask-for-keys` asks only about calls that
/// declare a key file, because otherwise it would ask about every read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protection {
    /// `protect-git`: nothing is written below `.git`.
    Git,
    /// `protect-env`: no file `.env*` is written.
    Env,
    /// `protect-keys`: no key file is written.
    Keys,
    /// `ask-for-keys`: reading a key file needs approval.
    KeyReads,
    /// `protect-policy`: the files of the policy are not written, if they are known.
    Policy,
    /// `protect-journal`: the journal is not written, if it is known.
    Journal,
    /// `workspace-bounds`: no file outside of the roots is touched, if there are roots.
    Bounds,
}

const KEYS: [&str; 4] = ["*.pem", "*.key", "id_{rsa,dsa,ecdsa,ed25519,xmss}*", "**/.ssh/**"];

impl Protection {
    /// All protections.
    pub const ALL: [Self; 7] = [
        Self::Git,
        Self::Env,
        Self::Keys,
        Self::KeyReads,
        Self::Policy,
        Self::Journal,
        Self::Bounds,
    ];

    /// Returns the protection's name, which is also the name of its rule.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Git => "protect-git",
            Self::Env => "protect-env",
            Self::Keys => "protect-keys",
            Self::KeyReads => "ask-for-keys",
            Self::Policy => "protect-policy",
            Self::Journal => "protect-journal",
            Self::Bounds => "workspace-bounds",
        }
    }

    /// Makes the rule of this protection; `None` if the policy knows nothing that the rule would protect.
    pub(super) fn rule(self, known: &ProtectedThings<'_>) -> Option<Rule> {
        let rule = match self {
            Self::Git => writes("what is below `.git` belongs to git alone", ["**/.git/**"]),
            Self::Env => writes("files of the environment may hold secrets", [".env*"]),
            Self::Keys => writes("keys are not for tools to write", KEYS),
            Self::KeyReads => {
                let rule = Rule::ask("keys are secret");
                Some(KEYS.into_iter().fold(rule, Rule::reads))
            }
            Self::Policy => writes(
                "a policy is not changed by those it is for",
                known.policies.iter().map(|it| literal(it)),
            ),
            Self::Journal => {
                let beside = |path: &String| [literal(path), format!("{}-*", literal(path))];
                writes(
                    "the journal is written by the executor alone",
                    known.journals.iter().flat_map(beside),
                )
            }
            Self::Bounds if known.roots.is_empty() => None,
            Self::Bounds => {
                let rule = Rule::deny("it lies outside of the folders that tools work in");
                Some(known.roots.iter().cloned().fold(rule, Rule::outside))
            }
        };
        let rule = rule?.named(self.name());
        Some(match self {
            Self::KeyReads => Rule { only_certain: true, ..rule },
            _ => rule.when_unknown(WhenUnknown::Ask),
        })
    }
}

/// The files and folders to protect.
pub(super) struct ProtectedThings<'a> {
    pub(super) policies: &'a [String],
    pub(super) journals: &'a [String],
    pub(super) roots: &'a [String],
}

/// Makes a pattern that matches exactly this path.
fn literal(path: &str) -> String {
    let path = File::normalise(path);
    let start = if is_absolute(&path) { "" } else { "./" };
    format!("{start}{}", escape(&path))
}

/// Makes a rule that denies writing files that match these patterns; `None` if there are no patterns.
fn writes(reason: &str, patterns: impl IntoIterator<Item = impl Into<String>>) -> Option<Rule> {
    let mut patterns = patterns.into_iter().peekable();
    patterns.peek()?;
    Some(patterns.fold(Rule::deny(reason), Rule::writes))
}
