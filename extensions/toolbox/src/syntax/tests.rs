//! What the check reports of edits in each language, and what it leaves out.

use std::time::{Duration, Instant};

use super::compare::worse;
use super::language::Language;
use super::parsed::{Cache, Problem, problems};

/// What is reported of an edit: line, column and words.
fn reported(name: &str, before: &str, after: &str) -> Vec<(usize, usize, String)> {
    let language = Language::of(name).unwrap();
    let found = |text| problems(language, text, Instant::now() + Duration::from_secs(60)).unwrap();
    let places = worse((before, &found(before)), (after, &found(after)));
    places.into_iter().map(|it| (it.line, it.column, it.words)).collect()
}

fn one(line: usize, column: usize, words: &str) -> Vec<(usize, usize, String)> {
    vec![(line, column, words.to_owned())]
}

#[test]
fn a_broken_edit_is_reported_in_each_language() {
    let cases = [
        ("a.rs", "fn main() {\n    run();\n}\n", "fn main() {\n    run(;\n}\n"),
        ("a.ts", "let a: number = 1;\n", "let a: = 1;\n"),
        ("a.tsx", "const a = <b>c</b>;\n", "const a = <b>c</b;\n"),
        ("a.js", "function f() { return 1; }\n", "function f( { return 1; }\n"),
        ("a.jsx", "const a = <b/>;\n", "const a = <b;\n"),
        ("a.py", "def f(a):\n    return a\n", "def f(a:\n    return a\n"),
        ("a.json", "{\"a\": 1}\n", "{\"a\": }\n"),
        ("a.toml", "[a]\nb = 1\n", "[a\nb = 1\n"),
    ];
    for (name, before, after) in cases {
        assert_eq!(reported(name, before, before), [], "{name}");
        assert_eq!(reported(name, after, before), [], "{name}");
        let places = reported(name, before, after);
        assert!(!places.is_empty(), "{name}");
        assert!(places.iter().all(|(line, ..)| *line <= 3), "{name}: {places:?}");
    }
}

#[test]
fn a_missing_token_counts_with_its_place() {
    let whole = "fn main() {\n    let a = (1, 2);\n}\n";
    let broken = "fn main() {\n    let a = (1, 2;\n}\n";
    assert_eq!(reported("a.rs", whole, broken), one(2, 18, "missing `)` after `let a = (1, 2`"));
    let unclosed = "fn main() {\n    let a = (1, 2);\n";
    assert_eq!(reported("a.rs", whole, unclosed), one(2, 5, "error near `let a = (1, 2);`"));
}

#[test]
fn what_was_wrong_before_is_not_reported() {
    let before = "fn a() {\n    let = 1;\n}\n\nfn b() {}\n";
    let longer = format!("// A comment.\n\n{before}\nfn c() {{}}\n");
    assert_eq!(reported("a.rs", before, &longer), []);
    // A second place is reported, and the first is not.
    let worse = before.replace("fn b() {}", "fn b() { run(; }");
    let places = reported("a.rs", before, &worse);
    assert_eq!(places.iter().map(|it| it.0).collect::<Vec<_>>(), [5], "{places:?}");
}

#[test]
fn an_edit_that_repairs_one_place_and_breaks_another_is_reported() {
    let before = "fn a() {\n    let = 1;\n}\n\n\n\n\nfn b() {\n    run();\n}\n";
    let after = "fn a() {\n    let c = 1;\n}\n\n\n\n\nfn b() {\n    run(;\n}\n";
    let places = reported("a.rs", before, after);
    assert_eq!(places.iter().map(|it| it.0).collect::<Vec<_>>(), [9], "{places:?}");
}

#[test]
fn an_edit_that_is_half_of_a_repair_is_not_reported() {
    let before = "fn a() {\n    let = (1;\n}\n";
    assert_eq!(reported("a.rs", before, "fn a() {\n    let b = (1;\n}\n"), []);
}

#[test]
fn columns_are_characters() {
    let before = "let a = [\"ä\", \"ö\"];\n";
    let after = "let a = [\"ä\", \"ö\";\n";
    assert_eq!(
        reported("a.js", before, after),
        one(1, 18, "missing `]` after `let a = [\"ä\", \"ö\"`")
    );
}

#[test]
fn an_edit_of_many_lines_with_many_errors_is_compared_in_time() {
    let text = |word: &str| {
        let lines = (0..20_000).map(|number| format!("{number}\n{word} {number}\n"));
        lines.collect::<String>() + "the last line"
    };
    let problem =
        |column| Problem { line: 40_000, column, end: 40_000, missing: Some(";".to_owned()) };
    let problems: Vec<Problem> = (0..1000).map(problem).collect();
    let begun = Instant::now();
    let places = worse((&text("old"), &[]), (&text("new"), &problems));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(places.len(), 1000);
}

#[test]
fn results_are_those_of_the_very_text() {
    let cache = Cache::default();
    let (good, bad) = ("{\"a\": 1}", "{\"a\": }");
    let json = Language::of("a.json").unwrap();
    for _ in 0..3 {
        assert!(cache.problems(json, good).unwrap().is_empty());
        assert!(!cache.problems(json, bad).unwrap().is_empty());
        // Another language has another result for one text.
        assert!(!cache.problems(Language::of("a.toml").unwrap(), good).unwrap().is_empty());
    }
    for number in 0..200 {
        assert!(cache.problems(json, &number.to_string()).unwrap().is_empty());
    }
    assert!(!cache.problems(json, bad).unwrap().is_empty());
}

#[test]
fn a_text_that_takes_too_long_is_not_checked() {
    let json = Language::of("a.json").unwrap();
    let text = format!("[{}1]", "1, ".repeat(200_000));
    assert_eq!(problems(json, &text, Instant::now()), None);
}

#[test]
fn only_files_of_known_kinds_are_checked() {
    for name in ["a.txt", "rs", ".json", "a.rs.orig", "folder.rs/a", "a.", "Makefile"] {
        assert_eq!(Language::of(name), None, "{name}");
    }
    assert_eq!(Language::of("src/deep/a.b.rs"), Some(Language::Rust));
}
