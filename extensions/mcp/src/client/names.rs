//! Names foreign tools in this application: `server__tool`, at most 64 characters. The functions are pure.

use sha2::{Digest as _, Sha256};

/// The maximum length of a tool's name that every model provider accepts.
const LONGEST: usize = 64;

/// Returns the name that a server's tool has in this application. A name that would be too long, or has characters that
/// providers refuse, is changed and cut, and ends in the first digits of a digest.
pub(super) fn ours(server: &str, tool: &str) -> String {
    let fits = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let whole = format!("{server}__{tool}");
    if !tool.is_empty() && tool.chars().all(fits) && whole.len() <= LONGEST {
        return whole;
    }
    let digest: String =
        Sha256::digest(tool).iter().take(4).map(|it| format!("{it:02x}")).collect();
    let room = LONGEST.saturating_sub(server.len() + 2 + 1 + digest.len());
    let fitting: String =
        tool.chars().map(|it| if fits(it) { it } else { '_' }).take(room).collect();
    format!("{server}__{fitting}_{digest}")
}

/// The maximum length of a server's name; the rest of the 64 characters is for the names of its tools.
pub(super) const LONGEST_SERVER: usize = 24;

/// Returns the name that a server from another application's file has in this application. A name that does not fit is
/// cut, and ends in the first digits of its digest.
pub(super) fn fitting_server(name: &str) -> String {
    let fits = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    let is_whole = !name.is_empty() && name.len() <= LONGEST_SERVER && name.chars().all(fits);
    if is_whole && !name.contains("__") && !name.ends_with('_') {
        return name.to_owned();
    }
    let digest: String =
        Sha256::digest(name).iter().take(4).map(|it| format!("{it:02x}")).collect();
    let room = LONGEST_SERVER - 1 - digest.len();
    let is_plain = |it: char| it.is_ascii_alphanumeric();
    let plain: String =
        name.chars().map(|it| if is_plain(it) { it } else { '-' }).take(room).collect();
    format!("{plain}-{digest}")
}

/// Returns the part of a tool's name in this application that names the server.
pub(super) fn server(name: &str) -> Option<&str> {
    // The name of a server neither contains `__` nor ends in `_`.
    name.split_once("__").map(|(server, _)| server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_fits_stays_and_every_other_is_told_apart() {
        assert_eq!(ours("files", "read-file_2"), "files__read-file_2");
        assert_eq!(ours("files", "_odd"), "files___odd");
        let long = "x".repeat(100);
        let names = ["a.b", "a/b", "a b", "ä", "", "a\u{0}b", long.as_str()];
        let mut seen: Vec<String> = names.iter().map(|it| ours("files", it)).collect();
        for name in &seen {
            assert!(name.len() <= LONGEST, "{name}");
            assert!(
                name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-'),
                "{name}"
            );
            assert_eq!(server(name), Some("files"));
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), names.len());
        assert_eq!(server("files___odd"), Some("files"));
        assert_eq!(server("read_file"), None);
    }
}
