//! One resource that a call touches: its kind, its scope and its name, and the comparison with other resources.

use std::any::TypeId;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::resource::Kind;
use super::scope::ResourceScope;
use super::stamp::ResourceStamp;

/// A resource that a call touches. If it has no name, it means all resources of its kind.
///
/// ```
/// use toolwright::{File, Footprint};
///
/// let search = Footprint::nothing().reading::<File>("./src/");
/// let [folder] = search.resources_read().expect("it names what it reads") else { panic!("one") };
/// assert_eq!((folder.kind(), folder.name(), folder.scope()), ("file", Some("src"), None));
/// assert_eq!(folder.to_string(), "file `src`");
///
/// let edit = Footprint::nothing().writing::<File>("src/lib.rs");
/// assert!(edit.resources_written().expect("named").iter().all(|file| file.overlaps(folder)));
/// ```
#[derive(Clone)]
pub struct TouchedResource {
    kind: Kind,
    scope: Option<ResourceScope>,
    name: Option<String>,
}

impl TouchedResource {
    pub(super) fn new(kind: Kind, scope: Option<ResourceScope>, name: Option<&str>) -> Self {
        Self { kind, scope, name: name.map(kind.0.normalise) }
    }

    /// Returns the label of the resource's kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind.0.label
    }

    /// Returns whether the resource decides which other resources a call touches: see
    /// [`ResourceKind::DECIDES`](super::ResourceKind::DECIDES).
    #[doc(hidden)]
    #[must_use]
    pub fn decides(&self) -> bool {
        self.kind.0.decides
    }

    /// Returns the name of the resource in the normal form of its kind; `None` means all resources of the kind.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the scope of the resource, such as a workspace, if it is known. Do not show it to models: the scope of
    /// files is a path of this machine.
    #[must_use]
    pub fn scope(&self) -> Option<&ResourceScope> {
        self.scope.as_ref()
    }

    /// Returns whether a change of one of the resources may change the other.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        if !self.is_kind_of(other) {
            return false;
        }
        match (&self.scope, &other.scope) {
            (Some(mine), Some(others)) if mine != others => {
                let global = |it: &Self, scope| (it.kind.0.global_name)(scope, it.name.as_deref());
                match (global(self, mine), global(other, others)) {
                    (Some(one), Some(two)) => self.meet(&one, &two),
                    _ => false,
                }
            }
            _ => match (&self.name, &other.name) {
                (Some(one), Some(two)) => self.meet(one, two),
                _ => true,
            },
        }
    }

    /// Returns whether this resource equals or contains the other resource.
    #[must_use]
    pub(super) fn covers(&self, other: &Self) -> bool {
        if !self.is_kind_of(other) {
            return false;
        }
        let Some(others) = &other.scope else {
            // The other resource may be in any scope, so a resource in a known scope may not cover it.
            return self.scope.is_none() && self.covers_in(None, other);
        };
        // A name without a scope counts as a name in the scope of the other resource.
        self.covers_in(Some((self.scope.as_ref().unwrap_or(others), others)), other)
    }

    /// Compares the global names, which show where a path leads that leaves its scope. A kind without global names has
    /// only the names within a scope.
    fn covers_in(&self, scopes: Option<(&ResourceScope, &ResourceScope)>, other: &Self) -> bool {
        let is_one_scope = scopes.is_none_or(|(mine, others)| mine == others);
        if is_one_scope && self.name.is_none() {
            return true;
        }
        if is_one_scope && other.name.is_none() {
            return false;
        }
        let global = |it: &Self, scope| (it.kind.0.global_name)(scope, it.name.as_deref());
        let names = scopes.and_then(|(mine, others)| global(self, mine).zip(global(other, others)));
        match (names, &self.name, &other.name) {
            (Some((one, two)), _, _) => self.contains(&one, &two),
            (None, Some(one), Some(two)) if is_one_scope => self.contains(one, two),
            _ => false,
        }
    }

    /// Returns whether one name certainly contains the other. If names do not show how resources relate, each of them
    /// may contain the other, so this is not the case for both directions.
    fn contains(&self, one: &str, two: &str) -> bool {
        let overlap = self.kind.0.overlap;
        one == two || (overlap(one, two) && !overlap(two, one))
    }

    fn meet(&self, one: &str, two: &str) -> bool {
        let overlap = self.kind.0.overlap;
        one == two || overlap(one, two) || overlap(two, one)
    }

    /// Returns the current stamp of the resource; `None` if its kind cannot determine one.
    #[must_use]
    pub fn stamp(&self) -> Option<ResourceStamp> {
        (self.kind.0.stamp)(self.scope.as_ref(), self.name.as_deref())
    }

    /// Returns the id of the resource's kind.
    #[doc(hidden)]
    #[must_use]
    pub fn kind_id(&self) -> TypeId {
        (self.kind.0.id)()
    }

    /// Lists the names of the resource's containers in its scope, the outermost first: see
    /// [`ResourceKind::containers`](super::ResourceKind::containers).
    #[doc(hidden)]
    #[must_use]
    pub fn containers(&self) -> Option<Vec<&str>> {
        (self.kind.0.containers)(self.name.as_deref()?)
    }

    /// Puts the resource into a scope, if it has none.
    pub(super) fn in_scope(&mut self, scope: &ResourceScope) {
        self.scope.get_or_insert_with(|| scope.clone());
    }

    fn is_kind_of(&self, other: &Self) -> bool {
        (self.kind.0.id)() == (other.kind.0.id)()
    }
}

impl PartialEq for TouchedResource {
    fn eq(&self, other: &Self) -> bool {
        self.is_kind_of(other) && self.scope == other.scope && self.name == other.name
    }
}

impl Eq for TouchedResource {}

impl Hash for TouchedResource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ((self.kind.0.id)(), &self.scope, &self.name).hash(state);
    }
}

/// Writes the kind and the name, without the scope.
impl fmt::Display for TouchedResource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(formatter, "{} `{name}`", self.kind.0.label),
            None => write!(formatter, "every {}", self.kind.0.label),
        }
    }
}

impl fmt::Debug for TouchedResource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut resource = formatter.debug_struct("TouchedResource");
        resource.field("kind", &self.kind.0.label).field("scope", &self.scope);
        resource.field("name", &self.name).finish()
    }
}
