//! `apply_patch` against `git apply`: diffs that git writes, whole, cut short, doubled, with wrong numbers or none, on the
//! files that they are for, on those that they make, on shifted and on other ones. Where both apply a patch, the files are
//! equal; where git refuses one that the tool applies, one of the repairs that the tool names explains it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use crate::support::Box;

type Files = BTreeMap<String, String>;

/// What happens to a file between two states of a folder.
#[derive(Debug, Clone)]
enum Fate {
    Changed,
    Created,
    Deleted,
    Renamed,
}

/// What is done to the text of a diff.
#[derive(Debug, Clone)]
enum Damage {
    None,
    Cut(Index),
    Doubled,
    /// One of the numbers of a hunk is another: the old start, the old count, the new start or the new count.
    Number(Index, usize, i64),
    NoNumbers(Index),
}

/// What the diff is applied to.
#[derive(Debug, Clone)]
enum Target {
    Before,
    After,
    Shifted(usize),
    Shortened,
    Other(String),
}

/// One file and how it is edited: at a place, by removing lines and adding others.
#[derive(Debug, Clone)]
struct Edited {
    before: String,
    fate: Fate,
    edits: Vec<(Index, usize, String)>,
}

impl Edited {
    fn after(&self) -> String {
        let mut lines: Vec<String> = self.before.split_inclusive('\n').map(str::to_owned).collect();
        for (place, removed, added) in &self.edits {
            let start = place.index(lines.len() + 1);
            let end = (start + removed).min(lines.len());
            lines.splice(start..end, added.split_inclusive('\n').map(str::to_owned));
        }
        lines.concat()
    }
}

fn text() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec("[abcd]?", 0..14);
    (lines, prop::bool::weighted(0.8)).prop_map(|(lines, has_end)| {
        let text = lines.join("\n");
        if has_end && !lines.is_empty() { format!("{text}\n") } else { text }
    })
}

fn edited() -> impl Strategy<Value = Edited> {
    let edit = (any::<Index>(), 0_usize..3, "([abx]\n){0,2}");
    let fate = prop_oneof![
        6 => Just(Fate::Changed),
        1 => Just(Fate::Created),
        1 => Just(Fate::Deleted),
        1 => Just(Fate::Renamed),
    ];
    (text(), fate, prop::collection::vec(edit, 1..4)).prop_map(|(before, fate, edits)| Edited {
        before,
        fate,
        edits,
    })
}

fn damage() -> impl Strategy<Value = Damage> {
    let by = prop_oneof![-3_i64..0, 1_i64..4];
    prop_oneof![
        Just(Damage::None),
        any::<Index>().prop_map(Damage::Cut),
        Just(Damage::Doubled),
        (any::<Index>(), 0_usize..4, by)
            .prop_map(|(hunk, number, by)| Damage::Number(hunk, number, by)),
        any::<Index>().prop_map(Damage::NoNumbers),
    ]
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        3 => Just(Target::Before),
        2 => Just(Target::After),
        2 => (1_usize..5).prop_map(Target::Shifted),
        1 => Just(Target::Shortened),
        1 => text().prop_map(Target::Other),
    ]
}

fn put(folder: &Path, files: &Files) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn found(folder: &Path) -> Files {
    let name = |name: String| (name.clone(), fs::read_to_string(folder.join(name)).unwrap());
    crate::support::names(folder).into_iter().map(name).collect()
}

fn git(folder: &Path, arguments: &[&str], input: &str) -> (bool, String) {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git is installed");
    // It may have ended without reading all of it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// The diff of two states, with the names as they are in a repository.
fn diff(before: &Files, after: &Files, context: usize) -> String {
    let around = tempfile::tempdir().unwrap();
    for (side, files) in [("a", before), ("b", after)] {
        fs::create_dir(around.path().join(side)).unwrap();
        put(&around.path().join(side), files);
    }
    let context = format!("-U{context}");
    let arguments =
        ["diff", "--no-index", "--no-prefix", "-M20%", "--no-color", &context, "a", "b"];
    let (_, diff) = git(around.path(), &arguments, "");
    let line = |line: &str| {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let (old, new) = names.trim_end().split_once(' ').unwrap();
            return format!("diff --git a{} b{}\n", &old[1..], &new[1..]);
        }
        for start in ["rename from ", "rename to "] {
            if let Some(name) = line.strip_prefix(start) {
                return format!("{start}{}", &name[2..]);
            }
        }
        line.to_owned()
    };
    diff.split_inclusive('\n').map(line).collect()
}

