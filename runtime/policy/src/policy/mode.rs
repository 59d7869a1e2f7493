//! What becomes of a call of which no rule says anything: decided by its danger alone.

use std::fmt;

use serde::{Deserialize, Serialize};

use toolwright_core::tool::Danger;

/// What a policy says of calls by their danger.
///
/// | mode | safe | moderate | dangerous | critical |
/// | --- | --- | --- | --- | --- |
/// | `strict` | allow | ask | deny | deny |
/// | `interactive`, the default | allow | ask | ask | ask |
/// | `auto-safe` | allow | allow | ask | ask |
/// | `unattended` | allow | allow | deny | deny |
/// | `unrestricted` | allow | allow | allow | allow |
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
    /// Nothing dangerous, and a person's word for all that is not safe.
    Strict,
    /// A person's word for all that is not safe.
    #[default]
    Interactive,
    /// A person's word for what is dangerous.
    AutoSafe,
    /// Nobody is there to be asked: what is dangerous is refused.
    Unattended,
    /// Everything runs that no rule and no tool objects to.
    Unrestricted,
}

/// What a mode says of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeSays {
    /// It is refused.
    Deny,
    /// A person is asked, unless a rule allows it.
    Ask,
    /// It runs.
    Allow,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] =
        [Self::Strict, Self::Interactive, Self::AutoSafe, Self::Unattended, Self::Unrestricted];

    /// What it says of calls of a danger.
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

    /// Its name, as it stands in a file.
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
