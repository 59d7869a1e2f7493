//! Helpers for the tools and the middleware of the change log: the current time, and the names that a path may refer
//! to.

use std::time::{SystemTime, UNIX_EPOCH};

use toolwright::ToolError;

use super::database::unavailable;
use super::log::ChangeLog;
use super::rows::of_file;
use crate::workspace::Name;

/// Returns the current time in milliseconds since 1970.
pub(super) fn milliseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl ChangeLog {
    /// Returns the name whose changes a path refers to. A path that is a link can refer to the link or to its target.
    /// Returns the name that has the given change, or if no change is given, the name with the newest change.
    pub(super) fn find_changed_name(
        &self,
        path: &str,
        change: Option<i64>,
    ) -> Result<Name, ToolError> {
        let asked = Name::parse(path)?;
        let names = self.0.workspace.written_names(&asked)?;
        let connection = self.connection();
        let newest = |name: &Name| -> Result<Option<i64>, ToolError> {
            let changes = of_file(&connection, name).map_err(unavailable)?;
            let numbers = changes.iter().filter(|it| it.is_effective()).map(|it| it.number);
            Ok(numbers.filter(|number| change.is_none_or(|change| change == *number)).max())
        };
        let mut meant = None;
        for name in names {
            let number = newest(&name)?;
            if meant.as_ref().is_none_or(|(best, _)| number > *best) {
                meant = Some((number, name));
            }
        }
        Ok(meant.map_or(asked, |(_, name)| name))
    }
}
