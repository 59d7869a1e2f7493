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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::footprint::{File, ResourceScope};

    fn write(folder: Option<&str>, path: &str) -> Footprint {
        let footprint = Footprint::nothing().writing::<File>(path);
        folder.map_or(footprint.clone(), |it| footprint.in_scope(&ResourceScope::new(it)))
    }

    #[test]
    fn a_folder_covers_a_path_if_their_scopes_and_names_show_that_it_contains_the_path() {
        let (known, other) = (Some("/ws"), Some("/ws/src"));
        for (parent, child, expected) in [
            ((known, "src"), (known, "/ws/src/a.rs"), true),
            ((known, "src"), (known, "../ws/src/a.rs"), true),
            ((known, "src"), (known, "/ws/docs/a.md"), false),
            ((known, "src"), (known, "../docs/a.md"), false),
            ((known, "src"), (other, "a.rs"), true),
            ((known, "src"), (None, "src/a.rs"), false),
            ((known, "/"), (known, "a.rs"), true),
            ((None, "src"), (known, "/ws/src/a.rs"), true),
            ((None, "src"), (known, "/etc/passwd"), false),
            ((None, "src"), (None, "/etc/passwd"), false),
            ((None, "src"), (None, "../src/a.rs"), false),
        ] {
            let (one, two) = (write(parent.0, parent.1), write(child.0, child.1));
            assert_eq!(one.covers(&two).is_ok(), expected, "{parent:?} {child:?}");
        }
    }
}
