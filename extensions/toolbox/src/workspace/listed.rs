//! Opens a file that a search has listed. If a link has replaced it or a folder on its path meanwhile, the link is not
//! followed.

use std::io;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, OpenOptions};
use toolwright::ToolError;

use super::regular::is_regular;
use super::{Name, failed};

/// Opens a regular file below a folder. Links may lead to the folder itself.
pub(super) fn open(root: &Dir, start: &Name, relative: &str) -> Result<File, ToolError> {
    let name = start.below(relative);
    let opened = match start.as_str() {
        "." => below(root, relative),
        start => root.open_dir(start).and_then(|folder| below(&folder, relative)),
    };
    let lookup = |error| failed(&name, error);
    let file = opened.map_err(lookup)?;
    is_regular(&name, &file.metadata().map_err(lookup)?)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
use part_by_part as below;

/// Opens the file with a single system call, if the kernel supports it.
#[cfg(target_os = "linux")]
fn below(folder: &Dir, relative: &str) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(folder, relative, flags, Mode::empty(), resolve) {
        Ok(file) => Ok(File::from_std(file.into())),
        // The entry is a link, or it no longer exists.
        Err(error @ (rustix::io::Errno::LOOP | rustix::io::Errno::NOENT)) => Err(error.into()),
        // The kernel is too old, or a filter of system calls forbids it.
        Err(_) => part_by_part(folder, relative),
    }
}

fn part_by_part(folder: &Dir, relative: &str) -> io::Result<File> {
    let (above, last) = relative.rsplit_once('/').unwrap_or(("", relative));
    let mut folder = folder.try_clone()?;
    for part in above.split('/').filter(|part| !part.is_empty()) {
        folder = folder.open_dir_nofollow(part)?;
    }
    // Avoid the side effects of opening a device or a FIFO.
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    folder.open_with(last, &options)
}

#[cfg(all(test, feature = "files", unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::part_by_part;
    use crate::Workspace;
    use crate::workspace::Name;

    #[test]
    fn a_link_that_took_the_place_of_what_was_listed_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(folder.path()).expect("it is there");
        for name in ["top/src/deep/a", "secrets/deep/a"] {
            workspace.write(name, b"text").expect(name);
        }
        let authority = cap_std::ambient_authority();
        let open = |start: &str, relative: &str| {
            let path = folder.path().join(start);
            let root = cap_std::fs::Dir::open_ambient_dir(path, authority).expect(start);
            let start = Name::parse(start).expect(start);
            let opened = workspace.open_listed(&start, relative).map(drop);
            // Both ways to ask the system say alike.
            assert_eq!(part_by_part(&root, relative).is_ok(), opened.is_ok(), "{relative}");
            opened.map_err(|it| it.kind().to_owned())
        };
        // Where the search begins, a link may lead.
        symlink("top", folder.path().join("link")).expect("a link");
        for (start, relative) in
            [(".", "top/src/deep/a"), ("top/src", "deep/a"), ("link", "src/deep/a")]
        {
            assert_eq!(open(start, relative), Ok(()), "{start} {relative}");
        }
        assert!(open(".", "link/src/deep/a").is_err(), "a link on the way");
        for (link, target) in [
            ("top/src/deep/a", "../../../secrets/deep/a"),
            ("top/src/deep", "../../secrets/deep"),
            ("top/src", "../secrets"),
        ] {
            let place = folder.path().join(link);
            match place.is_dir() {
                true => std::fs::remove_dir_all(&place),
                false => std::fs::remove_file(&place),
            }
            .expect(link);
            symlink(target, place).expect("a link");
            assert_eq!(workspace.read("top/src/deep/a").expect("the link leads there"), b"text");
            assert!(open("top", "src/deep/a").is_err(), "{link}");
        }
    }
}
