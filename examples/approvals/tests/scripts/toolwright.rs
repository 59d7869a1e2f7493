//! The command `toolwright`, which is built where it is not there yet.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The binary. It is put beside the one that its own tests run, so that neither replaces the other; what both are made
/// of is compiled once.
pub fn binary() -> &'static Path {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(build);
    &BINARY
}

fn build() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let beside = target.join("beside");
    let profile = Path::new(env!("CARGO_BIN_EXE_approvals")).parent().unwrap().file_name().unwrap();
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
