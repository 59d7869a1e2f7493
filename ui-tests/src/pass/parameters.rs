// Parameters may be `mut`, raw, of one letter, like generated names, and of any owned type.
#![deny(warnings, unused, dead_code)]
#![forbid(unsafe_code)]
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use toolwright::{Danger, Registry, tool};

const LAST: usize = 9;
const LONGEST: usize = 80;

/// Of all sorts.
#[tool(danger = level(&r#type, x), reads(file = p), approval = reason(&p))]
async fn of_all_sorts(
    /// It changes.
    #[arg(default = 1, minimum = 1, maximum = LAST)]
    mut count: usize,
    /// A keyword.
    #[arg(length = 1..=LONGEST, example = "file")]
    r#type: String,
    /// One letter.
    #[arg(minimum = -1.5, maximum = 2)]
    x: f64,
    /// A path.
    p: PathBuf,
    /// May be left out.
    #[arg(minimum = 1, maximum = MOST)]
    most: Option<u8>,
    /// Pairs.
    #[arg(length = 1..)]
    pairs: BTreeMap<String, Vec<(u8, i64)>>,
    /// More.
    #[arg(default)]
    more: HashMap<String, Option<String>>,
) -> usize {
    count += r#type.len() + pairs.len() + more.len() + x as usize + p.as_os_str().len();
    count + most.map_or(0, usize::from)
}

const MOST: u8 = 7;

fn level(of: &str, x: f64) -> Danger {
    if of.is_empty() || x > 1.0 { Danger::Safe } else { Danger::Moderate }
}

fn reason(path: &std::path::Path) -> Option<String> {
    path.is_absolute().then(|| "outside".to_owned())
}

pub(super) fn main() {
    Registry::of([OF_ALL_SORTS]).expect("a sound tool");
}
