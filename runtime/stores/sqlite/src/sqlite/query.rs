//! Turns a filter into the SQL of one page.
//!
//! - Where an index fits the filter, a page is read along this index in the order of the ids, so that reading ends when
//!   the page is full. Due calls are read along the index of due times, and then sorted by their ids.
//! - In a search by text, SQL only narrows the search, and [`Filter::takes`] decides.

use std::collections::BTreeSet;

use rusqlite::types::Value;

use super::row::instant;
use toolwright_journal::journal::{Filter, Page, State};

/// The text of an SQL query, and the values of its parameters.
pub struct Query {
    pub sql: String,
    pub values: Vec<Value>,
}

#[derive(Default)]
struct Conditions {
    texts: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn add(&mut self, text: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.texts.push(text.replace('?', &format!("?{}", self.values.len())));
    }

    fn all(&self) -> String {
        self.texts.join(" AND ")
    }
}

/// Makes a query for `id`, `version`, `state` and `due`, in the order of the page. The filter must not ask for a text.
///
/// If the filter only names states, and `succeeded` is not among them, the index contains all these columns, so no row
/// of a call is read.
pub fn summaries(filter: &Filter, page: Page) -> Query {
    let mut conditions = conditions(filter, page);
    let order = if page.latest_first { "DESC" } else { "ASC" };
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    let sql = page_of("id, version, state, due", filter, &mut conditions, order, limit);
    Query { sql, values: conditions.values }
}

/// Makes the query of a page with records.
pub fn query(filter: &Filter, page: Page) -> Query {
    let mut conditions = conditions(filter, page);
    let order = if page.latest_first { "DESC" } else { "ASC" };
    // SQL only narrows a search by text, so the number of rows that fill a page is not known in advance.
    let limit = match filter.text {
        Some(_) => -1,
        None => i64::try_from(page.limit).unwrap_or(i64::MAX),
    };
    let sql = page_of("id", filter, &mut conditions, order, limit);
    Query {
        sql: format!(
            "SELECT calls.id, lease, delivered, body FROM ({sql}) AS page CROSS JOIN calls ON calls.id = page.id \
             ORDER BY page.id {order}"
        ),
        values: conditions.values,
    }
}

/// Returns the SQL conditions of a filter, except for the filter's states.
fn conditions(filter: &Filter, page: Page) -> Conditions {
    let mut conditions = Conditions::default();
    // A row without a valid id is not a call: this program did not write it, and could not report the row by an id.
    conditions.texts.push("length(id) = 16".to_owned());
    if let Some(after) = page.after {
        let beyond = if page.latest_first { "id < ?" } else { "id > ?" };
        conditions.add(beyond, after.as_bytes().to_vec());
    }
    if let Some(run) = &filter.run {
        conditions.add("run = ?", run.clone());
    }
    if let Some(tool) = &filter.tool {
        conditions.add("tool = ?", tool.clone());
    }
    if let Some(digest) = &filter.digest {
        conditions.add("digest = ?", digest.clone());
    }
    if let Some(due) = filter.due {
        conditions.add("due <= ?", instant(due));
    }
    if let Some(time) = filter.created_before {
        conditions.add("created <= ?", instant(time));
    }
    if let Some(delivered) = filter.delivered {
        conditions.add("delivered = ?", i64::from(delivered));
    }
    if let Some(text) = &filter.text {
        // Searches for the text in its JSON form. JSON encodes each character by itself, so a part of a text is a part
        // of the text's JSON form.
        let written = serde_json::Value::from(text.as_str()).to_string();
        conditions.add("instr(body, ?) > 0", written[1..written.len() - 1].to_owned());
    }
    conditions
}

/// Selects columns of the page, in the order of its ids, by the index that suits the filter.
fn page_of(
    columns: &str,
    filter: &Filter,
    conditions: &mut Conditions,
    order: &str,
    limit: i64,
) -> String {
    let end = format!("ORDER BY id {order} LIMIT {limit}");
    let states: BTreeSet<_> = filter.states.iter().copied().collect();
    let index = Index::of(filter, &states);
    if index == Index::State {
        // Merges one query for each state, because the index has the ids in order only within a state.
        let all = conditions.all();
        let walk =
            |state: State| index.select(columns, &format!("state = '{}' AND {all}", state.name()));
        let walks: Vec<_> = states.into_iter().map(walk).collect();
        return format!("{} {end}", walks.join(" UNION ALL "));
    }
    if !states.is_empty() {
        let names: Vec<_> = states.iter().map(|state| format!("'{}'", state.name())).collect();
        conditions.texts.push(format!("state IN ({})", names.join(", ")));
    }
    format!("{} {end}", index.select(columns, &conditions.all()))
}

/// The index by which a page is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    Digest,
    Run,
    Due,
    State,
    Id,
}

impl Index {
    fn of(filter: &Filter, states: &BTreeSet<State>) -> Self {
        let only = |excluded: &[State]| {
            !states.is_empty() && excluded.iter().all(|state| !states.contains(state))
        };
        match filter {
            Filter { run: Some(_), digest: Some(_), .. }
                if only(&[State::Running, State::Succeeded]) =>
            {
                Self::Digest
            }
            Filter { run: Some(_), .. } => Self::Run,
            Filter { due: Some(_), .. } => Self::Due,
            _ if only(&[State::Succeeded]) => Self::State,
            _ => Self::Id,
        }
    }

    /// Selects along the index. Repeats the condition of a partial index, so that SQLite may use it.
    fn select(self, columns: &str, conditions: &str) -> String {
        let (index, besides) = match self {
            Self::Digest => {
                ("INDEXED BY calls_by_digest", "AND state NOT IN ('running', 'succeeded')")
            }
            Self::Run => ("INDEXED BY calls_by_run", ""),
            Self::Due => ("INDEXED BY calls_by_due", ""),
            Self::State => ("INDEXED BY calls_by_state", "AND state <> 'succeeded'"),
            Self::Id => ("", ""),
        };
        format!("SELECT {columns} FROM calls {index} WHERE {conditions} {besides}")
    }
}
