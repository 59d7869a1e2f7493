//! Checks whether one footprint covers another: the footprint of a call has to cover those of its children.

use super::{Footprint, Reach, TouchedResource};

/// A resource that a call touches outside of a footprint.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessOutside<'a> {
    /// Whether the call writes the resource.
    pub writes: bool,
    /// The resource; `None` means every resource.
    pub resource: Option<&'a TouchedResource>,
}

impl Footprint {
    /// Checks that this footprint contains the other footprint. A resource that may be written may also be read.
    ///
    /// # Errors
    /// The first resource of the other footprint that this footprint does not contain.
    #[doc(hidden)]
    pub fn covers<'a>(&'a self, other: &'a Self) -> Result<(), AccessOutside<'a>> {
        let Reach::Named(writes) = &self.writes else { return Ok(()) };
        let uncovered = |writes, resource| AccessOutside { writes, resource };
        match &other.writes {
            Reach::Everything | Reach::WithNested(_) => return Err(uncovered(true, None)),
            Reach::Named(written) => {
                let is_outside = |it: &&TouchedResource| !writes.iter().any(|mine| mine.covers(it));
                if let Some(resource) = written.iter().find(is_outside) {
                    return Err(uncovered(true, Some(resource)));
                }
            }
        }
        let Reach::Named(reads) = &self.reads else { return Ok(()) };
        let Reach::Named(read) = &other.reads else { return Err(uncovered(false, None)) };
        let is_outside =
            |it: &&TouchedResource| !reads.iter().chain(writes).any(|mine| mine.covers(it));
        match read.iter().find(is_outside) {
            Some(resource) => Err(uncovered(false, Some(resource))),
            None => Ok(()),
        }
    }
}
