//! Writes a generated package to disk, and runs cargo on it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::source::{PREFIX, Source};

/// The cargo command.
#[derive(Clone, Copy)]
pub enum Verb {
    Check,
    Build,
}

impl Verb {
    pub fn name(self) -> &'static str {
        match self {
            Verb::Check => "check",
            Verb::Build => "build",
        }
    }
}

/// One contestant's package; all packages share a target directory.
pub struct Package {
    directory: PathBuf,
    target: PathBuf,
}

impl Package {
    /// Writes the package under `directory`, with the workspace's lock file, if there is one.
    pub fn write(directory: &Path, name: &str, source: &Source) -> Result<Self> {
        let package = Self { directory: directory.join(name), target: directory.join("target") };
        fs::create_dir_all(package.directory.join("src"))?;
        fs::create_dir_all(package.directory.join("examples"))?;
        package.file("Cargo.toml", &source.manifest(name))?;
        package.file("src/lib.rs", &source.library)?;
        package.file("examples/prove.rs", &source.proof)?;
        for lock in lock_files() {
            if lock.exists() {
                fs::copy(&lock, package.directory.join("Cargo.lock"))?;
                break;
            }
        }
        Ok(package)
    }

    /// Builds all dependencies in both modes, and runs the proof. Returns what the crate lists and answers.
    pub fn prepare(&self) -> Result<Value> {
        self.cargo(&["check"])?;
        self.cargo(&["build"])?;
        let proof = self.cargo(&["run", "--example", "prove"])?;
        serde_json::from_slice(&proof.stdout).context("reading what the proof printed")
    }

    /// Returns the wall time of compiling only this package.
    pub fn time(&self, verb: Verb) -> Result<Duration> {
        // A modification time after the last build makes cargo compile the package again.
        File::options()
            .append(true)
            .open(self.directory.join("src/lib.rs"))?
            .set_modified(SystemTime::now())?;
        let start = Instant::now();
        let output = self.cargo(&[verb.name()])?;
        let took = start.elapsed();
        if !String::from_utf8_lossy(&output.stderr).contains(PREFIX) {
            bail!("cargo {} found nothing to do", verb.name());
        }
        Ok(took)
    }

    /// Returns the wall time of `cargo build` with nothing to do.
    pub fn time_nothing(&self) -> Result<Duration> {
        self.cargo(&["build"])?;
        let start = Instant::now();
        self.cargo(&["build"])?;
        Ok(start.elapsed())
    }

    fn cargo(&self, arguments: &[&str]) -> Result<Output> {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .stdin(Stdio::null())
            .output()
            .context("starting cargo")?;
        if !output.status.success() {
            bail!(
                "cargo {} failed in {}\n{}",
                arguments.join(" "),
                self.directory.display(),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(output)
    }

    fn file(&self, path: &str, text: &str) -> Result<()> {
        let path = self.directory.join(path);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }
}

/// Returns the workspace's lock file, and this crate's own for use outside of the workspace.
fn lock_files() -> [PathBuf; 2] {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    [here.join("../Cargo.lock"), here.join("Cargo.lock")]
}
