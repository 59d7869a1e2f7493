//! The possible current folders of a line, and the files that the line names relative to them.

use std::rc::Rc;

use super::arguments::{Kind, Word};
use super::{Doubt, Prover, Result};
use crate::shell::paths;
use crate::shell::secrets::{Wildcards, may_be_secret};

/// The most possible folders that are tracked.
const MOST: usize = 8;

/// Files of the operating system without personal data.
const PUBLIC: [&str; 16] = [
    "/dev/null",
    "/dev/stdin",
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/issue",
    "/etc/redhat-release",
    "/usr/lib/os-release",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/proc/filesystems",
    "/proc/stat",
    "/proc/cmdline",
];

/// The possible current folders of the line, relative to the workspace. There may be several, because a `cd` can fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folders(Rc<[String]>);

impl Folders {
    /// Makes the set with only the folder in which a line begins.
    pub(super) fn start(folder: &str) -> Self {
        Self(Rc::from([paths::join("", folder)]))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn or(self, other: &Self) -> Self {
        let more = other.0.iter().filter(|it| !self.0.contains(it));
        match more.clone().next() {
            None => self,
            Some(_) => Self(self.0.iter().chain(more).cloned().collect()),
        }
    }

    pub(super) fn are_too_many(&self) -> bool {
        self.0.len() > MOST
    }

    /// Returns the possible folders after a `cd` that succeeds.
    pub(super) fn change_to(&self, to: &Word<'_>) -> Result<Self> {
        let text = to.literal()?;
        if text.is_empty() || text == "-" || text.starts_with('~') {
            return Err(to.doubt("is a folder that is not known"));
        }
        let folders: Rc<[String]> = self.0.iter().map(|it| paths::join(it, text)).collect();
        if folders.iter().any(|it| paths::is_outside(it)) {
            return Err(to.doubt("lies outside of the folder"));
        }
        Ok(Self(folders))
    }

    /// Returns whether a name may be that of the workspace itself.
    pub(super) fn is_root(&self, name: &str) -> bool {
        self.0.iter().any(|it| paths::join(it, name).is_empty())
    }
}

impl<'a> Prover<'a, '_> {
    /// Checks a file that the line reads or whose name it shows. The file has to be in the workspace, or be one of the
    /// [`PUBLIC`] files. If it is read, its name must not indicate secrets; for a pattern that may match secrets, a
    /// check of the matching files is added instead.
    pub(super) fn file(&mut self, word: &Word<'a>, folders: &Folders, is_read: bool) -> Result<()> {
        let text: &str = &word.text;
        let wildcards = match word.kind {
            Kind::Literal => Wildcards::None,
            Kind::Pattern => Wildcards::Shell,
            Kind::Found => Wildcards::All,
            Kind::Any => return Err(word.doubt("gives arguments that are not known")),
        };
        if text.starts_with(['@', '+']) {
            return Err(word.doubt("may be more than the name of a file"));
        }
        // In some shells, the pattern `.*` also matches `..`.
        let fits_parent = |part: &str| part.starts_with('.') && part.contains(['*', '?', '[']);
        let leads_up = text.split('/').any(|it| fits_parent(it) || it == "..");
        if wildcards == Wildcards::Shell && leads_up {
            return Err(word.doubt("may fit the folder above"));
        }
        for base in folders.all() {
            let whole = paths::join(base, text);
            if PUBLIC.contains(&whole.as_str()) && wildcards == Wildcards::None {
                continue;
            }
            if paths::is_outside(&whole) {
                return Err(word.doubt("lies outside of the folder"));
            }
            if is_read
                && may_be_secret(&whole, wildcards)
                && !self.look_at_pattern(word, folders, true)
            {
                return Err(word.doubt("may hold secrets"));
            }
            self.reads.push(whole);
        }
        Ok(())
    }
}

/// The possible current folders after a statement.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    /// The folders if the statement succeeds.
    pub(super) good: Folders,
    /// The folders if the statement fails.
    pub(super) bad: Folders,
}

impl Ends {
    pub(super) fn at(folders: &Folders) -> Self {
        Self { good: folders.clone(), bad: folders.clone() }
    }

    /// Returns the folders in which the next statement may begin.
    pub(super) fn either(self) -> Result<Folders, ()> {
        let folders = self.good.or(&self.bad);
        if folders.are_too_many() { Err(()) } else { Ok(folders) }
    }
}

impl Doubt {
    pub(super) fn too_many(range: std::ops::Range<usize>) -> Self {
        Self { reason: "leads to too many folders".into(), range }
    }
}
