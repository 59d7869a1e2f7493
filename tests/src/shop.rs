//! The programs of the tests of the command line, `tests/examples/*.rs`, built where they are not as their sources are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, Once};
use std::time::SystemTime;

/// The source of a program.
fn source(binary: &Path) -> String {
    let name = binary.file_name().and_then(|name| name.to_str()).unwrap();
    format!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/{}.rs"), name)
}

/// A command that runs an example of this package, with pipes. Each is brought up to date once.
pub fn example(name: &'static str) -> Command {
    static EXAMPLES: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut examples = EXAMPLES.lock().unwrap();
    let mut command = Command::new(examples.entry(name).or_insert_with(|| up_to_date(name)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A command that runs the shop, with pipes.
pub fn shop() -> Command {
    #[cfg(target_os = "linux")]
    {
        static INTERRUPTS: Once = Once::new();
        INTERRUPTS.call_once(interrupts_are_not_ignored);
    }
    example("shop")
}

/// Cargo builds the examples of a package beside its tests, but not where it was asked for the tests alone (`--lib`).
fn up_to_date(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().and_then(Path::parent).unwrap();
    let built = profile.join("examples").join(name);
    if is_newer_than_its_sources(&built) { built } else { build(profile, name) }
}

/// By the sources that cargo lists beside the binary.
fn is_newer_than_its_sources(binary: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|it| it.modified()).ok();
    let listed = std::fs::read_to_string(binary.with_extension("d")).unwrap_or_default();
    let sources = sources(&listed);
    // They may be those of another folder, where `target` was copied from it.
    let Some(built) = changed(binary).filter(|_| sources.contains(&source(binary))) else {
        return false;
    };
    let is_older = |time: SystemTime| time <= built;
    sources.iter().all(|source| changed(Path::new(source)).is_some_and(is_older))
}

/// What follows the target of a makefile's rule; a space in a path has a backslash before it.
fn sources(rule: &str) -> Vec<String> {
    let (_, listed) =
        rule.lines().next().and_then(|line| line.split_once(": ")).unwrap_or_default();
    let listed = listed.replace("\\ ", "\0");
    listed.split_whitespace().map(|path| path.replace('\0', " ")).collect()
}

/// Beside the one that cargo builds with all tests, whose features may be others, so that neither replaces the other.
fn build(profile: &Path, example: &str) -> PathBuf {
    let target = profile.parent().unwrap();
    let (beside, name) = (target.join("beside"), profile.file_name().unwrap());
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--package", "tests", "--example", example, "--target-dir"])
        .arg(&beside)
        .env("CARGO_BUILD_BUILD_DIR", target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if name != "debug" {
        cargo.arg("--profile").arg(name);
    }
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    beside.join(name).join("examples").join(example)
}

/// Where the tests run in the background of a script (`nohup cargo test &`), interrupts are ignored, and a program
/// inherits that. What a handler takes is back at its default in a child.
#[cfg(target_os = "linux")]
fn interrupts_are_not_ignored() {
    use tokio::signal::unix::{SignalKind, signal};

    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    let number = u32::try_from(SignalKind::interrupt().as_raw_value()).unwrap();
    if ignored >> (number - 1) & 1 == 1 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        // The handler stays when nobody listens any more.
        runtime.block_on(async { drop(signal(SignalKind::interrupt()).unwrap()) });
    }
}

#[test]
fn the_sources_of_a_binary_are_read_from_the_rule_of_a_makefile() {
    assert_eq!(
        sources("/t/shop: /a/one.rs /b\\ c/two.rs\n\n/a/one.rs:\n"),
        ["/a/one.rs", "/b c/two.rs"]
    );
    assert_eq!(sources(""), <[&str; 0]>::default());
}

#[test]
fn a_binary_counts_only_while_it_is_newer_than_every_source_that_it_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (binary, other) = (path("shop"), path("other.rs"));
    assert!(!is_newer_than_its_sources(&binary), "it is not there");
    std::fs::write(&other, "").unwrap();
    std::fs::write(&binary, "").unwrap();
    let list = |sources: &str| {
        let quoted = |path: &str| path.replace(' ', "\\ ");
        let rule = format!(
            "{}: {} {}\n",
            binary.display(),
            quoted(sources),
            quoted(&other.display().to_string())
        );
        std::fs::write(path("shop.d"), rule).unwrap();
    };
    let touch = |path: &Path, seconds: u64| {
        let time = SystemTime::now() + std::time::Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    };
    list(&source(&binary));
    touch(&binary, 10);
    assert!(is_newer_than_its_sources(&binary));
    touch(&other, 20);
    assert!(!is_newer_than_its_sources(&binary), "a source has changed since");
    touch(&binary, 30);
    assert!(is_newer_than_its_sources(&binary));
    std::fs::remove_file(&other).unwrap();
    assert!(!is_newer_than_its_sources(&binary), "a source is gone");
    std::fs::write(&other, "").unwrap();
    list("/elsewhere/examples/shop.rs");
    assert!(!is_newer_than_its_sources(&binary), "it was made of other sources");
}
