//! Kinds of resources. A kind defines when two names mean the same resource and when two resources overlap.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use super::scope::ResourceScope;
use super::stamp::ResourceStamp;

/// A kind of resource, for `reads(Kind = …)` and `writes(Kind = …)`.
///
/// ```
/// use toolwright::ResourceKind;
///
/// /// Tickets, which people write with and without the sign.
/// struct Ticket;
///
/// impl ResourceKind for Ticket {
///     const LABEL: &'static str = "ticket";
///
///     fn normalise(name: &str) -> String {
///         name.trim_start_matches('#').to_owned()
///     }
/// }
/// assert_eq!(Ticket::normalise("#7"), Ticket::normalise("7"));
/// ```
pub trait ResourceKind: 'static {
    /// The name of the kind, for people.
    const LABEL: &'static str;

    /// Whether a resource of this kind decides which other resources a call touches. The working folder, for instance,
    /// decides which files a command line names. If an earlier call of a turn writes such a resource, and a later call
    /// reads it, then the resources of the later call are not known in advance. So the later call runs alone.
    const DECIDES: bool = false;

    /// Returns the normal form of a name, which is equal for all names of a resource.
    fn normalise(name: &str) -> String {
        name.to_owned()
    }

    /// Returns whether the resource `container` contains the resource `contained`. Both names are normalised, and they
    /// differ. If the names do not show how the resources relate, the answer is `true` for both orders of the names:
    /// then the resources may overlap, and neither of them covers the other.
    fn overlap(container: &str, contained: &str) -> bool {
        let _ = (container, contained);
        false
    }

    /// Lists the names of all resources of the kind that contain this resource, the outermost first. The resource
    /// itself is not listed. `name` is normalised. Each listed name is a prefix of `name`, or a constant. The result
    /// has to agree with [`overlap`](Self::overlap). Implement this method if the containers can be derived from a
    /// name: it makes planning a turn of thousands of calls fast. `None`, the default, means that only `overlap` can
    /// compare the names.
    ///
    /// ```
    /// use toolwright::{File, ResourceKind};
    ///
    /// assert_eq!(File::containers("src/lib/a.rs"), Some(vec![".", "src", "src/lib"]));
    /// ```
    fn containers(name: &str) -> Option<Vec<&str>> {
        let _ = name;
        None
    }

    /// Returns a name of a resource that is unique across all scopes. Implement it for a kind whose scopes can share
    /// resources, as a folder and its parent folder do. `name` is `None` for all resources of the scope. Global names
    /// are compared as names are. By default, two scopes share no resources.
    fn global_name(scope: &ResourceScope, name: Option<&str>) -> Option<String> {
        let _ = (scope, name);
        None
    }

    /// Returns the version of a resource. Every change of the resource has to change its version. A cache asks for the
    /// version before each use of a cached answer, so this function must be fast. `None` means that the version cannot
    /// be determined, and answers about the resource are not cached. The default assumes that only calls change
    /// resources of the kind.
    fn stamp(scope: Option<&ResourceScope>, name: Option<&str>) -> Option<ResourceStamp> {
        let _ = (scope, name);
        Some(ResourceStamp::unchanging())
    }
}

/// A kind of resources as a value, without its Rust type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Kind(pub(super) &'static Traits);

/// The constants and functions of a kind, without its Rust type.
#[derive(Debug)]
pub(super) struct Traits {
    pub(super) id: fn() -> TypeId,
    pub(super) label: &'static str,
    pub(super) decides: bool,
    pub(super) normalise: fn(&str) -> String,
    pub(super) overlap: fn(&str, &str) -> bool,
    pub(super) containers: fn(&str) -> Option<Vec<&str>>,
    pub(super) global_name: fn(&ResourceScope, Option<&str>) -> Option<String>,
    pub(super) stamp: fn(Option<&ResourceScope>, Option<&str>) -> Option<ResourceStamp>,
}

/// Types that `reads` and `writes` may name.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kind of resource",
    label = "expected `file`, or a type that implements `toolwright::ResourceKind`"
)]
pub trait KindOfResource {
    const KIND: Kind;
}

#[diagnostic::do_not_recommend]
impl<K: ResourceKind> KindOfResource for K {
    const KIND: Kind = Kind(&Traits {
        id: TypeId::of::<K>,
        label: K::LABEL,
        decides: K::DECIDES,
        normalise: K::normalise,
        overlap: K::overlap,
        containers: K::containers,
        global_name: K::global_name,
        stamp: K::stamp,
    });
}