/// The files after `git apply`, where it takes the patch.
fn by_git(files: &Files, patch: &str, option: &str) -> Option<Files> {
    let around = tempfile::tempdir().unwrap();
    let folder = around.path().join("folder");
    fs::create_dir(&folder).unwrap();
    put(&folder, files);
    let (is_taken, _) = git(&folder, &["apply", "--whitespace=nowarn", option, "-"], patch);
    is_taken.then(|| found(&folder))
}

fn by_us(files: &Files, patch: &str) -> (Option<Files>, String) {
    let tools = Box::files();
    put(&tools.path(""), files);
    let answer = tools.call("apply_patch", json!({"patch": patch}));
    let after = found(&tools.path(""));
    if answer.is_error() {
        assert_eq!(after, *files, "a patch that was refused has changed files");
        return (None, answer.text().into_owned());
    }
    (Some(after), answer.text().into_owned())
}

fn damaged(patch: &str, damage: &Damage) -> String {
    let mut lines: Vec<String> = patch.split_inclusive('\n').map(str::to_owned).collect();
    let headers: Vec<usize> =
        (0..lines.len()).filter(|index| lines[*index].starts_with("@@ ")).collect();
    match damage {
        Damage::None => {}
        Damage::Cut(at) => return patch[..at.index(patch.len())].to_owned(),
        Damage::Doubled => return patch.repeat(2),
        _ if headers.is_empty() => {}
        Damage::NoNumbers(hunk) => lines[*hunk.get(&headers)] = "@@ ... @@\n".to_owned(),
        Damage::Number(hunk, number, by) => {
            let at = *hunk.get(&headers);
            let mut numbers = numbers(&lines[at]).unwrap();
            numbers[*number] = (numbers[*number] + by).max(0);
            let [old, removed, new, added] = numbers;
            lines[at] = format!("@@ -{old},{removed} +{new},{added} @@\n");
        }
    }
    lines.concat()
}

/// Old start, old count, new start and new count.
fn numbers(header: &str) -> Option<[i64; 4]> {
    let inner = header.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = inner.split_once(" +")?;
    let range = |range: &str| -> Option<[i64; 2]> {
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some([start.parse().ok()?, count.parse().ok()?])
    };
    let ([old, removed], [new, added]) = (range(old)?, range(new)?);
    Some([old, removed, new, added])
}

/// The patch with right numbers in each hunk that has none or wrong ones: those of the one place of the file where its lines
/// fit, or behind another hunk, which may have the lines of another place, those of each place.
fn renumbered(files: &Files, patch: &str) -> Vec<String> {
    let lines: Vec<&str> = patch.split_inclusive('\n').collect();
    let (mut all, mut name, mut index) = (vec![String::new()], "", 0);
    let mut is_first = true;
    while let Some(line) = lines.get(index) {
        index += 1;
        if let Some(old) = line.strip_prefix("--- ") {
            (name, is_first) = (old.trim_end().trim_start_matches("a/"), true);
        }
        if !line.starts_with("@@ ") {
            all.iter_mut().for_each(|it| it.push_str(line));
            continue;
        }
        let is_body = |line: &&&str| line.starts_with([' ', '+', '-', '\\']) || **line == "\n";
        let body: Vec<&str> = lines[index..].iter().take_while(is_body).copied().collect();
        index += body.len();
        let side = |sign| body.iter().filter(move |it| it.starts_with([' ', sign]));
        let (old, new) = (side('-').count(), side('+').count());
        let headers = match numbers(line) {
            Some([_, removed, _, added]) if [removed, added] == [old as i64, new as i64] => {
                vec![(*line).to_owned()]
            }
            _ if name == "/dev/null" => vec![format!("@@ -0,0 +1,{new} @@\n")],
            _ => {
                let wanted: Vec<&str> =
                    side('-').map(|it| it[1..].trim_end_matches('\n')).collect();
                let text: Vec<&str> = files.get(name).map_or(Vec::new(), |it| it.lines().collect());
                let places: Vec<usize> = (1..=(text.len() + 1).saturating_sub(old))
                    .filter(|at| text[at - 1..at - 1 + old] == wanted[..])
                    .collect();
                if is_first && places.len() > 1 {
                    return Vec::new();
                }
                places.iter().map(|at| format!("@@ -{at},{old} +{at},{new} @@\n")).collect()
            }
        };
        is_first = false;
        let with = |start: &String| {
            let hunk = |header: &String| format!("{start}{header}{}", body.concat());
            headers.iter().map(hunk).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).take(16).collect();
    }
    all
}

fn with_last_ends(files: &Files) -> Files {
    let end = |text: &String| match text.is_empty() || text.ends_with('\n') {
        true => text.clone(),
        false => format!("{text}\n"),
    };
    files.iter().map(|(name, text)| (name.clone(), end(text))).collect()
}

