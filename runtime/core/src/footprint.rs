//! The resources that a call touches, and the facts that the policy needs. Two calls conflict when they touch the same
//! resource and one of them writes it.

mod covers;
mod expressions;
mod nested;
mod resource;
mod scope;
mod stamp;
mod touched;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::repairs::Repairs;
use crate::tool::{Danger, Effect};

pub use covers::AccessOutside;
pub use expressions::{ApprovalReason, IntoDanger};
pub use nested::NestedCalls;
pub use resource::{File, Kind, KindOfResource, ResourceKind, ResourceName};
pub use scope::{HeldResources, Holder, Holds, HoldsNone, ResourceScope, one_scope};
pub use stamp::ResourceStamp;
pub use touched::TouchedResource;

/// The facts about one call on which the policy bases its decision.
#[derive(Debug)]
#[non_exhaustive]
pub struct Facts {
    /// The danger of this call, which decides how carefully a person should look at it.
    pub danger: Danger,
    /// The reason why the tool itself requires approval of this call.
    pub approval: Option<Cow<'static, str>>,
    footprint: Option<Box<Footprint>>,
    repairs: Option<Arc<Repairs>>,
    filled: Vec<FilledParameter>,
}

/// A value that a default expression computed for an absent parameter, such as the current time. The final arguments
/// contain the value.
#[doc(hidden)]
pub struct FilledParameter {
    pub key: &'static str,
    pub value: serde_json::Result<Value>,
}

/// Leaves the value out, because it may be secret.
impl fmt::Debug for FilledParameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FilledParameter").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The resources that one call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprint {
    reads: Reach,
    writes: Reach,
}

/// The resources that one kind of access may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reach {
    Everything,
    Named(Vec<TouchedResource>),
    /// The named resources, and all resources that the call's children touch.
    WithNested(Vec<TouchedResource>),
}

impl Facts {
    #[inline]
    #[doc(hidden)]
    pub fn new(danger: Danger, approval: Option<&'static str>) -> Self {
        Self {
            danger,
            approval: approval.map(Cow::Borrowed),
            footprint: None,
            repairs: None,
            filled: Vec::new(),
        }
    }

    /// Requests the footprint, which is computed only on demand.
    #[cold]
    #[doc(hidden)]
    pub fn ask_for_footprint(&mut self, effect: Effect) {
        self.footprint = Some(Box::new(Footprint::of_effect(effect).clone()));
    }

    /// Returns the footprint of the call; `None` if it was not requested.
    pub fn touches(&self) -> Option<&Footprint> {
        self.footprint.as_deref()
    }

    /// Returns the repairs of the input.
    #[inline]
    pub fn repairs(&self) -> Option<&Repairs> {
        self.repairs.as_deref()
    }

    #[doc(hidden)]
    pub fn record_repairs(&mut self, repairs: Arc<Repairs>) {
        self.repairs = Some(repairs);
        self.ask_if_guessed();
    }

    /// Requires approval of a call above `moderate` whose input was repaired by a guess. Code that raises the danger
    /// calls this method again.
    #[doc(hidden)]
    pub fn ask_if_guessed(&mut self) {
        let guessed = self.repairs.as_ref().is_some_and(|it| it.is_lenient());
        if guessed && self.danger > Danger::Moderate && self.approval.is_none() {
            self.approval = Some(Cow::Borrowed("its input was repaired leniently"));
        }
    }

    /// Adds the repairs that an earlier reading of the same input made.
    #[doc(hidden)]
    pub fn add_repairs(&mut self, before: Self) {
        if let Some(repairs) = before.repairs {
            self.record_repairs(repairs);
        }
    }

    /// Computes the value of an absent parameter, and records it for the final arguments, with which the tool runs.
    #[doc(hidden)]
    pub fn fill<T>(
        &mut self,
        key: &'static str,
        given: Option<T>,
        value: impl FnOnce() -> Option<T>,
        json: impl FnOnce(&T) -> serde_json::Result<Value>,
    ) -> Option<T> {
        if given.is_some() {
            return given;
        }
        let value = value()?;
        self.filled.push(FilledParameter { key, value: json(&value) });
        Some(value)
    }

    /// Removes and returns the values that were filled in for absent parameters.
    #[doc(hidden)]
    pub fn take_filled(&mut self) -> Vec<FilledParameter> {
        std::mem::take(&mut self.filled)
    }

