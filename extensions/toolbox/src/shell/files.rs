//! Finds the files that a command line names, for the footprint of a call.

use toolwright::Danger;

use super::classify::Classification;
use super::commands::Commands;
use super::table::CommandTable;

/// Returns the files that a line reads and writes if it begins in this folder of the workspace. A safe line reads this
/// folder and the files that it names, and writes none. Any other line may read and write every file, which is a single
/// `None`.
pub(crate) fn files_of(
    text: &str,
    table: &CommandTable,
    folder: &str,
) -> (Vec<Option<String>>, Vec<Option<String>>) {
    let commands = Commands::parse_by(text, table);
    let found = Classification::of(&commands, text, folder, table);
    if found.danger() > Danger::Safe {
        return (vec![None], vec![None]);
    }
    let files = found.reads().iter().map(|it| name_of(it));
    let mut reads = vec![Some(folder.to_owned())];
    for file in files {
        if !reads.contains(&file) {
            reads.push(file);
        }
    }
    (reads, Vec::new())
}

/// Returns the name of a file, or the folder in which a pattern is expanded; `None` if only the shell knows it.
fn name_of(path: &str) -> Option<String> {
    if path.starts_with('~') || path.contains('$') {
        return None;
    }
    let Some(at) = path.find(['*', '?', '[']) else {
        return Some(if path.is_empty() { ".".to_owned() } else { path.to_owned() });
    };
    let folder = path[..at].rsplit_once('/').map(|(folder, _)| folder);
    Some(match folder {
        None => ".".to_owned(),
        Some("") => "/".to_owned(),
        Some(folder) => folder.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, folder: &str) -> Vec<Option<String>> {
        let (reads, writes) = files_of(text, CommandTable::standard(), folder);
        assert_eq!(writes, []);
        reads
    }

    #[test]
    fn a_safe_line_names_what_it_reads_and_any_other_may_touch_everything() {
        let some =
            |names: &[&str]| names.iter().map(|it| Some((*it).to_owned())).collect::<Vec<_>>();
        assert_eq!(read("ls", "."), some(&["."]));
        assert_eq!(read("cat a/../b < c", "sub"), some(&["sub", "sub/c", "sub/b"]));
        assert_eq!(read("cd sub && cat x", "."), some(&[".", "sub/x"]));
        assert_eq!(read("grep -rn /etc/passwd src", "."), some(&[".", "src"]));
        assert_eq!(read("cat src/h*.rs", "."), some(&[".", "src"]));
        assert_eq!(read("tar tf a.tar", "sub"), some(&["sub", "sub/a.tar"]));
        assert_eq!(files_of("cat ../x", CommandTable::standard(), "."), (vec![None], vec![None]));
        assert_eq!(files_of("touch a", CommandTable::standard(), "."), (vec![None], vec![None]));
    }
}
