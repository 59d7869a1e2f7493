//! Applies the history of this repository: each change of a file in its last commits, as git writes it, is a call of
//! `apply_patch` on the file before, and must give the file after. The change that git writes the other way round must give
//! the file before again.
//!
//! ```sh
//! cargo run -p toolwright-toolbox --example own-history -- --commits 200
//! ```

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::json;
use toolwright::{Call, Executor, Registry};
use toolwright_toolbox::{APPLY_PATCH, Workspace};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// What git has for no commit at all.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns how many changes did not give what git has.
async fn run() -> Fallible<usize> {
    let commits = commits()?;
    let (mut applied, mut left_out, mut mismatches) = (0, 0, 0);
    for commit in &commits {
        let parent = git(["rev-parse", "--verify", "--quiet", &format!("{commit}^1")]);
        let parent = parent.map_or(EMPTY_TREE.to_owned(), |it| text(&it).trim().to_owned());
        for change in changes(&parent, commit)? {
            if !change.is_text() {
                left_out += 1;
                continue;
            }
            if let Err(error) = change.is_applied_and_undone().await {
                mismatches += 1;
                println!("mismatch in {commit} {}: {error}", change.new.name);
            }
            applied += 1;
        }
    }
    println!(
        "{applied} diffs of the last {} commits of this repository applied and undone, {left_out} left out (binary, links); \
         mismatches: {mismatches}",
        commits.len()
    );
    Ok(mismatches)
}

/// The last commits that this clone has, as many as the command line asks for.
fn commits() -> Fallible<Vec<String>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = match arguments.as_slice() {
        [] => 200,
        [option, count] if option == "--commits" => count
            .parse::<usize>()
            .map_err(|_| format!("`--commits` is `{count}`, expected a number"))?,
        _ => return Err("expected `--commits N`, or nothing for 200 of them".into()),
    };
    let listed = git(["rev-list", "-n", &count.to_string(), "HEAD"])?;
    let commits: Vec<String> = text(&listed).lines().map(str::to_owned).collect();
    if commits.is_empty() {
        return Err("the repository has no commits".into());
    }
    Ok(commits)
}

/// A file in a commit; of one that does not exist, the other side's name.
struct Side {
    name: String,
    mode: String,
    blob: String,
}

/// One file that a commit changes.
struct Change {
    old: Side,
    new: Side,
    patch: Vec<u8>,
    back: Vec<u8>,
}

fn changes(parent: &str, commit: &str) -> Fallible<Vec<Change>> {
    let diff = |options: &[&str], from: &str, to: &str| {
        let fixed = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "--no-abbrev"];
        git(fixed.iter().chain(options).chain(&[from, to]))
    };
    let raw = text(&diff(&["--raw", "-z"], parent, commit)?);
    let patch = diff(&["--patch", "--src-prefix=a/", "--dst-prefix=b/"], parent, commit)?;
    let mut patches = pieces(&patch).into_iter();
    let mut fields = raw.split('\0');
    let mut changes = Vec::new();
    while let Some(facts) = fields.next().and_then(|it| it.strip_prefix(':')) {
        let facts: Vec<&str> = facts.split(' ').collect();
        let [old_mode, new_mode, old_blob, new_blob, kind] = facts[..] else {
            return Err(format!("git lists `{facts:?}`").into());
        };
        let old_name = fields.next().ok_or("git lists no name")?;
        let new_name = match kind.starts_with(['R', 'C']) {
            true => fields.next().ok_or("git lists no new name")?,
            false => old_name,
        };
        let side = |name: &str, mode: &str, blob: &str| Side {
            name: name.to_owned(),
            mode: mode.to_owned(),
            blob: blob.to_owned(),
        };
        let (old, new) = (side(old_name, old_mode, old_blob), side(new_name, new_mode, new_blob));
        let patch = patches.next().ok_or("git writes fewer patches than it lists files")?;
        // Where a file becomes a link, git writes that in two.
        if (old_mode == "120000") != (new_mode == "120000") && kind == "T" {
            patches.next();
        }
        changes.push(Change { old, new, patch, back: Vec::new() });
    }
    let back = diff(&["--patch", "--src-prefix=a/", "--dst-prefix=b/", "-R"], parent, commit)?;
    let mut backs = pieces(&back);
    for change in &mut changes {
        let names = [&change.old.name, &change.new.name].map(|name| name.as_bytes().to_vec());
        let found = backs.iter().position(|piece| {
            let first = piece.split(|byte| *byte == b'\n').next().unwrap_or_default();
            names.iter().all(|name| first.windows(name.len()).any(|part| part == name))
        });
        change.back = found.map(|found| backs.remove(found)).unwrap_or_default();
    }
    Ok(changes)
}

impl Change {
    fn is_text(&self) -> bool {
        let is_file = |side: &Side| matches!(side.mode.as_str(), "100644" | "100755" | "000000");
        let is_binary = self.patch.windows(14).any(|part| part == b"\nBinary files ");
        is_file(&self.old)
            && is_file(&self.new)
            && !is_binary
            && std::str::from_utf8(&self.patch).is_ok()
    }

    async fn is_applied_and_undone(&self) -> Fallible<()> {
        let folder = tempfile::tempdir()?;
        self.old.put(folder.path())?;
        let executor = Executor::builder(Registry::of([APPLY_PATCH])?)
            .unrestricted()
            .service(Workspace::open(folder.path())?)
            .build()?;
        for (patch, expected) in [(&self.patch, &self.new), (&self.back, &self.old)] {
            let input = json!({"patch": text(patch)}).to_string();
            let answer = executor.call(&Call::new("apply_patch", input.as_str())).await;
            if answer.is_error() {
                return Err(answer.text().into());
            }
            expected.is_in(folder.path())?;
        }
        Ok(())
    }
}

impl Side {
    fn exists(&self) -> bool {
        self.mode != "000000"
    }

    fn content(&self) -> Fallible<Vec<u8>> {
        git(["cat-file", "blob", &self.blob])
    }

    fn put(&self, folder: &Path) -> Fallible<()> {
        if !self.exists() {
            return Ok(());
        }
        let path = folder.join(&self.name);
        fs::create_dir_all(path.parent().ok_or("a file is in no folder")?)?;
        fs::write(&path, self.content()?)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = if self.mode == "100755" { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// Whether the folder has this file with its content and mode, and no other.
    fn is_in(&self, folder: &Path) -> Fallible<()> {
        let mut found = Vec::new();
        files(folder, &mut found)?;
        let path = folder.join(&self.name);
        let expected: &[PathBuf] = if self.exists() { &[path.clone()] } else { &[] };
        if found != expected {
            return Err(format!("found {found:?}, expected {expected:?}").into());
        }
        if !self.exists() {
            return Ok(());
        }
        if fs::read(&path)? != self.content()? {
            return Err("the content is another".into());
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let is_program = path.metadata()?.permissions().mode() & 0o100 != 0;
            if is_program != (self.mode == "100755") {
                return Err("the mode is another".into());
            }
        }
        Ok(())
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> Fallible<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => files(&entry.path(), found)?,
            false => found.push(entry.path()),
        }
    }
    Ok(())
}

/// The parts of a patch, one a file.
fn pieces(patch: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            pieces.push(Vec::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.extend_from_slice(line);
        }
    }
    pieces
}

fn git(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Fallible<Vec<u8>> {
    let output = Command::new("git")
        .args(["-c", "core.quotePath=true", "-C", env!("CARGO_MANIFEST_DIR")])
        .args(arguments)
        .output()?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(text(&output.stderr).into()),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
