//! Where the fetched documents are. Without them nothing can be judged, and every test says so.

use std::fmt;
use std::path::PathBuf;

/// Something that `tests/oracles/fetch` would have written is not there.
#[derive(thiserror::Error)]
#[error("{} is missing, `tests/oracles/fetch` fetches it: {reason}", path.display())]
pub struct Missing {
    path: PathBuf,
    reason: String,
}

/// The sentence, so that a test that unwraps it says what to do.
impl fmt::Debug for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The text of a fetched file: in the folder that `TOOLWRIGHT_ORACLES` names, else in the workspace's
/// `target/oracles`.
///
/// # Errors
/// Where it cannot be read.
pub fn text(name: &str) -> Result<String, Missing> {
    let path = folder().join(name);
    std::fs::read_to_string(&path).map_err(|error| Missing { path, reason: error.to_string() })
}

fn folder() -> PathBuf {
    match std::env::var_os("TOOLWRIGHT_ORACLES") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/oracles")),
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn what_is_missing_is_said_with_the_command_that_fetches_it() {
        let error = text("nothing.json").unwrap_err();
        let words = format!("{error:?}");
        assert!(
            words.contains("nothing.json is missing, `tests/oracles/fetch` fetches it"),
            "{words}"
        );
    }
}
