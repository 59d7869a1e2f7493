//! The modes, which decide by the danger of a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use toolwright_core::tool::Danger;

/// The mode of a policy. It decides by the danger of a call.
///
/// | mode | safe | moderate | dangerous | critical |
/// | --- | --- | --- | --- | --- |
/// | `strict` | allow | ask | deny | deny |
/// | `interactive`, the default | allow | ask | ask | ask |
/// | `auto-safe` | allow | allow | ask | ask |
/// | `unattended` | allow | allow | deny | deny |
/// | `unrestricted` | allow | allow | allow | allow |
///
/// A policy in any mode but `unrestricted` also asks about a moderate call that the table allows if the call may run a
/// command line outside of a sandbox.
///
/// ```
/// use toolwright::Danger;
/// use toolwright::policy::Mode;
/// use toolwright::unstable::policy::ModeSays;
///
/// assert_eq!(Mode::default().says(Danger::Moderate), ModeSays::Ask);
/// assert_eq!(Mode::Unattended.says(Danger::Dangerous), ModeSays::Deny);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Refuses dangerous and critical calls, and asks a person about moderate ones.
    Strict,
    /// Asks a person about every call that is not safe.
    #[default]
    Interactive,
    /// Asks a person about dangerous and critical calls.
    AutoSafe,
    /// Refuses dangerous and critical calls, for applications in which no person can decide.
    Unattended,
    /// Allows every call, unless a rule or the tool requires approval, or a rule denies the call.
    Unrestricted,
}

/// The effect of a mode on one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeSays {
    /// The call is refused.
    Deny,
    /// A person must decide on the call, unless a rule allows it.
    Ask,
    /// The mode does not ask about the call. Rules and the tool may still refuse it or ask.
    Allow,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 5] =
        [Self::Strict, Self::Interactive, Self::AutoSafe, Self::Unattended, Self::Unrestricted];

    /// Returns what the mode decides about calls of this danger.
    #[must_use]
    pub const fn says(self, danger: Danger) -> ModeSays {
        use Danger::{Critical, Dangerous, Moderate, Safe};

        match (self, danger) {
            (_, Safe)
            | (Self::AutoSafe | Self::Unattended, Moderate)
            | (Self::Unrestricted, Moderate | Dangerous | Critical) => ModeSays::Allow,
            (Self::Strict | Self::Interactive, Moderate)
            | (Self::Interactive | Self::AutoSafe, Dangerous | Critical) => ModeSays::Ask,
            (Self::Strict | Self::Unattended, Dangerous | Critical) => ModeSays::Deny,
        }
    }

    /// Returns the name of the mode, as policy files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Interactive => "interactive",
            Self::AutoSafe => "auto-safe",
            Self::Unattended => "unattended",
            Self::Unrestricted => "unrestricted",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