/// Files and folders, by path: `file` in an attribute. A folder contains everything below it, so a search under `src/`
/// conflicts with a write to `src/a.rs`.
#[derive(Debug)]
pub struct File;

impl ResourceKind for File {
    const LABEL: &'static str = "file";

    /// Gives equal paths equal names: `./a//b/../c` becomes `a/c`. The file system is not read; the workspace resolves
    /// links before it opens a file.
    fn normalise(name: &str) -> String {
        let absolute = name.starts_with('/');
        let mut parts: Vec<&str> = Vec::new();
        for part in name.split(['/', std::path::MAIN_SEPARATOR]) {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                ".." if absolute => {}
                part => parts.push(part),
            }
        }
        let joined = parts.join("/");
        match (absolute, joined.is_empty()) {
            (true, _) => format!("/{joined}"),
            (false, true) => ".".to_owned(),
            (false, false) => joined,
        }
    }

    fn containers(name: &str) -> Option<Vec<&str>> {
        let outermost = match name.strip_prefix('/') {
            Some(_) => 1,
            None => match name.split('/').take_while(|part| *part == "..").count() {
                0 => 0,
                ups => ups * 3 - 1,
            },
        };
        let below = name.get(outermost..).filter(|rest| !rest.is_empty() && name != ".");
        let Some(below) = below else { return Some(Vec::new()) };
        let root = name.get(..outermost).filter(|root| !root.is_empty()).unwrap_or(".");
        let ends =
            below.match_indices('/').map(|(at, _)| outermost + at).filter(|at| *at > outermost);
        let folders = ends.filter_map(|at| name.get(..at));
        Some(std::iter::once(root).chain(folders).collect())
    }

    /// Returns whether `container` may contain `contained`. If only one of the paths is absolute, or if their numbers of
    /// leading `..` differ, the names do not show how the paths relate. Then the paths may overlap.
    fn overlap(container: &str, contained: &str) -> bool {
        let start = |path: &str| {
            (path.starts_with('/'), path.split('/').take_while(|part| *part == "..").count())
        };
        start(container) != start(contained)
            || container == "."
            || contained
                .strip_prefix(container.trim_end_matches('/'))
                .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns the absolute path. The scope is the folder to which names are relative.
    fn global_name(scope: &ResourceScope, name: Option<&str>) -> Option<String> {
        Some(match name {
            Some(absolute) if absolute.starts_with('/') => Self::normalise(absolute),
            Some(relative) => Self::normalise(&format!("{scope}/{relative}")),
            None => Self::normalise(scope.as_str()),
        })
    }

    /// Uses the size, the times and the inode number of a regular file. There is no stamp for a folder, whose times do
    /// not show changes of files below it. There is none for a file that changed less than two seconds ago, because a
    /// second change may leave its time the same. And there is none for a relative name without a known scope.
    fn stamp(scope: Option<&ResourceScope>, name: Option<&str>) -> Option<ResourceStamp> {
        let name = name?;
        let path = match scope {
            Some(folder) => Path::new(folder.as_str()).join(name),
            None => PathBuf::from(name),
        };
        if path.is_absolute() { ResourceStamp::of_file(&path) } else { None }
    }
}

/// Values that may name a resource in an attribute: text, paths, whole numbers, and options and lists of them. `None`
/// names every resource of the kind.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a resource",
    label = "expected text, a path, a whole number, or an option or a list of them"
)]
pub trait ResourceName {
    /// Passes each name to `take`; `None` means all resources of the kind.
    fn each(&self, take: &mut dyn FnMut(Option<&str>));
}

#[diagnostic::do_not_recommend]
impl ResourceName for str {
    fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
        take(Some(self));
    }
}

#[diagnostic::do_not_recommend]
impl ResourceName for String {
    fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
        take(Some(self));
    }
}

#[diagnostic::do_not_recommend]
impl ResourceName for Path {
    fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
        take(Some(&self.to_string_lossy()));
    }
}

#[diagnostic::do_not_recommend]
impl ResourceName for PathBuf {
    fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
        self.as_path().each(take);
    }
}

#[diagnostic::do_not_recommend]
impl<N: ResourceName + ?Sized> ResourceName for &N {
    fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
        (**self).each(take);
    }
}

#[diagnostic::do_not_recommend]
impl<N: ResourceName> ResourceName for Option<N> {
    fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
        match self {
            Some(name) => name.each(take),
            None => take(None),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<N: ResourceName> ResourceName for Vec<N> {
    fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
        self.iter().for_each(|name| name.each(take));
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ResourceName for $number {
            fn each(&self, take: &mut dyn FnMut(Option<&str>)) {
                take(Some(&self.to_string()));
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
