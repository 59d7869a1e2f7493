//! Finds the grant that covers a call, and counts a use of the grant.

use super::moment::Moment;
use super::words::{grant_outdated, grant_unbound};
use crate::lifecycle::guard::Guard;
use crate::lifecycle::snapshot::GrantNow;
use toolwright_journal::approval::{GrantCandidate, GrantTerms, Scope, Statement};
use toolwright_journal::journal::DocumentWrite;

/// The use of a grant by a call that is about to begin.
pub(super) struct Use {
    pub(super) id: String,
    /// The write of the grant with one more use. `None` for a grant without a limit of uses, so that its calls do not
    /// conflict with each other, and `None` for a retry of the same call.
    pub(super) taken: Option<DocumentWrite>,
}

impl<'a> Moment<'a> {
    /// Returns a grant that covers the call, for a tool whose definition has this fingerprint.
    pub(super) fn grant(self, fingerprint: &str, four_eyes: bool) -> Option<Use> {
        let mut grants = self.snapshot.grants.iter().flatten();
        grants.find_map(|grant| self.use_of(grant, fingerprint, four_eyes))
    }

    /// Returns the id of a grant that would cover the call if its tool had not changed since the grant was given.
    pub(super) fn outdated_grant(self, fingerprint: &str, four_eyes: bool) -> Option<&'a str> {
        let mut grants = self.snapshot.grants.iter().flatten();
        let found = grants.find(|now| {
            let given = now.grant.terms().map(|terms| terms.fingerprint);
            given.is_ok_and(|given| {
                given != fingerprint && self.use_of(now, &given, four_eyes).is_some()
            })
        });
        found.map(|now| now.grant.id.as_str())
    }

    /// Adds to the reason for asking which grant would cover the call, and why it does not: the tool has changed, or
    /// the grant is of another journal or project.
    pub(super) fn with_lost_grant(
        self,
        reason: String,
        fingerprint: &str,
        four_eyes: bool,
    ) -> String {
        if let Some(id) = self.outdated_grant(fingerprint, four_eyes) {
            return format!("{reason}; {}", grant_outdated(id));
        }
        let mut grants = self.snapshot.grants.iter().flatten();
        let unbound = grants.find_map(|now| {
            let (terms, why) = self.terms_of(now, four_eyes)?;
            let is_usable = self.count_use(now, &terms, fingerprint).is_some();
            why.filter(|_| is_usable).map(|why| grant_unbound(&now.grant.id, &why))
        });
        match unbound {
            Some(why) => format!("{reason}; {why}"),
            None => reason,
        }
    }

    fn use_of(self, now: &GrantNow, fingerprint: &str, four_eyes: bool) -> Option<Use> {
        let (terms, unbound) = self.terms_of(now, four_eyes)?;
        if unbound.is_some() {
            return None;
        }
        self.count_use(now, &terms, fingerprint)
    }

    /// Returns the terms of this grant, and why this executor does not accept the grant, if it does not. Returns `None`
    /// if the grant does not cover the call's arguments, or if two people have to decide (`four_eyes`) and the call's
    /// own user gave it.
    fn terms_of(self, now: &GrantNow, four_eyes: bool) -> Option<(GrantTerms, Option<String>)> {
        let statement = now.grant.signed.statement().ok()?;
        if now.not_covered.is_some() || four_eyes && self.is_own(&statement.by) {
            return None;
        }
        let terms = now.grant.terms().ok()?;
        // Terms that name their projects are valid in those, so the project in which the grant was given does not
        // matter.
        let is_of_projects = matches!(terms.scope, Scope::Project(_) | Scope::Forever);
        let project = match is_of_projects {
            true => self.settings.project.clone(),
            false => statement.project.clone(),
        };
        let unbound = self.unbound(&Statement { project, ..statement });
        Some((terms, unbound))
    }

    /// Counts one use of a grant for the call, if the terms of the grant cover the call.
    fn count_use(self, now: &GrantNow, terms: &GrantTerms, fingerprint: &str) -> Option<Use> {
        let record = &self.snapshot.record;
        let GrantNow { key, version, grant, .. } = now;
        // A use that an earlier attempt of this call took is not counted again.
        let is_taken = record.grant.as_ref() == Some(&grant.id);
        let asked = GrantCandidate {
            tool: &record.tool,
            fingerprint,
            arguments: "",
            run: &record.place.run,
            session: record.requester.session.as_deref(),
            project: self.settings.project.as_deref(),
            now: self.now,
            used: grant.used.saturating_sub(is_taken.into()),
        };
        let counts = grant.revoked.is_none() && terms.count(&asked).is_ok();
        if !counts && self.has(Guard::GrantInTerms) {
            return None;
        }
        let is_counted = terms.uses.is_some() && !is_taken && self.has(Guard::GrantUseTaken);
        let taken = is_counted.then(|| {
            let mut used = grant.clone();
            used.used = used.used.saturating_add(1);
            let (key, text) = (key.clone(), Some(used.to_text()));
            DocumentWrite { key, expects: Some(*version), text }
        });
        Some(Use { id: grant.id.clone(), taken })
    }
}
