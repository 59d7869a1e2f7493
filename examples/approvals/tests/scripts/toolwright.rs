//! The command `toolwright`, which is built where it is not as its sources are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Returns the path of the binary. `cargo test` has built it for its own tests; where it was asked for this package alone, it
/// is built beside that one, so that neither replaces the other.
pub fn binary() -> &'static Path {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
        let profile = Path::new(env!("CARGO_BIN_EXE_approvals")).parent().unwrap();
        let built = profile.join("toolwright");
        if is_newer_than_sources(&built) { built } else { build(profile.file_name().unwrap()) }
    });
    &BINARY
}

/// Compares the binary with the sources of every crate that it may be made of; cargo lists those only of what it was asked
/// to build.
fn is_newer_than_sources(binary: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|it| it.modified()).ok();
    let Some(built) = changed(binary) else { return false };
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut folders: Vec<_> = ["command", "extensions", "macros", "runtime", "toolwright"]
        .map(|folder| workspace.join(folder))
        .into();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let is_beside = path.ends_with("tests") || path.ends_with("examples");
            let is_beside = is_beside && !folder.ends_with("src");
            if path.is_dir() && !is_beside {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs" || it == "toml")
                && changed(&path).is_none_or(|changed| changed > built)
            {
                return false;
            }
        }
    }
    true
}

fn build(profile: &OsStr) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let beside = target.join("beside");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--package", "toolwright-command", "--bin", "toolwright"])
        .arg("--target-dir")
        .arg(&beside)
        .env("CARGO_BUILD_BUILD_DIR", target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile == "release" {
        cargo.arg("--release");
    }
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    beside.join(profile).join("toolwright")
}