    #[doc(hidden)]
    pub fn footprint(&mut self) -> Option<&mut Footprint> {
        self.footprint.as_deref_mut()
    }
}

impl Footprint {
    /// Returns the footprint of a tool that declares no resources: it reads everything if its effect is `read`, and
    /// otherwise writes everything.
    #[doc(hidden)]
    #[must_use]
    pub fn of_effect(effect: Effect) -> &'static Self {
        static READS: Footprint =
            Footprint { reads: Reach::Everything, writes: Reach::Named(Vec::new()) };
        static WRITES: Footprint =
            Footprint { reads: Reach::Named(Vec::new()), writes: Reach::Everything };
        match effect {
            Effect::Read => &READS,
            _ => &WRITES,
        }
    }

    /// Makes a footprint without resources. A run-time tool returns it for a call that may run at the same time as any
    /// other call.
    ///
    /// ```
    /// use toolwright::{File, Footprint};
    ///
    /// let copy = Footprint::nothing().reading::<File>("a.txt").writing::<File>("b.txt");
    /// assert!(copy.conflicts_with(&Footprint::nothing().reading::<File>("./b.txt")));
    /// ```
    #[must_use]
    pub fn nothing() -> Self {
        Self { reads: Reach::Named(Vec::new()), writes: Reach::Named(Vec::new()) }
    }

    /// Adds a resource that the call reads; `None` means all resources of the kind.
    #[must_use]
    pub fn reading<'n, K: ResourceKind>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.reads.push(<K as KindOfResource>::KIND, None, name.into());
        self
    }

    /// Adds a resource that the call writes; `None` means all resources of the kind.
    #[must_use]
    pub fn writing<'n, K: ResourceKind>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.writes.push(<K as KindOfResource>::KIND, None, name.into());
        self
    }

    /// Sets the scope of the resources that have no scope yet. Use it for run-time tools, whose services are not known.
    /// A tool with the `#[tool]` attribute gets the scope from its services: see [`Holds`].
    ///
    /// ```
    /// use toolwright::{File, Footprint, ResourceScope};
    ///
    /// let workspace = ResourceScope::new("/home/ada/project");
    /// let copy = Footprint::nothing().reading::<File>("a.txt").writing::<File>("b.txt").in_scope(&workspace);
    /// assert!(copy.resources_read().expect("named").iter().all(|file| file.scope() == Some(&workspace)));
    /// ```
    #[must_use]
    pub fn in_scope(mut self, scope: &ResourceScope) -> Self {
        for resource in self.reads.resources_mut().iter_mut().chain(self.writes.resources_mut()) {
            resource.in_scope(scope);
        }
        self
    }

    /// Returns whether two calls must run in order, because one of them may write what the other touches.
    ///
    /// ```
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Replaces a file.
    /// #[tool(effect = idempotent, writes(file = path))]
    /// async fn replace(
    ///     /// The path of the file.
    ///     path: String,
    /// ) {
    /// }
    ///
    /// let executor = Executor::builder(Registry::of([REPLACE])?).unrestricted().build()?;
    /// let touches = |arguments| executor.examine(&Call::new("replace", arguments)).map(|facts| facts.touches().cloned());
    /// let [one, same, other] = [r#"{"path":"a/b"}"#, r#"{"path":"./a//b"}"#, r#"{"path":"a/c"}"#].map(touches);
    /// let (Ok(Some(one)), Ok(Some(same)), Ok(Some(other))) = (one, same, other) else { panic!("valid calls") };
    /// assert!(one.conflicts_with(&same));
    /// assert!(!one.conflicts_with(&other));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.conflict(other).is_some()
    }

    /// Returns a resource over which two calls conflict; `None` if the calls do not conflict. If one of the calls
    /// touches everything, this is a resource that the other call names. If both calls touch everything, the inner
    /// value is `None`.
    #[doc(hidden)]
    pub fn conflict<'a>(&'a self, other: &'a Self) -> Option<Option<&'a TouchedResource>> {
        let written = || self.writes.meeting(&other.writes);
        let read_there = || self.writes.meeting(&other.reads);
        let read_here = || self.reads.meeting(&other.writes);
        written().or_else(read_there).or_else(read_here)
    }

    /// Lists the kind and name of each resource that the call itself reads. `None` means everything, and the name
    /// `None` means all resources of the kind. The resources that its children read are left out: see [`NestedCalls`].
    pub fn reads_named(&self) -> Option<impl Iterator<Item = (&'static str, Option<&str>)>> {
        self.reads.resource_names()
    }

    /// Lists the kind and name of each resource that the call itself writes. `None` means everything, and the name
    /// `None` means all resources of the kind. The resources that its children write are left out: see [`NestedCalls`].
    pub fn writes_named(&self) -> Option<impl Iterator<Item = (&'static str, Option<&str>)>> {
        self.writes.resource_names()
    }

    /// Returns the resources that the call reads; `None` means everything.
    pub fn resources_read(&self) -> Option<&[TouchedResource]> {
        self.reads.resources()
    }

    /// Returns the resources that the call writes; `None` means everything.
    pub fn resources_written(&self) -> Option<&[TouchedResource]> {
        self.writes.resources()
    }

    #[doc(hidden)]
    pub fn reads_only(&mut self) {
        self.reads = Reach::Named(Vec::new());
    }

    #[doc(hidden)]
    pub fn writes_only(&mut self) {
        self.writes = Reach::Named(Vec::new());
    }

    #[doc(hidden)]
    pub fn reads(&mut self, kind: Kind) -> impl FnMut(Option<&str>) {
        self.reads_in(kind, None)
    }

    #[doc(hidden)]
    pub fn writes(&mut self, kind: Kind) -> impl FnMut(Option<&str>) {
        self.writes_in(kind, None)
    }

    #[doc(hidden)]
    pub fn reads_in(
        &mut self,
        kind: Kind,
        held: Option<HeldResources<'_>>,
    ) -> impl FnMut(Option<&str>) {
        move |name| self.reads.push_held(kind, held.as_ref(), name)
    }

    #[doc(hidden)]
    pub fn writes_in(
        &mut self,
        kind: Kind,
        held: Option<HeldResources<'_>>,
    ) -> impl FnMut(Option<&str>) {
        move |name| self.writes.push_held(kind, held.as_ref(), name)
    }
}

