//! The list of hosts that a person has allowed.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{ErrorClass, ToolError};

use super::target::Site;

/// The largest file with a list of hosts, in bytes.
const LARGEST: u64 = 1 << 20;

/// The hosts whose pages are fetched without asking a person: the service of [`web_fetch`](crate::web_fetch) and
/// [`allow_host`](crate::allow_host).
///
/// In a file, each line has a host, such as `docs.rs`, with a port unless it is the default one; `#` begins a comment.
/// Several processes may share a file. If the file cannot be read, or a line is not a valid host, a person is asked
/// about every fetch.
///
/// ```
/// use toolwright_toolbox::AllowList;
///
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("hosts");
/// let hosts = AllowList::file(&file);
/// assert!(!hosts.allows("https://docs.rs/tokio")?);
/// hosts.add("Docs.rs")?;
/// assert!(hosts.allows("https://docs.rs/tokio")?);
/// assert!(!hosts.allows("https://docs.rs:8443/tokio")?);
/// assert_eq!(std::fs::read_to_string(&file)?, "docs.rs\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct AllowList(Arc<Inner>);

#[derive(Debug)]
enum Inner {
    Memory(Mutex<BTreeSet<Site>>),
    File(PathBuf),
}

impl AllowList {
    /// Makes a list in memory.
    ///
    /// # Errors
    /// `invalid_host` for an invalid host.
    pub fn of(hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, ToolError> {
        let hosts = hosts.into_iter().map(|it| Site::parse(it.as_ref()));
        Ok(Self(Arc::new(Inner::Memory(Mutex::new(hosts.collect::<Result<_, _>>()?)))))
    }

    /// Makes a list in a file, which need not exist yet. Keep it outside of the folders that tools may write.
    pub fn file(file: impl AsRef<Path>) -> Self {
        let file = file.as_ref();
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        Self(Arc::new(Inner::File(file)))
    }

    /// Returns whether a URL may be fetched without asking a person.
    ///
    /// # Errors
    /// `invalid_url`; `allow_list_unavailable` when the file cannot be read or a line is not a valid host.
    pub fn allows(&self, url: &str) -> Result<bool, ToolError> {
        let site = super::target::Target::parse(url)?.site;
        self.contains(&site)
    }

    /// Adds a host, unless it is already in the list.
    ///
    /// # Errors
    /// `invalid_host`; `allow_list_unavailable` when the file cannot be read or written, or a line is not a valid host.
    pub fn add(&self, host: &str) -> Result<(), ToolError> {
        self.add_site(&Site::parse(host)?)
    }

    pub(super) fn contains(&self, site: &Site) -> Result<bool, ToolError> {
        match &*self.0 {
            Inner::Memory(hosts) => {
                Ok(hosts.lock().unwrap_or_else(PoisonError::into_inner).contains(site))
            }
            Inner::File(file) => Ok(read(file)?.contains(site)),
        }
    }

    pub(super) fn add_site(&self, site: &Site) -> Result<(), ToolError> {
        match &*self.0 {
            Inner::Memory(hosts) => {
                hosts.lock().unwrap_or_else(PoisonError::into_inner).insert(site.clone());
                Ok(())
            }
            Inner::File(file) if read(file)?.contains(site) => Ok(()),
            Inner::File(file) => append(file, site).map_err(|error| unavailable(file, error)),
        }
    }
}

fn read(file: &Path) -> Result<BTreeSet<Site>, ToolError> {
    let mut text = String::new();
    match File::open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(unavailable(file, error)),
        Ok(opened) => {
            opened
                .take(LARGEST + 1)
                .read_to_string(&mut text)
                .map_err(|it| unavailable(file, it))?;
        }
    }
    if text.len() as u64 > LARGEST {
        return Err(unavailable(file, io::Error::other("it has more than 1 MiB")));
    }
    let lines = text.lines().enumerate().map(|(index, line)| {
        let host = line.split('#').next().unwrap_or_default().trim();
        let site = (!host.is_empty()).then(|| Site::parse(host)).transpose();
        site.map_err(|error| {
            let place = format!("line {}: {}", index + 1, error.message());
            unavailable(file, io::Error::new(ErrorKind::InvalidData, place))
        })
    });
    let sites = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(sites.into_iter().flatten().collect())
}

/// Appends a line with a single write, so that concurrent writers do not overwrite each other's lines.
fn append(file: &Path, site: &Site) -> io::Result<()> {
    let mut opened = OpenOptions::new().read(true).append(true).create(true).open(file)?;
    let ends_a_line = ends_a_line(&mut opened)?;
    let line = format!("{}{site}\n", if ends_a_line { "" } else { "\n" });
    opened.write_all(line.as_bytes())?;
    opened.sync_all()
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    use std::io::{Seek as _, SeekFrom};

    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Makes the error for a model. The name of the file is for operators, and only in the error's source.
fn unavailable(file: &Path, error: io::Error) -> ToolError {
    let source = io::Error::new(error.kind(), format!("`{}`: {error}", file.display()));
    ToolError::new("allow_list_unavailable", "the list of allowed hosts cannot be used")
        .class(ErrorClass::Final)
        .caused_by(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_people_write_is_read_and_a_line_that_is_no_host_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("hosts");
        std::fs::write(&file, "# ours\nDocs.RS  # of crates\n\nexample.org:8443").expect("written");
        let list = AllowList::file(&file);
        assert!(list.allows("https://docs.rs/a").expect("it is read"));
        list.add("crates.io").expect("it is written");
        for url in ["https://crates.io", "https://example.org:8443"] {
            assert!(list.allows(url).expect("it is read"), "{url}");
        }
        std::fs::write(&file, "docs.rs\nhttps://a.b/c\n").expect("written");
        let error = list.allows("https://docs.rs").expect_err("a line is wrong");
        assert_eq!(error.kind(), "allow_list_unavailable");
        let error = AllowList::file(folder.path()).allows("https://docs.rs").expect_err("a folder");
        assert_eq!(error.kind(), "allow_list_unavailable");
    }
}
