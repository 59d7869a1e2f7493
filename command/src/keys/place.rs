//! Finds the key to sign with if the command line names none.

use std::path::PathBuf;

use toolwright::unstable::approval::UserKeys;

use crate::operator::Stop;

/// Returns the file of the one key in the user's configuration.
pub(crate) fn only() -> Result<PathBuf, Stop> {
    UserKeys::find()?.only()?.ok_or_else(|| {
        Stop::usage(
            "no key to sign with is named, and none lies in toolwright/keys of $XDG_CONFIG_HOME or ~/.config: give \
             --key FILE, or set TOOLWRIGHT_KEY; `toolwright keys new` makes one",
        )
    })
}
