//! Reads changes from the rows of the log, and converts states to and from text.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolwright::CallId;

use crate::workspace::{Above, Name, State};

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) number: i64,
    pub(super) call: CallOf,
    pub(super) name: Name,
    pub(super) before: State,
    /// The state after the change; `None` while the call runs or, if the call was interrupted, until the log completes
    /// the change.
    pub(super) after: Option<State>,
    /// The folders above the file, as they were before the change.
    pub(super) above: Vec<Above>,
    pub(super) is_undo: bool,
    /// The number of the change that undid this change; `None` if no undo is in effect.
    pub(super) undone_by: Option<i64>,
}

/// The call that made a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallOf {
    pub(super) id: CallId,
    pub(super) run: Option<String>,
    pub(super) turn: Option<u64>,
    pub(super) place: Option<u32>,
    pub(super) tool: String,
    /// The time at which the call began, in milliseconds since 1970.
    pub(super) began: i64,
}

impl Change {
    /// Returns whether the change is complete and had an effect. A running call has none yet.
    pub(super) fn is_effective(&self) -> bool {
        self.after.as_ref().is_some_and(|after| *after != self.before)
    }
}

/// The columns that [`call`] reads.
pub(super) const CALL: &str =
    "calls.id, calls.run, calls.turn, calls.place, calls.tool, calls.began";

pub(super) fn call(row: &Row<'_>) -> rusqlite::Result<CallOf> {
    Ok(CallOf {
        id: CallId::from_bytes(row.get(0)?),
        run: row.get(1)?,
        turn: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
        place: row.get(3)?,
        tool: row.get(4)?,
        began: row.get(5)?,
    })
}

/// Returns the changes of one file, oldest first.
pub(super) fn of_file(db: &Connection, name: &Name) -> rusqlite::Result<Vec<Change>> {
    let sql = format!(
        "SELECT {CALL}, changes.number, changes.path, before, after, above, is_undo FROM changes \
         JOIN calls ON calls.number = changes.call WHERE path = ?1 ORDER BY changes.number"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let changes = statement.query_map([name.as_str()], change)?;
    let mut changes = changes.collect::<rusqlite::Result<Vec<Change>>>()?;
    mark_undone(&mut changes, &marks(db, name)?);
    Ok(changes)
}

/// Returns the recorded marks: pairs of a change and the undo that takes it back.
fn marks(db: &Connection, name: &Name) -> rusqlite::Result<Vec<(i64, i64)>> {
    let sql = "SELECT undone.change, undone.by FROM undone JOIN changes ON changes.number = undone.by WHERE path = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let marks = statement.query_map([name.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    marks.collect()
}

/// Sets `undone_by` of the changes. A change is undone if an undo took it back, and that undo had an effect and is not
/// undone itself. Pure.
pub(super) fn mark_undone(changes: &mut [Change], marks: &[(i64, i64)]) {
    // Begin with the newest change, because an undo is newer than the changes that it takes back.
    for index in (0..changes.len()).rev() {
        let undo = &changes[index];
        if !undo.is_effective() || undo.undone_by.is_some() {
            continue;
        }
        let by = undo.number;
        for (change, _) in marks.iter().filter(|(_, undo)| *undo == by) {
            if let Some(undone) = changes.iter_mut().find(|it| it.number == *change) {
                undone.undone_by = Some(by);
            }
        }
    }
}

pub(super) fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    let path: String = row.get(7)?;
    Ok(Change {
        call: call(row)?,
        number: row.get(6)?,
        name: Name::parse(&path).map_err(|error| unreadable(7, error))?,
        before: read(row, 8)?,
        after: match row.get_ref(9)?.as_str_or_null()? {
            Some(_) => Some(read(row, 9)?),
            None => None,
        },
        above: read::<Vec<Above>>(row, 10)?,
        is_undo: row.get(11)?,
        undone_by: None,
    })
}

pub(super) fn content(db: &Connection, state: &State) -> rusqlite::Result<Option<Vec<u8>>> {
    let Some(hash) = state.hash() else { return Ok(Some(Vec::new())) };
    let mut statement = db.prepare_cached("SELECT bytes FROM contents WHERE hash = ?1")?;
    statement.query_row([hash], |row| row.get(0)).optional()
}

pub(super) fn insert_content(
    db: &Connection,
    state: &State,
    content: &[u8],
) -> rusqlite::Result<()> {
    let Some(hash) = state.hash() else { return Ok(()) };
    let sql = "INSERT INTO contents (hash, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    db.prepare_cached(sql)?.execute(params![hash, content]).map(drop)
}

/// Sets the state after a change, which completes the change.
pub(super) fn complete(
    db: &Connection,
    number: i64,
    state: &State,
    content: &[u8],
) -> rusqlite::Result<()> {
    insert_content(db, state, content)?;
    let sql = "UPDATE changes SET after = :after, after_hash = :hash WHERE number = :number";
    db.prepare_cached(sql)?
        .execute(named_params! {":after": text(state)?, ":hash": state.hash(), ":number": number})
        .map(drop)
}

pub(super) fn text(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn read<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?;
    serde_json::from_str(text.as_str()?).map_err(|error| unreadable(column, error))
}

fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
