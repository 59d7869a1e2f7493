//! What a call touches, and what policy must know of it. Two calls conflict when they touch the
//! same resource and one of them writes.

mod resource;

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;

use crate::repairs::Repairs;
use crate::tool::{Danger, Effect};

pub use resource::{File, Kind, KindOfResource, ResourceKind, ResourceName};

/// The facts of one call, which the policy evaluates.
#[derive(Debug)]
#[non_exhaustive]
pub struct Facts {
    /// How carefully a person should look at this call.
    pub danger: Danger,
    /// The reason why the tool itself asks for approval of this call.
    pub approval: Option<Cow<'static, str>>,
    footprint: Option<Box<Footprint>>,
    repairs: Option<Arc<Repairs>>,
}

/// The resources that one call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprint {
    reads: Reach,
    writes: Reach,
}

/// How far one kind of access goes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reach {
    Everything,
    Named(Vec<Resource>),
}

/// One resource, or with no name all of its kind.
#[derive(Debug, Clone)]
struct Resource {
    kind: TypeId,
    label: &'static str,
    name: Option<String>,
    overlap: fn(&str, &str) -> bool,
}

impl Facts {
    #[inline]
    #[doc(hidden)]
    pub fn new(danger: Danger, approval: Option<&'static str>) -> Self {
        Self { danger, approval: approval.map(Cow::Borrowed), footprint: None, repairs: None }
    }

    /// Makes room for the footprint, which takes time to work out.
    #[cold]
    #[doc(hidden)]
    pub fn ask_for_footprint(&mut self, effect: Effect) {
        self.footprint = Some(Box::new(Footprint::of_effect(effect)));
    }

    /// The resources that the call touches, where they were asked for.
    pub fn touches(&self) -> Option<&Footprint> {
        self.footprint.as_deref()
    }

    /// What was changed in the input to make it what the schema asks for.
    #[inline]
    pub fn repairs(&self) -> Option<&Repairs> {
        self.repairs.as_deref()
    }

    #[doc(hidden)]
    pub fn mended(&mut self, repairs: Arc<Repairs>) {
        if repairs.is_lenient() && self.danger > Danger::Moderate && self.approval.is_none() {
            self.approval = Some(Cow::Borrowed("its input was mended leniently"));
        }
        self.repairs = Some(repairs);
    }

    /// The repairs of an earlier reading of this call.
    #[doc(hidden)]
    pub fn also_mended(&mut self, before: Self) {
        if let Some(repairs) = before.repairs {
            self.mended(repairs);
        }
    }

    #[doc(hidden)]
    pub fn footprint(&mut self) -> Option<&mut Footprint> {
        self.footprint.as_deref_mut()
    }
}

/// What a `danger = …` expression may give.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`danger` takes a level, not `{Self}`",
    label = "expected `toolwright::Danger`, or a type that turns into it"
)]
pub trait IntoDanger {
    fn into_danger(self) -> Danger;
}

#[diagnostic::do_not_recommend]
impl<D: Into<Danger>> IntoDanger for D {
    fn into_danger(self) -> Danger {
        self.into()
    }
}

/// What an `approval = …` expression may give.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`approval` takes a reason, not `{Self}`",
    label = "expected `&'static str`, `String` or an `Option` of them; `None` asks nobody"
)]
pub trait ApprovalReason {
    fn reason(self) -> Option<Cow<'static, str>>;
}

#[diagnostic::do_not_recommend]
impl ApprovalReason for &'static str {
    fn reason(self) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(self))
    }
}

#[diagnostic::do_not_recommend]
impl ApprovalReason for String {
    fn reason(self) -> Option<Cow<'static, str>> {
        Some(Cow::Owned(self))
    }
}

#[diagnostic::do_not_recommend]
impl<R: ApprovalReason> ApprovalReason for Option<R> {
    fn reason(self) -> Option<Cow<'static, str>> {
        self.and_then(ApprovalReason::reason)
    }
}

impl Footprint {
    /// A read reads everything, all else writes everything, unless the tool narrows it.
    fn of_effect(effect: Effect) -> Self {
        match effect {
            Effect::Read => Self { reads: Reach::Everything, writes: Reach::Named(Vec::new()) },
            _ => Self { reads: Reach::Named(Vec::new()), writes: Reach::Everything },
        }
    }

    /// Of a call that touches nothing; for run-time tools, which say it call by call.
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

    /// It reads this resource as well; `None` for all of the kind.
    #[must_use]
    pub fn reading<'n, K: ResourceKind>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.reads.push(<K as KindOfResource>::KIND, name.into());
        self
    }

    /// It writes this resource as well; `None` for all of the kind.
    #[must_use]
    pub fn writing<'n, K: ResourceKind>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.writes.push(<K as KindOfResource>::KIND, name.into());
        self
    }

    /// Whether two calls must keep their order.
    ///
    /// ```
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Replaces a file.
    /// #[tool(effect = idempotent, writes(file = path))]
    /// async fn replace(
    ///     /// Which file.
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
        self.writes.meets(&other.writes)
            || self.writes.meets(&other.reads)
            || self.reads.meets(&other.writes)
    }

    /// What the call reads, `None` for everything; each as kind and name, the name `None` for all
    /// of the kind.
    pub fn reads_named(&self) -> Option<impl Iterator<Item = (&'static str, Option<&str>)>> {
        self.reads.named()
    }

    /// What the call writes, `None` for everything; each as kind and name, the name `None` for all
    /// of the kind.
    pub fn writes_named(&self) -> Option<impl Iterator<Item = (&'static str, Option<&str>)>> {
        self.writes.named()
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
        move |name| self.reads.push(kind, name)
    }

    #[doc(hidden)]
    pub fn writes(&mut self, kind: Kind) -> impl FnMut(Option<&str>) {
        move |name| self.writes.push(kind, name)
    }
}

impl Reach {
    fn push(&mut self, kind: Kind, name: Option<&str>) {
        if let Self::Named(resources) = self {
            resources.push(Resource {
                kind: (kind.id)(),
                label: kind.label,
                name: name.map(kind.normalise),
                overlap: kind.overlap,
            });
        }
    }

    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Everything, Self::Everything) => true,
            (Self::Everything, Self::Named(named)) | (Self::Named(named), Self::Everything) => {
                !named.is_empty()
            }
            (Self::Named(these), Self::Named(those)) => {
                these.iter().any(|one| those.iter().any(|two| one.meets(two)))
            }
        }
    }

    fn named(&self) -> Option<impl Iterator<Item = (&'static str, Option<&str>)>> {
        match self {
            Self::Everything => None,
            Self::Named(resources) => {
                Some(resources.iter().map(|it| (it.label, it.name.as_deref())))
            }
        }
    }
}

impl Resource {
    fn meets(&self, other: &Self) -> bool {
        self.kind == other.kind
            && match (&self.name, &other.name) {
                (Some(one), Some(two)) => {
                    one == two || (self.overlap)(one, two) || (self.overlap)(two, one)
                }
                _ => true,
            }
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name
    }
}

impl Eq for Resource {}