/// Whether one of the repairs that the tool names makes of the patch what git takes: numbers, the last line end of the patch,
/// the last line end of a file.
fn is_repaired(files: &Files, patch: &str, ours: &Files) -> bool {
    let whole = if patch.ends_with('\n') { patch.to_owned() } else { format!("{patch}\n") };
    let variants = renumbered(files, &whole);
    let is_ours = |patch: &String, option: &str| {
        by_git(files, patch, option).as_ref() == Some(ours)
            || by_git(&with_last_ends(files), patch, option)
                .is_some_and(|it| with_last_ends(&it) == with_last_ends(ours))
    };
    is_ours(&whole, "--recount")
        || variants.iter().any(|patch| is_ours(patch, "--recount"))
        // Without context it goes by numbers alone, which are those of the one place.
        || !variants.contains(&whole) && variants.iter().any(|it| is_ours(it, "--unidiff-zero"))
}

proptest! {
    // `PROPTEST_CASES` asks for more of them.
    #![proptest_config(ProptestConfig { max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_patch_makes_of_files_what_git_makes_of_them_or_is_refused(
        one in edited(), two in edited(), context in prop_oneof![Just(1_usize), Just(2), Just(3)],
        damage in damage(), target in target(),
    ) {
        let (mut before, mut after) = (Files::new(), Files::new());
        for (name, file) in [("f", &one), ("g", &two)] {
            let renamed = format!("{name}2");
            let name = name.to_owned();
            let (old, new) = (file.before.clone(), file.after());
            match file.fate {
                Fate::Created => drop(after.insert(name, old)),
                Fate::Deleted => drop(before.insert(name, old)),
                Fate::Changed => drop((before.insert(name.clone(), old), after.insert(name, new))),
                Fate::Renamed => drop((before.insert(name, old), after.insert(renamed, new))),
            }
        }
        let whole = diff(&before, &after, context);
        prop_assume!(!whole.is_empty());
        let patch = damaged(&whole, &damage);
        let mut files = before.clone();
        match &target {
            Target::Before => {}
            Target::After => files = after.clone(),
            Target::Shifted(lines) => for text in files.values_mut() {
                text.insert_str(0, &"s\n".repeat(*lines));
            },
            Target::Shortened => for text in files.values_mut() {
                *text = text.split_inclusive('\n').skip(1).collect();
            },
            Target::Other(other) => drop(files.insert("f".to_owned(), other.clone())),
        }
        let (ours, answer) = by_us(&files, &patch);
        let theirs = by_git(&files, &patch, "-p1");
        match (&ours, &theirs) {
            (Some(ours), Some(theirs)) if ours == theirs => {}
            // git passes without a word over lines of a hunk that its numbers do not count, and over a header that has no end.
            (Some(ours), Some(theirs)) => prop_assert!(
                (!patch.ends_with('\n') || !renumbered(&files, &patch).contains(&patch))
                    && is_repaired(&files, &patch, ours),
                "of {files:?} git makes {theirs:?}, and the tool {ours:?}:\n{patch}\n{answer}"
            ),
            (Some(ours), None) => prop_assert!(
                is_repaired(&files, &patch, ours),
                "git refuses this patch, and it gives {:?} from {:?}:\n{}\n{}", ours, files, patch, answer
            ),
            (None, Some(_)) => {
                // What git wrote for these files is refused by no rule of the tool's own.
                let is_its_own = matches!((&damage, &target), (Damage::None, Target::Before));
                prop_assert!(!is_its_own, "{answer}\n{patch}");
            }
            (None, None) => {}
        }
    }

    #[test]
    fn hunks_without_numbers_make_what_they_were_written_for_or_are_refused(
        one in edited(), context in 1_usize..4, is_of_codex: bool,
    ) {
        let files = |text: String| Files::from([("f".to_owned(), text)]);
        let (before, after) = (files(one.before.clone()), files(one.after()));
        let patch = diff(&before, &after, context);
        prop_assume!(patch.contains("@@"));
        let is_mark = |line: &&str| line.starts_with('\\');
        let line = |line: &str| if line.starts_with("@@ ") { "@@\n".to_owned() } else { line.to_owned() };
        let lines = patch.split_inclusive('\n');
        let patch: String = match is_of_codex {
            false => lines.map(line).collect(),
            true => {
                let hunks: String =
                    lines.skip_while(|it| !it.starts_with("@@ ")).filter(|it| !is_mark(it)).map(line).collect();
                format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n")
            }
        };
        let (ours, answer) = by_us(&before, &patch);
        let (ours, after) = match is_of_codex {
            // It does not say how a file ends.
            true => (ours.as_ref().map(with_last_ends), with_last_ends(&after)),
            false => (ours, after),
        };
        if let Some(ours) = ours {
            prop_assert_eq!(ours, after, "{}\n{}", patch, answer);
        }
    }
}
