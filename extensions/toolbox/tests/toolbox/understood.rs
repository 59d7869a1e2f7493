//! A line is safe where every word of it is understood: whatever is put into a safe line that is not, it asks.

use proptest::prelude::*;
use toolwright::Danger;
use toolwright_toolbox::{CommandTable, classify, classify_by};

const CORPUS: &str = include_str!("../commands.txt");

/// The safe lines of the corpus of one command, without quotes, so that a word can be put behind any of theirs.
fn plain() -> Vec<&'static str> {
    let lines = CORPUS.lines().filter_map(|it| it.strip_prefix("safe | ")?.rsplit_once(" | "));
    let is_plain = |it: &char| it.is_alphanumeric() || " _-./,:=+".contains(*it);
    let mut lines: Vec<&str> = lines
        .map(|(line, _)| line)
        .filter(|it| !it.is_empty() && it.chars().all(|it| is_plain(&it)))
        // Behind `--`, and for these, a flag is a text like any other.
        .filter(|it| {
            it.split(' ')
                .all(|it| !["echo", "basename", "dirname", "[", "xargs", "--"].contains(&it))
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// A line with a word behind one of its own.
fn put(line: &str, word: &str, at: usize) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let at = 1 + at % words.len();
    words.insert(at, word);
    words.join(" ")
}

#[test]
fn there_are_lines_to_put_words_into() {
    let lines = plain();
    assert!(lines.len() > 250, "{}", lines.len());
    for line in lines {
        assert_eq!(classify(line).danger(), Danger::Safe, "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    #[test]
    fn a_line_with_an_unknown_flag_is_never_safe(line in prop::sample::select(plain()), at in 0_usize..9, flag in "--[a-z]{3,9}-unheard-of(=x)?|-[§µ]x?") {
        let line = put(line, &flag, at);
        // Behind another flag it may be the value of that one: a pattern that begins with a hyphen.
        let before = line.split(' ').take_while(|it| *it != flag).last();
        prop_assume!(before.is_none_or(|it| !it.starts_with('-')));
        prop_assert!(classify(&line).danger() > Danger::Safe, "{line}");
    }

    #[test]
    fn a_line_with_an_expansion_is_never_safe(
        line in prop::sample::select(plain()), at in 0_usize..9,
        word in prop::sample::select(vec![
            "$HOME", "${x}", "$(id)", "`id`", "$((x))", "$((1+1))", "${x:=y}", "${!x}", "$1", "$@", "\"$x\"", "\"${x[0]}\"", "\"$(id)\"",
            "$'\\x2d'$x", "~", "~root", "~/x", "{a,b}", "{1..3}", "a{b,c}d", "<(id)", ">(id)", "$[1+1]", "\"$[x]\"", "x$y", "'a'$x", "$\"a\"",
            "${x@P}", "${#x}", "${x/a/b}", "$?", "$$", "$_", "$-", "\"a${x}b\"",
        ]),
    ) {
        let line = put(line, word, at);
        prop_assert!(classify(&line).danger() > Danger::Safe, "{line}");
    }

    #[test]
    fn a_line_with_an_assignment_is_safe_for_harmless_names_only(
        line in prop::sample::select(plain()), name in "[A-Z_]{1,3}[A-Z_]{2,12}|(GIT|LD|BASH|PYTHON|CARGO|npm_config)_[A-Za-z]{1,9}|PATH|IFS|ENV|http_proxy",
        how in prop::sample::select(vec!["@N=v @L", "@N='v w' @L", "@N=\"v\" @L", "@N=v; @L", "@N='v'\n@L", "export @N=v; @L", "export @N='v' && @L", "env @N=v @L", "declare -x @N=v; @L", "readonly @N='v'; @L"]),
    ) {
        let harmless = ["LANG", "LC_", "TZ", "NO_COLOR", "CLICOLOR", "FORCE_COLOR", "COLUMNS", "LINES", "RUST_", "CI", "TERM", "COLORTERM", "DEBIAN_FRONTEND", "LANGUAGE", "FOO", "BAR"];
        prop_assume!(!harmless.iter().any(|it| name.starts_with(it)));
        let line = how.replace("@L", line).replace("@N", &name);
        prop_assert!(classify(&line).danger() > Danger::Safe, "{line}");
    }

    #[test]
    fn a_line_that_runs_and_writes_beside_is_never_safe(
        line in prop::sample::select(plain()),
        how in prop::sample::select(vec![
            "@L > out", "@L >> out", "@L &> out", "@L >| out", "@L 2> out", "@L | tee out", "@L | sh", "@L; frob", "@L && frob", "@L & frob", "frob | @L",
            "@L\nfrob", "@L # x\nfrob", "(@L; frob)", "{ @L; frob; }", "! frob; @L", "if @L; then frob; fi", "while @L; do frob; done", "f() { @L; }; f",
            "eval '@L'", "trap '@L' EXIT", "source x; @L", "@L < ../x", "@L < .env", "cd ..; @L", "cd; @L", "cd -; @L", "cd $x; @L", "@L <> x", "coproc @L", "exec @L",
            "@L 3> x", "@L {PATH}</dev/null", "@L >&3", "time frob; @L", "env -i @L", "sudo @L", "xargs @L", "@L | xargs cat", "alias ls=x; @L", "@L\r", "@L\u{a0}", "@L\u{200b}", "@L\u{0}", "@L \\\n  --x-y-z",
            "for i in 1; do frob; done; @L", "case x in x) frob;; esac; @L", "@L <<< $x", "@L <<EOF\n$x\nEOF", "bash -c '@L; frob'", "sh -c '@L > x'", "timeout 5 frob; @L",
            "[[ a -eq b ]]; @L", "((x=1)); @L", "let x=1; @L", "read x; @L", "printf -v x y; @L", "test -v x; @L", "unset x; @L", "set -- a; @L", "shopt -s extglob; @L",
        ]),
    ) {
        let line = how.replace("@L", line);
        prop_assert!(classify(&line).danger() > Danger::Safe, "{line:?}");
    }

    #[test]
    fn no_text_makes_the_classifier_fall_over(text in "[ -~\n\t$`'\"\\\\(){}|&;<>]{0,200}") {
        let found = classify(&text);
        prop_assert_eq!(found.danger() == Danger::Safe, found.parts().iter().all(|it| it.danger == Danger::Safe));
    }
}

#[test]
fn a_letter_that_looks_like_another_is_not_understood() {
    for line in [
        "саt a",
        "ls\u{a0}-l",
        "cat\u{3000}a",
        "ls \u{2010}l",
        "git\u{2009}status",
        "gіt status",
        "ls ‐a",
    ] {
        assert!(classify(line).danger() > Danger::Safe, "{line}");
    }
}

#[test]
fn a_program_that_an_application_adds_is_safe_in_the_forms_that_it_gives() {
    let entry = r#"
        [[program]]
        names = ["ls"]
        level = "moderate"
        why = "is another program here"
    "#;
    let table = CommandTable::standard().clone().with(entry).unwrap();
    assert_eq!(classify_by("ls -l", &table).danger(), Danger::Moderate);
    let form = "[[form]]\nnames = [\"ls\"]\nflags = \"-l\"\n";
    let table = table.with(form).unwrap();
    assert_eq!(classify_by("ls -l", &table).danger(), Danger::Safe);
    assert_eq!(classify_by("ls -a", &table).danger(), Danger::Moderate);
    let wrong =
        CommandTable::standard().clone().with("[[form]]\nnames = [\"x\"]\nflags = \"-l:frob\"\n");
    assert_eq!(wrong.unwrap_err().to_string(), "`frob` is not a type of value");
}

#[test]
fn the_word_that_is_not_understood_is_named() {
    let reason = |line: &str| classify(line).to_string();
    assert_eq!(
        reason("sed -nq p x"),
        "moderate: `-nq` has the flag `-q`, which is not known of it"
    );
    assert_eq!(
        reason("cat ../calls.db | head -c 3"),
        "moderate: `../calls.db` lies outside of the folder"
    );
    assert_eq!(reason("ls; git log $x"), "moderate: `$x` is a variable whose value is not known");
    let found = classify("ls -l | sort --frob");
    assert_eq!(&"ls -l | sort --frob"[found.worst().unwrap().range.clone()], "--frob");
}

#[test]
fn a_value_that_is_known_exactly_is_judged_as_if_it_stood_there() {
    for (line, level) in [
        ("x=a.txt; cat $x", Danger::Safe),
        ("x=a.txt; cat \"./$x\"", Danger::Safe),
        ("x=../a; cat \"$x\"", Danger::Moderate),
        ("x=a; x=../b; cat \"$x\"", Danger::Moderate),
        ("x=a & cat \"$x\"", Danger::Moderate),
        ("true && x=a; cat \"$x\"", Danger::Moderate),
        ("for f in a b; do cat \"$f\"; done", Danger::Safe),
        ("for f in a ../b; do cat \"$f\"; done", Danger::Moderate),
        ("for f in src/*.rs; do head -3 \"$f\"; done", Danger::Safe),
        // What the pattern fits is looked at when the line runs, where it means the same.
        ("for f in *; do cat \"$f\"; done", Danger::Safe),
        ("for f in *; do (cd src && cat \"$f\"); done", Danger::Moderate),
        ("for f in .*; do cat \"$f\"; done", Danger::Moderate),
    ] {
        assert_eq!(classify(line).danger(), level, "{line}");
    }
}

#[test]
fn the_folder_is_followed() {
    for (line, level) in [
        ("cd src && cat ../a", Danger::Safe),
        ("cd src; cat ../a", Danger::Moderate),
        ("cd src\ncat ../a", Danger::Moderate),
        ("cd src || cat ../a", Danger::Moderate),
        ("(cd src && ls) && cat ../a", Danger::Moderate),
        ("cd src | cat ../a", Danger::Moderate),
        ("cd src & cat ../a", Danger::Moderate),
        ("cd src && cd .. && cat a", Danger::Safe),
        ("cd src && cd ../.. && ls", Danger::Moderate),
        ("cd src && cat < ../a", Danger::Safe),
        ("cat < ../a && cd src", Danger::Moderate),
        ("cd src && git -C .. status", Danger::Safe),
        ("git -C .. status", Danger::Moderate),
        ("if cd src; then cat ../a; fi", Danger::Moderate),
        ("bash -c 'cd src && cat ../a'", Danger::Safe),
        ("bash -c 'cd src'; cat ../a", Danger::Moderate),
    ] {
        assert_eq!(classify(line).danger(), level, "{line}");
    }
}

#[test]
fn a_line_of_very_many_parts_is_not_read_and_asks() {
    for line in [
        "ls;".repeat(5000),
        "ls\n".repeat(5000),
        "x=1;".repeat(5000),
        "ls>a;".repeat(5000),
        "echo $(id);".repeat(3000),
    ] {
        assert!(classify(&line).danger() > Danger::Safe, "{line:.20}");
    }
    assert_eq!(classify(&"ls;".repeat(1000)).danger(), Danger::Safe);
    let found = classify(&format!("bash -c '{}'", "ls;".repeat(5000)));
    assert!(found.danger() > Danger::Safe && found.parts().len() < 9000, "{}", found.parts().len());
}
