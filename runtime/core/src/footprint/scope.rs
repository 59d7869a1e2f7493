//! The scope of a resource: the workspace, database or account that holds it. Equal names in two scopes are different
//! resources.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::resource::ResourceKind;

/// The scope of resources, as text. For files it is the real path of the folder to which the names are relative.
///
/// A resource without a scope may be in any scope, so it may be the same as a resource of that name in any scope.
///
/// ```
/// use toolwright::{File, Footprint, ResourceScope};
///
/// let write = |folder| Footprint::nothing().writing::<File>("a.txt").in_scope(&ResourceScope::new(folder));
/// assert!(!write("/srv/one").conflicts_with(&write("/srv/two")));
/// assert!(write("/srv/one").conflicts_with(&Footprint::nothing().reading::<File>("./a.txt")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceScope(Arc<str>);

impl ResourceScope {
    /// Makes the scope with this name.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name of the scope.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResourceScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A service that holds resources of the kind `K`. If a tool borrows the service and names resources of that kind, the
/// resources are in the service's scope. The tool declares nothing further.
///
/// If a tool borrows two services that hold resources of one kind in different scopes, the scope of the resources that
/// it names is unknown.
///
/// ```
/// use toolwright::{Call, Executor, File, Holds, Registry, ResourceScope, tool};
///
/// struct Drafts(&'static str);
///
/// impl Holds<File> for Drafts {
///     fn scope(&self) -> ResourceScope {
///         ResourceScope::new(self.0)
///     }
/// }
///
/// /// Deletes a draft.
/// #[tool(effect = idempotent, writes(file = path))]
/// async fn delete_draft(
///     drafts: &Drafts,
///     /// Which.
///     path: String,
/// ) {
/// }
///
/// let registry = Registry::of([DELETE_DRAFT])?;
/// let call = Call::new("delete_draft", r#"{"path":"a.txt"}"#);
/// let builder = |folder| Executor::builder(registry.clone()).unrestricted().service(Drafts(folder));
/// let ada = builder("/home/ada").build()?.examine(&call)?;
/// let bob = builder("/home/bob").build()?.examine(&call)?;
/// let (Some(ada), Some(bob)) = (ada.touches(), bob.touches()) else { panic!("both name a file") };
/// assert!(!ada.conflicts_with(bob));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Holds<K: ResourceKind> {
    /// Returns the scope of the resources.
    fn scope(&self) -> ResourceScope;

    /// Returns the other names of a resource, such as the file to which a link leads. A call that uses one name touches
    /// the resource under all its names: the policy judges the call by each name, and each name can cause a conflict
    /// with another call. Empty by default.
    ///
    /// ```
    /// use toolwright::{Call, Executor, File, Holds, Registry, ResourceScope, tool};
    ///
    /// struct Notes;
    ///
    /// impl Holds<File> for Notes {
    ///     fn scope(&self) -> ResourceScope {
    ///         ResourceScope::new("/srv/notes")
    ///     }
    ///
    ///     fn other_names(&self, name: &str) -> Vec<String> {
    ///         if name == "today" { vec!["2026-11-23".to_owned()] } else { Vec::new() }
    ///     }
    /// }
    ///
    /// /// Deletes a note.
    /// #[tool(effect = idempotent, writes(file = path))]
    /// async fn delete_note(
    ///     notes: &Notes,
    ///     /// Which.
    ///     path: String,
    /// ) {
    /// }
    ///
    /// let executor = Executor::builder(Registry::of([DELETE_NOTE])?).unrestricted().service(Notes).build()?;
    /// let facts = executor.examine(&Call::new("delete_note", r#"{"path":"today"}"#))?;
    /// let written = facts.touches().and_then(|it| it.resources_written()).expect("it names files");
    /// let names: Vec<_> = written.iter().filter_map(|it| it.name()).collect();
    /// assert_eq!(names, ["today", "2026-11-23"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn other_names(&self, name: &str) -> Vec<String> {
        let _ = name;
        Vec::new()
    }
}

type OtherNames<'s> = Box<dyn Fn(&str) -> Vec<String> + 's>;

/// The scope of the resources that a service holds, and a function for their other names.
pub struct HeldResources<'s> {
    pub(super) scope: ResourceScope,
    pub(super) other_names: OtherNames<'s>,
}

/// Determines, for generated code, whether the service `T` holds resources of the kind `K`.
pub struct Holder<T: ?Sized, K>(PhantomData<fn(&T, K)>);

impl<T: ?Sized, K> Holder<T, K> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<T: ?Sized + Holds<K>, K: ResourceKind> Holder<T, K> {
    /// Returns the scope and the other names of the resources that the service holds.
    pub fn scope<'s>(&self, service: &'s T) -> Option<HeldResources<'s>> {
        let other_names = Box::new(|name: &str| service.other_names(name));
        Some(HeldResources { scope: service.scope(), other_names })
    }
}

/// Rustc chooses this trait if a service holds no resources of the kind.
pub trait HoldsNone<T: ?Sized> {
    fn scope<'s>(&self, _: &'s T) -> Option<HeldResources<'s>> {
        None
    }
}

impl<T: ?Sized, K> HoldsNone<T> for Holder<T, K> {}

/// Returns the scope of a tool's services; `None` if they have no scope, or different scopes.
pub fn one_scope<const COUNT: usize>(
    scopes: [Option<HeldResources<'_>>; COUNT],
) -> Option<HeldResources<'_>> {
    let mut scopes = scopes.into_iter().flatten();
    let first = scopes.next()?;
    scopes.all(|other| other.scope == first.scope).then_some(first)
}
