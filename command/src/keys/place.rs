//! Finds the signing key if neither the command line nor the environment names one.

use std::path::PathBuf;

use toolwright::unstable::approval::UserKeys;

use crate::operator::Stop;

/// Returns the file of the only key in the user's configuration folder; several keys, or none, are an error.
pub(crate) fn only() -> Result<PathBuf, Stop> {
    UserKeys::find()?.only()?.ok_or_else(|| {
        Stop::usage(
            "no key to sign with is named, and none lies in toolwright/keys of $XDG_CONFIG_HOME or ~/.config: give \
             --key FILE, or set TOOLWRIGHT_KEY; `toolwright keys new` makes one",
        )
    })
}
