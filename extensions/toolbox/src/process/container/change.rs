//! Writes files of a container together: uploads each new content next to its target under a temporary name; then one
//! script checks all targets again and renames the files.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use toolwright::{ErrorClass, ToolError};

use super::Container;
use super::files::refused;
use super::script::{Ran, code, path};
use crate::workspace::{After, Before, Change, Name, WriteOutcome, changed_meanwhile, read_only};

/// The kind of the error that says that a file could not be restored.
const PARTLY_CHANGED: &str = "partly_changed";

/// How many temporary names are tried.
const MOST_NAMES: usize = 8;

/// Shell script: stores the new content of `$1` in the temporary file `$2`, which has `$3` bytes. That file gets the
/// mode of `$4` if it is given, else the mode of `$1` if that exists; `$5` is `+x` or `-x` to set or clear the
/// executable bits. The remaining arguments are the folders above, the outermost first. Prints the folders that it
/// created, and whether `$1` exists.
const STAGE: &str = r#"target=$1 new=$2 size=$3 of=$4 program=$5; shift 5
[ -L "$target" ] && exit 48
[ -d "$target" ] && exit 42
if [ -e "$target" ]; then
  [ -f "$target" ] || exit 43
  mode=$(stat -c %a "$target") || exit 49
  [ $((0$mode & 0222)) -ne 0 ] || exit 47
  echo there
else
  mode=
  for folder; do
    if [ ! -d "$folder" ]; then
      [ -e "$folder" ] && exit 50
      mkdir "$folder" || exit 49
      echo "made $folder"
    fi
  done
fi
if [ -n "$of" ]; then mode=$(stat -L -c %a "$of") || exit 41; fi
[ -e "$new" ] && exit 51
[ -z "$mode" ] || umask 077
set -C
fail() { rm -f "$new"; exit 49; }
cat >"$new" || fail
[ "$(wc -c <"$new")" -eq "$size" ] || fail
if [ -n "$program" ] && [ -z "$mode" ]; then mode=$(stat -c %a "$new") || fail; fi
case $program in
  +x) mode=$(printf %o $((0$mode | (0$mode & 0444) >> 2)));;
  -x) mode=$(printf %o $((0$mode & 07666)));;
esac
[ -z "$mode" ] || chmod "$mode" "$new" || fail"#;

/// Shell script: stores the expected content of `$1` in the temporary file `$2`, which has `$3` bytes.
const EXPECT: &str = r#"[ -f "$1" ] && [ ! -L "$1" ] || exit 46
[ -e "$2" ] && exit 51
umask 077; set -C
cat >"$2" && [ "$(wc -c <"$2")" -eq "$3" ] || { rm -f "$2"; exit 49; }"#;

