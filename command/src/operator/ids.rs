//! Finds the call that an id of the command line names. The id is complete, or it is the beginning or the end of
//! exactly one call's id.
//!
//! A complete id is looked up directly. For a part, the command reads every call of the journal, because the part may
//! be the end of an id: ids begin with the time, so people recognize them by their ends.

use std::collections::HashSet;
use std::fmt::Write as _;

use clap::{Arg, ArgAction, ArgMatches};
use toolwright::CallId;
use toolwright::journal::{CallRecord, Filter, Page, Store};

use super::Stop;
use crate::Exit;
use crate::shown::printable;

/// The name of the argument for ids, for options that require or exclude it.
pub(crate) const IDS: &str = "id";
/// The fewest digits to which an id may be abbreviated.
const FEWEST: usize = 8;
const WHOLE: usize = 32;
/// How many calls the command reads from the store at a time.
const PAGE: usize = 500;
/// How many calls the error lists if an abbreviation is ambiguous.
const LISTED: usize = 8;

const HELP: &str = "A call: its id, or at least 8 digits from its beginning or end";

/// The argument for exactly one id.
pub(crate) fn one_call() -> Arg {
    Arg::new(IDS).value_name("ID").required(true).help(HELP)
}

/// The argument for one or more ids.
pub(crate) fn calls() -> Arg {
    one_call().num_args(1..).action(ArgAction::Append)
}

/// The argument for ids, which may be absent.
pub(crate) fn any_calls() -> Arg {
    calls().required(false)
}

/// Returns whether the command line names calls by id.
pub(crate) fn are_given(matches: &ArgMatches) -> bool {
    matches.contains_id(IDS)
}

/// Finds the calls that the command line names, in its order and without repetitions.
pub(crate) async fn find_all(
    matches: &ArgMatches,
    store: &dyn Store,
) -> Result<Vec<CallRecord>, Stop> {
    let texts: Vec<&String> = matches.get_many(IDS).into_iter().flatten().collect();
    find(&texts, store).await
}

/// Finds the one call that the command line names.
pub(crate) async fn find_one(matches: &ArgMatches, store: &dyn Store) -> Result<CallRecord, Stop> {
    let text = matches.get_one::<String>(IDS).map_or("", String::as_str);
    one(text, store).await
}

/// Finds the call that a complete or abbreviated id names.
pub(crate) async fn one(text: &str, store: &dyn Store) -> Result<CallRecord, Stop> {
    let found = find(&[text], store).await?;
    found.into_iter().next().ok_or_else(|| missing(text))
}

/// Returns the complete id of a call. A complete id is not looked up, so the call itself need not be readable; an
/// abbreviated id has to belong to a call that can be read.
pub(crate) async fn id(text: &str, store: &dyn Store) -> Result<CallId, Stop> {
    match WantedId::of(text)?.whole() {
        Some(id) => Ok(id),
        None => Ok(one(text, store).await?.id),
    }
}

async fn find(texts: &[impl AsRef<str>], store: &dyn Store) -> Result<Vec<CallRecord>, Stop> {
    let wanted: Vec<WantedId<'_>> =
        texts.iter().map(|text| WantedId::of(text.as_ref())).collect::<Result<_, _>>()?;
    let mut candidates: Vec<Vec<CallRecord>> = vec![Vec::new(); wanted.len()];
    for (wanted, candidates) in wanted.iter().zip(&mut candidates) {
        if let Some(id) = wanted.whole() {
            candidates.extend(store.get(id).await?);
        }
    }
    if wanted.iter().any(|wanted| wanted.whole().is_none()) {
        let mut page = Page::first(PAGE);
        loop {
            let listed = store.list(&Filter::default(), page).await?;
            for call in listed.calls {
                let digits = digits_of(call.id);
                for (wanted, candidates) in wanted.iter().zip(&mut candidates) {
                    if wanted.is_part_of(&digits) {
                        candidates.push(call.clone());
                    }
                }
            }
            // A call that cannot be read may be the one that the command line names.
            let is_wanted = |id| wanted.iter().any(|wanted| wanted.is_part_of(&digits_of(id)));
            if let Some(damaged) = listed.damaged.into_iter().find(|it| is_wanted(it.id)) {
                return Err(damaged.error.into());
            }
            match listed.next {
                Some(last) => page = page.after(last),
                None => break,
            }
        }
    }
    let mut seen = HashSet::new();
    let mut found = Vec::with_capacity(wanted.len());
    for (wanted, mut candidates) in wanted.into_iter().zip(candidates) {
        if candidates.len() > 1 {
            return Err(ambiguous(wanted.text, &candidates));
        }
        let call = candidates.pop().ok_or_else(|| missing(wanted.text))?;
        if seen.insert(call.id) {
            found.push(call);
        }
    }
    Ok(found)
}

fn digits_of(id: CallId) -> String {
    id.to_string().replace('-', "")
}

/// An id as the person typed it, and its digits.
struct WantedId<'a> {
    text: &'a str,
    digits: String,
}

impl<'a> WantedId<'a> {
    fn of(text: &'a str) -> Result<Self, Stop> {
        let digits = text.replace('-', "").to_ascii_lowercase();
        let fits = (FEWEST..=WHOLE).contains(&digits.len());
        if !fits || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Stop::usage(format!(
                "{text:?} is not the id of a call: expected all of its {WHOLE} hexadecimal digits, or at least \
                 {FEWEST} from its beginning or end"
            )));
        }
        Ok(Self { text, digits })
    }

    fn whole(&self) -> Option<CallId> {
        if self.digits.len() == WHOLE { self.digits.parse().ok() } else { None }
    }

    fn is_part_of(&self, digits: &str) -> bool {
        self.digits.len() < WHOLE
            && (digits.starts_with(&self.digits) || digits.ends_with(&self.digits))
    }
}

fn missing(text: &str) -> Stop {
    Stop::new(
        Exit::Missing,
        format!(
            "there is no call {text} in this journal: `toolwright calls list` shows those that are"
        ),
    )
}

fn ambiguous(text: &str, candidates: &[CallRecord]) -> Stop {
    let mut words = format!("{text} is a part of {} ids, give more of it:", candidates.len());
    for call in candidates.iter().take(LISTED) {
        let _ = write!(words, "\n  {}  {}, {}", call.id, printable::line(&call.tool), call.state);
    }
    if candidates.len() > LISTED {
        let _ = write!(words, "\n  and {} more", candidates.len() - LISTED);
    }
    Stop::usage(words)
}
