//! `tests/coverage.md` maps each row of the requirements to the test that proves it. The map is kept
//! true here: a row is listed once with each of its tests, they exist and cite it, and no citation is left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One line of the map.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    row: String,
    file: String,
    test: String,
}

/// One test that names rows in its doc comment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cited {
    rows: Vec<String>,
    file: String,
    test: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows that a text names, such as `S0.14`.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    words.map(|word| word.trim_matches('.')).filter(|word| is_row(word))
}

fn is_row(word: &str) -> bool {
    let parts = word.strip_prefix('S').and_then(|rest| rest.split_once('.'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    parts.is_some_and(|(system, row)| is_number(system) && is_number(row))
}

fn listed(map: &str) -> Vec<Listed> {
    let cells = map.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = cells.map(|line| line.split(" | ").map(|cell| cell.trim_matches('`')).collect());
    cells
        .filter_map(|cells: Vec<&str>| match cells.as_slice() {
            [row, file, test] if is_row(row) => Some(Listed {
                row: (*row).to_owned(),
                file: (*file).to_owned(),
                test: (*test).to_owned(),
            }),
            _ => None,
        })
        .collect()
}

/// The functions of a file whose doc comments name rows, and whether each is a test.
fn cited(file: &str, source: &str) -> Vec<Cited> {
    let mut found = Vec::new();
    let (mut docs, mut is_test) = (String::new(), false);
    for line in source.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
            docs.push('\n');
        } else if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
        } else {
            let function = line.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
            if let Some((test, _)) = function.filter(|_| is_test) {
                let rows: Vec<String> = rows(&docs).map(str::to_owned).collect();
                found.push(Cited { rows, file: file.to_owned(), test: test.to_owned() });
            }
            docs.clear();
            is_test = false;
        }
    }
    found
}

/// What is wrong with a map, given every test.
fn problems(listed: &[Listed], tests: &[Cited]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen: BTreeMap<&str, Vec<&Listed>> = BTreeMap::new();
    for entry in listed {
        let Listed { row, file, test } = entry;
        let entries = seen.entry(row).or_default();
        if entries.contains(&entry) {
            problems.push(format!("{row} is listed twice with `{test}`"));
        }
        entries.push(entry);
        match tests.iter().find(|it| it.file == *file && it.test == *test) {
            None => problems.push(format!("{row}: {file} has no test `{test}`")),
            Some(found) if !found.rows.contains(row) => {
                problems
                    .push(format!("{row}: the doc comment of `{test}` in {file} does not cite it"));
            }
            Some(_) => {}
        }
    }
    for Cited { rows, file, test } in tests {
        for row in rows {
            let entries = seen.get(row.as_str()).into_iter().flatten();
            if !entries.into_iter().any(|it| it.file == *file && it.test == *test) {
                problems.push(format!("{row} is cited by `{test}` in {file}, but not listed"));
            }
        }
    }
    problems
}

/// Where tests are.
const FOLDERS: [&str; 5] = ["command", "examples", "extensions", "runtime", "tests"];

fn every_test() -> Vec<Cited> {
    let mut tests = Vec::new();
    let mut open = FOLDERS.map(|folder| root().join(folder)).to_vec();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let inside = path.strip_prefix(root()).unwrap();
                let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
                tests.extend(cited(&parts.join("/"), &fs::read_to_string(&path).unwrap()));
            }
        }
    }
    tests
}

#[test]
fn the_tests_of_every_folder_count() {
    let tests = every_test();
    for folder in FOLDERS {
        assert!(tests.iter().any(|it| Path::new(&it.file).starts_with(folder)), "{folder}");
    }
}

#[test]
fn every_listed_row_has_a_test_that_cites_it_and_every_cited_row_is_listed() {
    let map = fs::read_to_string(root().join("tests/coverage.md")).unwrap();
    let listed = listed(&map);
    assert!(!listed.is_empty());
    let problems = problems(&listed, &every_test());
    assert!(problems.is_empty(), "tests/coverage.md is wrong:\n{}", problems.join("\n"));
}

/// In quotes line by line, so that it is not taken for tests of this file.
const SOURCE: &str = concat!(
    "/// S1.2: first.\n",
    "/// S1.3, S1.24: second.\n",
    "#[test]\n",
    "fn proves_three() {}\n",
    "/// S1.2: once more.\n",
    "#[test]\n",
    "fn proves_again() {}\n",
    "/// S1.4: no test, so it proves nothing.\n",
    "fn helps() {}\n",
    "#[tokio::test(start_paused = true)]\n",
    "async fn proves_nothing() {}\n",
);

fn judged(map: &str) -> Vec<String> {
    problems(&listed(map), &cited("a.rs", SOURCE))
}

#[test]
fn a_true_map_is_found_to_be_true() {
    let map = "# Rows\n\n| row | file | test |\n| --- | --- | --- |\n\
        | S1.2 | a.rs | proves_three |\n| S1.2 | a.rs | proves_again |\n| S1.3 | a.rs | proves_three |\n| S1.24 | a.rs | proves_three |\n";
    assert_eq!(listed(map).len(), 4);
    assert!(judged(map).is_empty());
}

#[test]
fn a_map_that_is_not_true_is_found_out() {
    let whole = ["S1.2", "S1.3", "S1.24"].map(|row| format!("| {row} | a.rs | proves_three |\n"));
    let whole = whole.concat();
    for (line, words) in [
        ("| S1.2 | a.rs | proves_three |", "S1.2 is listed twice"),
        ("| S1.9 | b.rs | proves_three |", "b.rs has no test `proves_three`"),
        ("| S1.9 | a.rs | proves_four |", "a.rs has no test `proves_four`"),
        ("| S1.4 | a.rs | helps |", "a.rs has no test `helps`"),
        ("| S1.9 | a.rs | proves_nothing |", "does not cite it"),
    ] {
        let problems = judged(&format!("{whole}{line}\n"));
        assert!(problems.iter().any(|it| it.contains(words)), "{line}: {problems:?}");
    }
    let missing = judged("| S1.2 | a.rs | proves_three |\n| S1.3 | a.rs | proves_three |\n");
    // A row that has another test lists each all the same.
    let expected = [
        "S1.24 is cited by `proves_three` in a.rs, but not listed",
        "S1.2 is cited by `proves_again` in a.rs, but not listed",
    ];
    assert_eq!(missing, expected);
}