/// Shell script: commits all changes. It takes five arguments for each change: `any`, `missing` or `content`; the
/// target; the temporary file with the new content, empty to remove the target; the temporary file with the expected
/// content; and a backup name for the present file. On failure, prints the index of the file.
const COMMIT: &str = r#"number=0
look() { while [ $# -gt 0 ]; do
  if [ "$1" = missing ]; then if [ -e "$2" ] || [ -L "$2" ]; then return 46; fi; fi
  if [ "$1" = content ]; then [ -f "$2" ] && [ ! -L "$2" ] && cmp -s "$2" "$4" || return 46; fi
  [ -L "$2" ] && return 48
  [ -d "$2" ] && return 42
  if [ -z "$3" ]; then
    [ -e "$2" ] || return 41
    [ -f "$2" ] || return 43
    mode=$(stat -c %a "$2") || return 49
    [ $((0$mode & 0222)) -ne 0 ] || return 47
  fi
  number=$((number + 1)); shift 5
done; }
hold() { while [ $# -gt 0 ]; do
  if [ -n "$5" ]; then ln "$2" "$5" || return 49; fi
  number=$((number + 1)); shift 5
done; }
put() { while [ $# -gt 0 ]; do
  if [ -n "$3" ]; then mv -f "$3" "$2" || return 49; else rm "$2" || return 49; fi
  number=$((number + 1)); shift 5
done; }
back() { lost=0; while [ "$number" -gt 0 ]; do
  if [ -n "$5" ]; then mv -f "$5" "$2" || lost=55; else rm "$2" || lost=55; fi
  number=$((number - 1)); shift 5
done; return "$lost"; }
clean() { while [ $# -gt 0 ]; do rm -f ${4:+"$4"} ${5:+"$5"}; shift 5; done; }
fail() { echo "$number"; exit "$1"; }
look "$@" || fail $?
number=0; hold "$@" || fail $?
number=0; put "$@" || { why=$?; failed=$number; back "$@" || why=$?; number=$failed; fail "$why"; }
clean "$@"; exit 0"#;

/// Shell script: removes files, and also empty folders, whose names end with `/`.
const DISCARD: &str = r#"for it; do case $it in
  */) rmdir "$it" 2>/dev/null;;
  *) rm -f "$it";;
esac; done; exit 0"#;

/// A change whose contents were uploaded to the container.
struct UploadedChange<'c> {
    change: &'c Change<'c>,
    /// The temporary file with the new content; empty if the target is removed.
    new: String,
    /// The temporary file with the expected content.
    expected: String,
    /// The backup name of the present file, under which it can be restored; empty if that is not needed.
    held: String,
    is_there: bool,
}

/// Temporary files and created folders in the container, in the order of their creation.
#[derive(Default)]
struct Temporary(Vec<String>);

/// Makes all changes. If one fails, takes the earlier ones back; the error `partly_changed` says that a file could not
/// be restored.
pub(super) fn change(
    container: &Container,
    changes: &[Change<'_>],
) -> Result<Vec<WriteOutcome>, ToolError> {
    let Some(first) = changes.first() else { return Ok(Vec::new()) };
    let mut temporary = Temporary::default();
    let staged = changes
        .iter()
        .map(|change| stage(container, change, changes.len() > 1, &mut temporary))
        .collect::<Result<Vec<_>, ToolError>>();
    let committed = staged.and_then(|staged| {
        commit(container, &staged)?;
        Ok(staged)
    });
    match committed {
        Ok(staged) => Ok(staged
            .iter()
            .map(|it| if it.is_there { WriteOutcome::Replaced } else { WriteOutcome::Created })
            .collect()),
        // It is unknown how far the script got, so it may still need the temporary files.
        Err(error) if error.classified() == ErrorClass::Unknown => Err(error),
        // The earlier content of a file that could not be restored is only in its backup.
        Err(error) if error.kind() == PARTLY_CHANGED => Err(error),
        Err(error) => {
            temporary.0.reverse();
            // Report the original error, even if the cleanup fails.
            let _ = container.run(first.name, DISCARD, &temporary.0, None, 4096);
            Err(error)
        }
    }
}

fn stage<'c>(
    container: &Container,
    change: &'c Change<'c>,
    may_be_undone: bool,
    temporary: &mut Temporary,
) -> Result<UploadedChange<'c>, ToolError> {
    let name = change.name;
    let (content, of, program) = match change.after {
        After::Removed => (None, None, None),
        After::Content(content) => (Some(content), None, None),
        After::WithMode { content, of, program } => (Some(content), of, program),
    };
    let mut is_there = true;
    let mut new = String::new();
    if let Some(content) = content {
        let (ran, made) = upload_content(container, name, content, temporary, |new, size| {
            let program = program.map_or("", |program| if program { "+x" } else { "-x" });
            let mut arguments =
                vec![path(name), new, size, of.map_or_else(String::new, path), program.to_owned()];
            arguments.extend(above(name));
            (STAGE, arguments)
        })?;
        let said = String::from_utf8_lossy(&ran.output);
        is_there = said.lines().any(|line| line == "there");
        new = made;
    }
    let mut expected = String::new();
    if let Before::Content(content) = change.before {
        let upload = |expected, size| (EXPECT, vec![path(name), expected, size]);
        expected = upload_content(container, name, content, temporary, upload)?.1;
    }
    let held = if may_be_undone && is_there { vacant(name) } else { String::new() };
    if !held.is_empty() {
        temporary.0.push(held.clone());
    }
    Ok(UploadedChange { change, new, expected, held, is_there })
}

/// Runs a script that stores a content under an unused temporary name.
fn upload_content(
    container: &Container,
    name: &Name,
    content: &[u8],
    temporary: &mut Temporary,
    script: impl Fn(String, String) -> (&'static str, Vec<String>),
) -> Result<(Ran, String), ToolError> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let made = vacant(name);
        let (script, arguments) = script(made.clone(), content.len().to_string());
        let ran = container.run(name, script, &arguments, Some(content), 1 << 20)?;
        // A folder's name ends with a slash. Folders were created first, so they are removed last.
        let said = String::from_utf8_lossy(&ran.output);
        let folders = said.lines().filter_map(|line| line.strip_prefix("made "));
        temporary.0.extend(folders.map(|folder| format!("{folder}/")));
        match ran.status.code() {
            // A container that reports every name as taken does not run the script.
            Some(code::TAKEN) if attempts < MOST_NAMES => {}
            Some(0) => {
                temporary.0.push(made.clone());
                return Ok((ran, made));
            }
            _ => return Err(unwritten(name, &ran)),
        }
    }
}

