//! The resources that the children of a call touch.

use std::any::TypeId;

use super::resource::{Kind, ResourceKind};

/// A kind of resource for a tool that can make any call, such as a call that its input names. By `writes(Kind = name,
/// NestedCalls = None::<&str>)`, the tool declares that it touches whatever its children touch.
///
/// The other calls of the turn treat such a call as one that touches everything, and its children may touch everything.
/// The policy judges the call itself by its other resources, and each child by the child's own resources.
///
/// ```
/// use toolwright::{File, Footprint, NestedCalls};
///
/// let relay = Footprint::nothing().writing::<File>("log.txt").writing::<NestedCalls>(None);
/// assert!(relay.conflicts_with(&Footprint::nothing().writing::<File>("anything.txt")));
/// let own: Vec<_> = relay.writes_named().expect("it names what it writes itself").collect();
/// assert_eq!(own, [("file", Some("log.txt"))]);
/// ```
#[derive(Debug)]
pub struct NestedCalls;

impl ResourceKind for NestedCalls {
    const LABEL: &'static str = "nested calls";
}

/// Returns whether a kind of resource is [`NestedCalls`].
pub(super) fn is_it(kind: Kind) -> bool {
    (kind.0.id)() == TypeId::of::<NestedCalls>()
}
