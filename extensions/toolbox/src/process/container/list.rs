//! Lists the entries below a folder of a container with `find` and `stat`. This process decides which entries git
//! ignores.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolwright::ToolError;

use super::Container;
use super::files::refused;
use super::rules::Rules;
use super::script::{Ran, code, path};
use crate::workspace::{FoundEntry, Kind, ListedEntry, Name, SearchScope, Worker};

/// The maximum size of a file that can be searched: 32 MiB.
pub(super) const LARGEST_SEARCHED: u64 = 32 << 20;

/// The maximum length of a list's output: 64 MiB.
const LARGEST_LIST: u64 = 64 << 20;

/// Shell script: runs `find` in `$1` with the remaining arguments.
const FIND: &str = r#"[ -d "$1" ] || { [ -e "$1" ] && exit 50; exit 41; }
cd "$1" || exit 44
shift; exec find . "$@""#;

/// Shell script: prints the given names, each followed by a NUL. After one more NUL, prints a line for each: the mode
/// in hexadecimal digits, the size and the modification time, or `gone`.
const STATES: &str = r#"if ! lines=$(stat -c '%f %s %Y' "$@" 2>/dev/null); then
  lines=$(for it; do stat -c '%f %s %Y' "$it" 2>/dev/null || echo gone; done)
fi
printf '%s\000' "$@"; printf '\000%s\n\000' "$lines""#;

/// A file or folder in the list.
struct Entry {
    /// The path relative to the listed folder.
    relative: String,
    kind: Kind,
    size: u64,
    modified: SystemTime,
}

/// Calls `each` with the entries below a folder and their modification times, sorted by name.
pub(super) fn each(
    container: &Container,
    start: &Name,
    sought: &SearchScope<'_>,
    each: &mut dyn FnMut(FoundEntry, SystemTime) -> Result<(), ToolError>,
) -> Result<usize, ToolError> {
    sought.is_wanted()?;
    let mut arguments = vec![path(start)];
    if let Some(depth) = sought.depth {
        arguments.extend(["-maxdepth".to_owned(), depth.to_string()]);
    }
    // The files with a folder's ignore rules are hidden files, so list these as well.
    let hidden: &[&str] = match sought.include_ignored {
        true => &["-name", ".git"],
        false => &["-name", ".?*", "!", "-name", ".gitignore", "!", "-name", ".ignore"],
    };
    let rest = ["-prune", "-o", "-exec", "sh", "-c", STATES, "sh", "{}", "+"];
    arguments.extend(hidden.iter().chain(&rest).map(|it| (*it).to_owned()));
    let ran = container.run(start, FIND, &arguments, None, LARGEST_LIST)?;
    if ran.output.len() as u64 > LARGEST_LIST {
        let message = format!("`{start}` has too many files below it to be listed in a container");
        return Err(ToolError::new("too_many_files", message).hint("name a folder below it"));
    }
    let (mut entries, mut missed) = entries(start, &ran)?;
    sought.is_wanted()?;
    let rules = match sought.include_ignored {
        true => None,
        false => {
            let below = entries.iter().filter(|it| it.kind == Kind::File).map(|it| &it.relative);
            Some(Rules::read(container, start, below.map(String::as_str))?)
        }
    };
    missed += usize::from(ran.status.code() != Some(0)) * ran.errors.lines().count();
    // This order has each folder before its contents.
    entries.sort_by(|one, two| one.relative.split('/').cmp(two.relative.split('/')));
    let mut ignored: Option<String> = None;
    for Entry { relative, kind, size, modified } in entries {
        if ignored.as_ref().is_some_and(|folder| relative.starts_with(folder.as_str())) {
            continue;
        }
        if rules.as_ref().is_some_and(|it| it.ignores(&relative, kind == Kind::Folder)) {
            if kind == Kind::Folder {
                ignored = Some(format!("{relative}/"));
            }
            continue;
        }
        sought.is_wanted()?;
        each(FoundEntry { name: start.below(&relative), relative, kind, size }, modified)?;
    }
    Ok(missed)
}

