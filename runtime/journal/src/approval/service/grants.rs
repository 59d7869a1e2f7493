//! Lists the grants of a journal. A grant that cannot be read permits nothing, and other grants are listed
//! nevertheless.

use super::{ApprovalError, ApprovalService};
use crate::approval::granted::{Grant, GrantError};
use crate::journal::Document;

/// The grants of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Grants {
    /// The grants that can be read, in the order of their tools and ids.
    pub readable: Vec<Grant>,
    /// The grants that cannot be read, which allow nothing. Each error names its grant and the reason.
    pub unreadable: Vec<GrantError>,
}

impl ApprovalService {
    /// Lists the grants for one tool, or all grants of the journal, including revoked and used ones.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn grants(&self, tool: Option<&str>) -> Result<Grants, ApprovalError> {
        let prefix = tool.map_or_else(|| Grant::PREFIX.to_owned(), |tool| Grant::key(tool, ""));
        let mut grants = Grants::default();
        for document in self.store.documents(&prefix).await? {
            // A tool's name may contain slashes, so another tool's key may begin with the same text.
            let is_of_it = document.key.rsplit_once('/').is_some_and(|(of, _)| {
                tool.is_none_or(|tool| of.strip_prefix(Grant::PREFIX) == Some(tool))
            });
            if !is_of_it {
                continue;
            }
            match read_grant(&document) {
                Ok(grant) => grants.readable.push(grant),
                Err(error) => grants.unreadable.push(error),
            }
        }
        Ok(grants)
    }
}

fn read_grant(document: &Document) -> Result<Grant, GrantError> {
    let grant = Grant::from_text(&document.key, &document.text)?;
    grant.terms()?;
    match document.key.rsplit('/').next() == Some(grant.id.as_str()) {
        true => Ok(grant),
        false => Err(GrantError::Unreadable {
            id: document.key.clone(),
            reason: format!("it says that it is grant `{}`", grant.id),
        }),
    }
}
