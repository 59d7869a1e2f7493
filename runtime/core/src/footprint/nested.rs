//! What the calls touch that a call makes.

use std::any::TypeId;

use super::resource::{Kind, ResourceKind};

/// Whatever the calls touch that a tool makes, for a tool that makes any call, such as one that its input names:
/// `writes(Kind = name, NestedCalls = None::<&str>)`.
///
/// Other calls of the turn wait for such a call as for one that touches everything, and the calls that it makes may touch
/// everything. The policy judges the call itself by the resources beside this one, and each call that it makes by what that
/// one touches.
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

/// Whether a kind is [`NestedCalls`].
pub(super) fn is_it(kind: Kind) -> bool {
    (kind.0.id)() == TypeId::of::<NestedCalls>()
}