/// Calls `worker` with each file below a folder.
pub(super) fn files(
    container: &Container,
    start: &Name,
    sought: &SearchScope<'_>,
    mut worker: Worker<'_>,
) -> Result<usize, ToolError> {
    each(container, start, sought, &mut |found, modified| {
        let FoundEntry { name, relative, kind, .. } = found;
        if kind == Kind::File {
            worker(ListedEntry { name, relative, modified: Some(modified) });
        }
        Ok(())
    })
}

/// Returns the modification time of the entry with this name.
pub(super) fn modified(
    container: &Container,
    name: &Name,
) -> Result<Option<SystemTime>, ToolError> {
    let ran = container.run(name, STATES, &[path(name)], None, 8192)?;
    let (entries, _) = read(&ran.output);
    match entries.first() {
        Some(entry) => Ok(Some(entry.modified)),
        None => Err(refused(name, &ran)),
    }
}

/// Returns the entries of a list without the folder itself, and how many names were not valid text or had been removed.
fn entries(start: &Name, ran: &Ran) -> Result<(Vec<Entry>, usize), ToolError> {
    if ran.status.code() == Some(code::NOT_A_FOLDER) {
        let message = format!("`{start}` is a file, expected a folder");
        return Err(ToolError::new("not_a_directory", message));
    }
    let (mut entries, missed) = read(&ran.output);
    // `find` also fails if it cannot read a folder below the start folder. If the start folder exists, it is in the
    // list in spite of the error.
    let Some(own) = entries.iter().position(|it| it.relative.is_empty()) else {
        return Err(refused(start, ran));
    };
    entries.remove(own);
    Ok((entries, missed))
}

/// Parses the output of `STATES`. Pure.
fn read(output: &[u8]) -> (Vec<Entry>, usize) {
    let (mut entries, mut missed) = (Vec::new(), 0);
    let mut parts = output.split(|byte| *byte == 0);
    loop {
        let names: Vec<&[u8]> = parts.by_ref().take_while(|part| !part.is_empty()).collect();
        let Some(lines) = parts.next().filter(|_| !names.is_empty()) else {
            return (entries, missed);
        };
        for (name, line) in names.iter().zip(lines.split(|byte| *byte == b'\n')) {
            let entry = std::str::from_utf8(name).ok().zip(std::str::from_utf8(line).ok());
            match entry.and_then(|(name, line)| Entry::parse(name, line)) {
                Some(entry) => entries.push(entry),
                None => missed += 1,
            }
        }
    }
}

impl Entry {
    fn parse(name: &str, line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let mode = u32::from_str_radix(words.next()?, 16).ok()?;
        let (size, modified) = (words.next()?.parse().ok()?, words.next()?.parse::<i64>().ok()?);
        let kind = match mode & 0o170_000 {
            0o100_000 => Kind::File,
            0o040_000 => Kind::Folder,
            _ => Kind::Other,
        };
        let relative = name.strip_prefix("./").unwrap_or_default().to_owned();
        let distance = Duration::from_secs(modified.unsigned_abs());
        // Files may be older than 1970, and a program in the container may report any number.
        let modified = match modified {
            0.. => UNIX_EPOCH.checked_add(distance)?,
            _ => UNIX_EPOCH.checked_sub(distance)?,
        };
        Some(Self { relative, kind, size, modified })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_a_file_may_be_any_number() {
        let modified = |time: &str| Some(Entry::parse("./a", &format!("81a4 5 {time}"))?.modified);
        assert_eq!(modified("7"), Some(UNIX_EPOCH + Duration::from_secs(7)));
        assert_eq!(modified("-7"), Some(UNIX_EPOCH - Duration::from_secs(7)));
        assert_eq!(modified("18446744073709551615"), None);
        // The largest number has a time or none; it ends no process.
        modified(&i64::MAX.to_string());
        modified(&i64::MIN.to_string());
    }
}