fn commit(container: &Container, staged: &[UploadedChange<'_>]) -> Result<(), ToolError> {
    let Some(first) = staged.first() else { return Ok(()) };
    let arguments: Vec<String> = staged
        .iter()
        .flat_map(|it| {
            let before = match it.change.before {
                Before::Any => "any",
                Before::Missing => "missing",
                Before::Content(_) => "content",
            };
            let target = path(it.change.name);
            [before.to_owned(), target, it.new.clone(), it.expected.clone(), it.held.clone()]
        })
        .collect();
    let ran = container.run(first.change.name, COMMIT, &arguments, None, 4096)?;
    if ran.is_done() {
        return Ok(());
    }
    let number: Option<usize> = String::from_utf8_lossy(&ran.output).trim().parse().ok();
    let Some(failed) = number.and_then(|number| staged.get(number)) else {
        // A script that fails in an orderly way prints the index of a file. This script did not, so its outcome is
        // unknown.
        return Err(ran.failed(first.change.name).class(ErrorClass::Unknown));
    };
    Err(unwritten(failed.change.name, &ran))
}

fn unwritten(name: &Name, ran: &Ran) -> ToolError {
    match ran.status.code() {
        Some(code::CHANGED) => changed_meanwhile(name),
        Some(code::READ_ONLY) => read_only(name),
        Some(code::PARTLY) => {
            let message = format!(
                "{}; not every file could be restored: its earlier content is in a file `.toolwright-….tmp` beside it",
                ran.failed(name)
            );
            ToolError::new(PARTLY_CHANGED, message)
        }
        _ => refused(name, ran),
    }
}

/// Returns the folders above a file, the outermost first.
fn above(name: &Name) -> Vec<String> {
    let text = name.as_str();
    text.match_indices('/').map(|(end, _)| format!("./{}", &text[..end])).collect()
}

/// Returns a name next to the file that no other call of this process uses.
fn vacant(name: &Name) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Processes on several machines may have the same id and write to the same container, so the name has the start
    // time too.
    static BEGAN: LazyLock<u128> = LazyLock::new(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
    });
    let (process, began) = (std::process::id(), *BEGAN);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = format!(".toolwright-{process}-{began:x}-{number}.tmp");
    match name.as_str().rsplit_once('/') {
        Some((folder, _)) => format!("./{folder}/{temporary}"),
        None => format!("./{temporary}"),
    }
}