impl Reach {
    fn push(&mut self, kind: Kind, scope: Option<ResourceScope>, name: Option<&str>) {
        match self {
            Self::Everything => {}
            Self::Named(resources) if nested::is_it(kind) => {
                *self = Self::WithNested(std::mem::take(resources));
            }
            Self::WithNested(_) if nested::is_it(kind) => {}
            Self::Named(resources) | Self::WithNested(resources) => {
                resources.push(TouchedResource::new(kind, scope, name));
            }
        }
    }

    /// Adds a resource under its name, and under each other name that its service lists for it.
    fn push_held(&mut self, kind: Kind, held: Option<&HeldResources<'_>>, name: Option<&str>) {
        let scope = held.map(|held| &held.scope);
        self.push(kind, scope.cloned(), name);
        let (Some(held), Some(name)) = (held, name) else { return };
        for other in (held.other_names)(name) {
            self.push(kind, scope.cloned(), Some(&other));
        }
    }

    fn meeting<'a>(&'a self, other: &'a Self) -> Option<Option<&'a TouchedResource>> {
        match (self.resources(), other.resources()) {
            (None, None) => Some(None),
            (None, Some(named)) | (Some(named), None) => named.first().map(Some),
            (Some(these), Some(those)) => {
                these.iter().find(|one| those.iter().any(|two| one.overlaps(two))).map(Some)
            }
        }
    }

    /// Returns all resources of the access; `None` if they are not known.
    fn resources(&self) -> Option<&[TouchedResource]> {
        match self {
            Self::Everything | Self::WithNested(_) => None,
            Self::Named(resources) => Some(resources),
        }
    }

    fn resources_mut(&mut self) -> &mut [TouchedResource] {
        match self {
            Self::Everything => &mut [],
            Self::Named(resources) | Self::WithNested(resources) => resources,
        }
    }

    /// Lists the kind and name of each resource that the call itself touches.
    fn resource_names(&self) -> Option<impl Iterator<Item = (&'static str, Option<&str>)>> {
        match self {
            Self::Everything => None,
            Self::Named(resources) | Self::WithNested(resources) => {
                Some(resources.iter().map(|it| (it.kind(), it.name())))
            }
        }
    }
}
