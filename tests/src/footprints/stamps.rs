//! A kind of resource may say in which version a resource is; of files it is their size, times and number.

use std::fs::{self, File as Opened};
use std::path::Path;
use std::time::{Duration, SystemTime};

use toolwright::{File, Footprint, ResourceScope, ResourceStamp};

/// The stamp of a file in a folder.
fn stamp(folder: &Path, name: &str) -> Option<ResourceStamp> {
    let scope = ResourceScope::new(folder.to_str().unwrap());
    let footprint = Footprint::nothing().reading::<File>(name).in_scope(&scope);
    let [file] = footprint.resources_read().unwrap() else { panic!("one file") };
    file.stamp()
}

/// Writes a file that was modified so long ago.
fn write(path: &Path, content: &str, ago: Duration) {
    fs::write(path, content).unwrap();
    set(path, SystemTime::now() - ago);
}

fn set(path: &Path, modified: SystemTime) {
    Opened::options().append(true).open(path).unwrap().set_modified(modified).unwrap();
}

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn an_unchanged_file_has_one_stamp_by_every_spelling() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a"), "one", HOUR);
    let first = stamp(folder.path(), "a");
    assert!(first.is_some());
    assert_eq!(first, stamp(folder.path(), "./b/../a"));
    assert_eq!(first, stamp(Path::new("/"), folder.path().join("a").to_str().unwrap()));
}

#[test]
fn another_size_another_time_and_another_file_have_another_stamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    write(&path, "one", HOUR);
    let (first, modified) = (stamp(folder.path(), "a"), fs::metadata(&path).unwrap().modified());
    write(&path, "three", HOUR);
    set(&path, *modified.as_ref().unwrap());
    assert_ne!(stamp(folder.path(), "a"), first, "of another size");
    write(&path, "two", 2 * HOUR);
    assert_ne!(stamp(folder.path(), "a"), first, "of another time");
}

/// The number of the file gives it away, where nothing else does.
#[test]
#[cfg(unix)]
fn a_file_replaced_by_one_of_equal_size_and_time_has_another_stamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    write(&path, "one", HOUR);
    let (first, modified) = (stamp(folder.path(), "a"), fs::metadata(&path).unwrap().modified());
    let other = folder.path().join("b");
    fs::write(&other, "two").unwrap();
    set(&other, modified.unwrap());
    fs::rename(&other, &path).unwrap();
    assert_ne!(stamp(folder.path(), "a"), first);
}

#[test]
fn what_may_change_without_a_trace_has_no_stamp() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("fresh"), "one", Duration::ZERO);
    fs::create_dir(folder.path().join("folder")).unwrap();
    for name in ["fresh", "folder", "missing", "."] {
        assert_eq!(stamp(folder.path(), name), None, "{name}");
    }
    // Relative to nobody knows what.
    for scope in ["", "a database", "./here"] {
        assert_eq!(stamp(Path::new(scope), "Cargo.toml"), None, "{scope}");
    }
    let everywhere = Footprint::nothing().reading::<File>(None);
    assert_eq!(everywhere.resources_read().unwrap()[0].stamp(), None);
    let unscoped = Footprint::nothing().reading::<File>("Cargo.toml");
    assert_eq!(unscoped.resources_read().unwrap()[0].stamp(), None);
}

#[test]
fn a_file_from_the_future_has_a_stamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    write(&path, "one", Duration::ZERO);
    set(&path, SystemTime::now() + HOUR);
    assert!(stamp(folder.path(), "a").is_some());
}
