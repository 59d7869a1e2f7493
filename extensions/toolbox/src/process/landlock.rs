//! A sandbox by Landlock, the kernel's access rules: a process applies the rules to itself, and then executes the program.
//!
//! Landlock rules can only grant access, and a rule for a folder applies to everything below it. To hide a path, the
//! folders above it therefore get no rule. Instead, each of their other entries gets one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ::landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    capability_is_in_bounding_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits,
};

use super::executors::{ArgumentVector, ProcessRequest};
use super::supervisor::Supervisor;

/// The argument that makes this program apply the rules and execute another program.
pub(super) const MARK: &str = "--toolwright-confine";

/// The argument that separates the rules from the program.
const END: &str = "--";

/// The argument that allows the network.
const NETWORK: &str = "--network";

/// The argument that forbids all writes, except to devices.
const ONLY_READS: &str = "--only-reads";

/// The Landlock version that supports all needed restrictions: files, TCP, signals and abstract sockets.
const VERSION: ABI = ABI::V6;

/// The devices to which every program may write.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// The restrictions of a program.
pub(super) struct Rules<'a> {
    pub(super) hidden: &'a [PathBuf],
    pub(super) has_network: bool,
    pub(super) only_reads: bool,
}

/// Returns the argument vector that runs a program under these rules.
pub(super) fn arguments(
    supervisor: &Supervisor,
    request: &ProcessRequest<'_>,
    rules: &Rules<'_>,
) -> ArgumentVector {
    let mut vector: ArgumentVector =
        vec![supervisor.path().into(), MARK.into(), request.root.into()];
    vector.extend(rules.hidden.iter().map(Into::into));
    vector.extend(rules.has_network.then(|| NETWORK.into()));
    vector.extend(rules.only_reads.then(|| ONLY_READS.into()));
    vector.push(END.into());
    vector.extend(request.arguments.iter().cloned());
    vector
}

/// Applies the rules to this process and executes the program. Returns only on failure, with the error.
pub(super) fn confine(arguments: &[OsString]) -> io::Error {
    let Some(end) = arguments.iter().position(|it| it == END) else {
        return io::ErrorKind::InvalidInput.into();
    };
    let (rules, program) = (&arguments[..end], &arguments[end + 1..]);
    let ([root, hidden @ ..], [program, rest @ ..]) = (rules, program) else {
        return io::ErrorKind::InvalidInput.into();
    };
    let is_flag = |it: &OsString| it == NETWORK || it == ONLY_READS;
    let has = |flag: &str| hidden.iter().any(|it| it == flag);
    let (has_network, only_reads) = (has(NETWORK), has(ONLY_READS));
    let hidden: Vec<PathBuf> = hidden.iter().filter(|it| !is_flag(it)).map(PathBuf::from).collect();
    let rules = Rules { hidden: &hidden, has_network, only_reads };
    if let Err(error) = without_capabilities() {
        return error.into();
    }
    match restrict(Path::new(root), &rules) {
        Ok(()) => Command::new(program).args(rest).exec(),
        Err(error) => io::Error::other(error),
    }
}

/// Drops all capabilities of root permanently, because with some of them a process could inspect others in spite of the
/// rules.
fn without_capabilities() -> rustix::io::Result<()> {
    let held = capabilities(None)?;
    if held.permitted.is_empty() && held.inheritable.is_empty() {
        return Ok(());
    }
    for one in CapabilitySet::all().iter() {
        // Capabilities that this kernel does not have are skipped.
        if capability_is_in_bounding_set(one).unwrap_or(false) {
            remove_capability_from_bounding_set(one)?;
        }
    }
    let no_root = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
    set_capabilities_secure_bits(no_root)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

fn restrict(root: &Path, held: &Rules<'_>) -> Result<(), RulesetError> {
    let hidden: Vec<&Path> = held.hidden.iter().map(PathBuf::as_path).collect();
    let own =
        if held.only_reads { AccessFs::from_read(VERSION) } else { AccessFs::from_all(VERSION) };
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?;
    if !held.has_network {
        rules = rules.handle_access(AccessNet::from_all(VERSION))?;
    }
    let shared = if held.only_reads { Vec::new() } else { shared(&hidden, &std::env::temp_dir()) };
    let devices: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let status = rules
        .create()?
        .add_rules(path_beneath_rules(readable(&hidden), AccessFs::from_read(VERSION)))?
        .add_rules(path_beneath_rules(shared, AccessFs::from_all(VERSION)))?
        .add_rules(path_beneath_rules([root], own))?
        .add_rules(path_beneath_rules(DEVICES, devices))?
        .restrict_self()?;
    debug_assert!(status.no_new_privs, "the rules hold only with it");
    Ok(())
}

/// Returns the folders for temporary files that neither contain something hidden nor lie in it. A rule for a link would
/// apply to its target, so this returns the real paths.
fn shared(hidden: &[&Path], temporary: &Path) -> Vec<PathBuf> {
    let real = [Path::new("/tmp"), temporary].into_iter().filter_map(|it| it.canonicalize().ok());
    let is_open = |it: &PathBuf| {
        !hidden.iter().any(|hidden| hidden.starts_with(it) || it.starts_with(hidden))
    };
    real.filter(is_open).collect()
}

/// Returns the topmost files and folders that are neither hidden nor contain something hidden.
fn readable(hidden: &[&Path]) -> Vec<PathBuf> {
    let (mut found, mut looked_at) = (Vec::new(), vec![PathBuf::from("/")]);
    while let Some(path) = looked_at.pop() {
        if hidden.contains(&path.as_path()) {
            continue;
        }
        if !hidden.iter().any(|it| it.starts_with(&path)) {
            found.push(path);
            continue;
        }
        // A folder that cannot be listed is not readable anyway. Links are skipped, because a rule for a link would apply to
        // its target.
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        looked_at.extend(
            entries
                .filter(|it| it.file_type().is_ok_and(|it| !it.is_symlink()))
                .map(|it| it.path()),
        );
    }
    found
}

/// Returns whether the argument is [`MARK`].
pub(super) fn is_asked_for(argument: Option<&OsStr>) -> bool {
    argument == Some(OsStr::new(MARK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_something_hidden_is_readable_and_what_is_above_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        for name in ["a/secret", "a/open", "b"] {
            fs::create_dir_all(root.join(name)).expect("made");
        }
        std::os::unix::fs::symlink(root.join("a/secret"), root.join("way")).expect("made");
        let secret = root.join("a/secret");
        let found = readable(&[&secret]);
        assert!(found.contains(&root.join("a/open")) && found.contains(&root.join("b")));
        for not in [root.join("a"), secret, root.join("way"), PathBuf::from("/"), root] {
            assert!(!found.contains(&not), "{}", not.display());
        }
        assert_eq!(readable(&[]), [PathBuf::from("/")]);
    }

    #[test]
    fn a_folder_for_temporary_files_that_a_link_leads_to_is_not_shared_if_something_hidden_is_there()
     {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let (real, link) = (root.join("data/scratch"), root.join("scratch"));
        fs::create_dir_all(real.join("app")).expect("made");
        std::os::unix::fs::symlink(&real, &link).expect("made");
        assert!(shared(&[], &link).contains(&real));
        for hidden in [real.join("app"), real.clone(), root.join("data")] {
            assert!(!shared(&[&hidden], &link).contains(&real), "{}", hidden.display());
        }
    }
}
