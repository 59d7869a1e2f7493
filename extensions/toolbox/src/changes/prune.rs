//! Limits the age and the size of the log: removes the oldest calls, and contents that no change refers to any more.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::log::ChangeLog;

/// The most calls that are removed in one transaction.
const AT_ONCE: i64 = 32;

impl ChangeLog {
    /// Removes the oldest calls until no limit is exceeded. Running calls of this process and the newest call stay. An
    /// undo of several files calls this after the last file, so that it never loses a content that it still has to
    /// restore. Ignores errors, because the next call prunes again.
    pub(super) fn prune(&self, now: i64) {
        drop(self.remove_over_limits(&mut self.connection(), now));
    }

    fn remove_over_limits(&self, connection: &mut Connection, now: i64) -> rusqlite::Result<()> {
        let limits = self.0.limits;
        let age = i64::try_from(limits.age.as_millis()).unwrap_or(i64::MAX);
        let oldest = now.saturating_sub(age);
        loop {
            let too_large = used(connection)? > limits.bytes;
            let too_old = "SELECT 1 FROM calls WHERE began < ?1 LIMIT 1";
            let too_old = connection
                .prepare_cached(too_old)?
                .query_row([oldest], |_| Ok(()))
                .optional()?
                .is_some();
            if !too_large && !too_old {
                return Ok(());
            }
            let before = if too_large { None } else { Some(oldest) };
            if self.remove_oldest(connection, before)? == 0 {
                return Ok(());
            }
        }
    }

    /// Removes the oldest calls, at most [`AT_ONCE`]: those that began before a time or, if there is none, as many as
    /// exceed the limit of the size. Returns how many were removed.
    fn remove_oldest(
        &self,
        connection: &mut Connection,
        before: Option<i64>,
    ) -> rusqlite::Result<usize> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = "SELECT number FROM calls WHERE began < ?1 AND number < (SELECT max(number) FROM calls) ORDER BY number LIMIT ?2";
        let calls = transaction
            .prepare_cached(sql)?
            .query_map([before.unwrap_or(i64::MAX), AT_ONCE], |row| row.get::<_, i64>(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?;
        let mut removed = 0;
        for call in calls {
            if before.is_none() && used(&transaction)? <= self.0.limits.bytes {
                break;
            }
            let sql = "SELECT number, before_hash, after_hash FROM changes WHERE call = ?1";
            let changes = transaction
                .prepare_cached(sql)?
                .query_map([call], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<rusqlite::Result<Vec<(i64, Option<String>, Option<String>)>>>()?;
            if changes.iter().any(|(number, ..)| self.is_open(*number)) {
                continue;
            }
            transaction.prepare_cached("DELETE FROM changes WHERE call = ?1")?.execute([call])?;
            transaction.prepare_cached("DELETE FROM calls WHERE number = ?1")?.execute([call])?;
            for (_, before, after) in &changes {
                remove_unused(&transaction, before.as_deref())?;
                remove_unused(&transaction, after.as_deref())?;
            }
            removed += 1;
        }
        transaction.commit()?;
        return_unused(connection)?;
        Ok(removed)
    }
}

/// Returns the unused pages of the file to the file system, with the removed contents in them. Each step of this
/// statement returns one page.
fn return_unused(db: &Connection) -> rusqlite::Result<()> {
    let mut statement = db.prepare("PRAGMA incremental_vacuum")?;
    let mut pages = statement.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

/// Returns how many bytes of the file are in use.
fn used(db: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")? - pragma("freelist_count")?;
    Ok((pages * pragma("page_size")?).cast_unsigned())
}

/// Removes a content if no change refers to it.
pub(super) fn remove_unused(db: &Connection, hash: Option<&str>) -> rusqlite::Result<()> {
    let Some(hash) = hash else { return Ok(()) };
    let sql = "DELETE FROM contents WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM changes WHERE before_hash = ?1) \
               AND NOT EXISTS (SELECT 1 FROM changes WHERE after_hash = ?1)";
    db.prepare_cached(sql)?.execute([hash]).map(drop)
}
