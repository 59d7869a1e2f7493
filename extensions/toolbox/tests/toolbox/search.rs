//! `list_files`, `glob` and `grep`: what is found, what is left out, and what the answer says of it.

use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use toolwright::{Call, CancellationToken, Executor, Registry, ToolContext, ToolError, tool};
use toolwright_toolbox::{Workspace, glob};

use crate::support::{Box, runtime};

/// A project with ignored, hidden and binary files.
fn project() -> Box {
    let tools = Box::files();
    for (name, content) in [
        (".gitignore", "/target\n*.log\n"),
        (".git/config", "needle\n"),
        (".hidden", "needle\n"),
        ("Cargo.toml", "[package]\n"),
        ("src/lib.rs", "mod needle;\nfn a() {}\n// Needle.\n"),
        ("src/deep/er/mod.rs", "needle needle\n"),
        ("src/web/app.tsx", "const needle = 1;\r\n"),
        ("src/web/style.css", "a {}\n"),
        ("target/debug/out.rs", "needle\n"),
        ("notes.log", "needle\n"),
        ("data.bin", "needle\0\n"),
        ("config/.env", "needle\n"),
        ("config/server.PEM", "needle\n"),
        ("config/secrets/prod.yml", "needle\n"),
    ] {
        tools.put(name, content);
    }
    tools
}

/// S1.28, S4.8.
#[test]
fn files_and_folders_are_listed_in_order_without_what_git_ignores() {
    let tools = project();
    assert_eq!(
        tools.ok("list_files", json!({})),
        "Cargo.toml\nconfig/\nconfig/secrets/\nconfig/secrets/prod.yml\nconfig/server.PEM\ndata.bin\n\
        src/\nsrc/deep/\nsrc/deep/er/\nsrc/lib.rs\nsrc/web/\nsrc/web/app.tsx\nsrc/web/style.css"
    );
    assert_eq!(
        tools.ok("list_files", json!({"path": "src", "depth": 1})),
        "src/deep/\nsrc/lib.rs\nsrc/web/"
    );
    let all = tools.ok("list_files", json!({"include_ignored": true, "depth": 1}));
    assert_eq!(all, ".gitignore\n.hidden\nCargo.toml\nconfig/\ndata.bin\nnotes.log\nsrc/\ntarget/");
    // What is named is listed though it is ignored.
    assert_eq!(
        tools.ok("list_files", json!({"path": "target"})),
        "target/debug/\ntarget/debug/out.rs"
    );
}

#[test]
fn a_link_inside_shows_no_secret_to_a_search() {
    let tools = project();
    symlink("config/.env", tools.path("notes.txt")).unwrap();
    symlink("config/secrets", tools.path("docs")).unwrap();
    for path in ["notes.txt", "docs"] {
        let found = tools.ok("grep", json!({"pattern": "needle", "path": path}));
        assert!(found.contains("not searched") && !found.contains(":"), "{path}: {found}");
    }
}

#[test]
fn rules_above_a_hidden_folder_count_where_it_is_searched_by_name() {
    let tools = project();
    tools.put(".github/ci.yml", "needle\n");
    tools.put(".github/run.log", "needle\n");
    tools.put(".github/.old/ci.yml", "needle\n");
    assert_eq!(tools.ok("list_files", json!({"path": ".github"})), ".github/ci.yml");
    let found = tools.ok("grep", json!({"pattern": "needle", "path": ".github", "mode": "files"}));
    assert_eq!(found, ".github/ci.yml");
}

#[test]
fn a_folder_without_git_is_searched_by_its_rules_all_the_same() {
    let tools = Box::files();
    tools.put(".gitignore", "target\n");
    tools.put("target/a", "needle\n");
    tools.put("b", "needle\n");
    assert_eq!(tools.ok("list_files", json!({})), "b");
    assert_eq!(tools.ok("grep", json!({"pattern": "needle"})), "b:1:needle");
}

#[test]
fn a_limit_that_was_reached_is_reported_with_what_is_left_out() {
    let tools = project();
    assert_eq!(
        tools.ok("list_files", json!({"limit": 2})),
        "Cargo.toml\nconfig/\n[11 more paths: list a folder below, or raise `limit`]"
    );
    let globbed = tools.ok("glob", json!({"pattern": "src/**", "limit": 1}));
    assert!(
        globbed.ends_with("[3 more files, which are older: narrow the pattern, or raise `limit`]")
    );
    assert_eq!(
        tools.ok("grep", json!({"pattern": "needle", "limit": 1})),
        "src/deep/er/mod.rs:1:needle needle\n\
        [2 more lines match: narrow the pattern, `path` or `glob`, or raise `limit`]\n\
        [2 files were not searched, because of names that say that they hold keys or secrets]"
    );
    let files = json!({"pattern": "needle", "limit": 1, "mode": "files", "path": "src"});
    assert_eq!(
        tools.ok("grep", files),
        "src/deep/er/mod.rs\n\
        [2 more files have lines that match: narrow the pattern, `path` or `glob`, or raise `limit`]"
    );
}

/// S1.28, S4.8: a listing by a pattern, with sizes.
#[test]
fn a_listing_is_narrowed_by_a_pattern_and_shows_sizes() {
    let tools = project();
    assert_eq!(
        tools.ok("list_files", json!({"glob": "*.{rs,tsx}", "sizes": true, "depth": 9})),
        "src/deep/er/mod.rs\t14\nsrc/lib.rs\t33\nsrc/web/app.tsx\t19"
    );
    assert_eq!(
        tools.ok("list_files", json!({"path": "src", "glob": "web/*"})),
        "src/web/app.tsx\nsrc/web/style.css"
    );
    assert_eq!(
        tools.ok("list_files", json!({"path": "src", "depth": 1, "sizes": true})),
        "src/deep/\nsrc/lib.rs\t33\nsrc/web/"
    );
    assert_eq!(tools.ok("list_files", json!({"glob": "*.py"})), "no file below `.` matches `*.py`");
    assert_eq!(tools.refused("list_files", json!({"glob": "{a"})).0, "invalid_input");
}

#[test]
fn rules_of_the_workspace_count_in_a_folder_below_it_and_those_above_it_do_not() {
    let tools = Box::files();
    tools.put("../.gitignore", "*.txt\n");
    tools.put("../.ignore", "*.txt\n");
    tools.put(".gitignore", "*.log\n/sub/anchored\n");
    tools.put("sub/.gitignore", "!kept.log\n");
    for name in ["a.txt", "b.log", "kept.log", "anchored", "deep/c.log"] {
        tools.put(&format!("sub/{name}"), "needle\n");
    }
    assert_eq!(
        tools.ok("list_files", json!({"path": "sub"})),
        "sub/a.txt\nsub/deep/\nsub/kept.log"
    );
    assert_eq!(
        tools.ok("list_files", json!({"path": "sub", "depth": 1})),
        "sub/a.txt\nsub/deep/\nsub/kept.log"
    );
    let found = json!({"pattern": "needle", "path": "sub", "mode": "files"});
    assert_eq!(tools.ok("grep", found), "sub/a.txt\nsub/kept.log");
    let found = tools.ok("glob", json!({"pattern": "**/*", "path": "sub"}));
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_unstable();
    assert_eq!(found, ["sub/a.txt", "sub/kept.log"]);
    // What is named counts though a rule names it too.
    let named = json!({"pattern": "needle", "path": "sub/b.log"});
    assert_eq!(tools.ok("grep", named), "sub/b.log:1:needle");
}

#[test]
fn text_in_utf_16_is_searched_and_a_file_that_is_one_endless_line_is_reported() {
    let tools = Box::files();
    let utf16: Vec<u8> = "\u{feff}one needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    tools.put("wide", utf16);
    tools.put("a", "needle\n");
    let endless = fs::File::create(tools.path("endless")).unwrap();
    std::io::Write::write_all(&mut &endless, &vec![b'x'; 33 << 20]).unwrap();
    // Of 2 GiB, without a line: it is binary from its first byte on.
    fs::File::create(tools.path("sparse")).unwrap().set_len(2 << 30).unwrap();
    assert_eq!(
        tools.ok("grep", json!({"pattern": "needle"})),
        "a:1:needle\nwide:1:one needle\n[1 entry could not be read: no right to, or a name that is not UTF-8]"
    );
    assert_eq!(tools.refused("read_file", json!({"path": "sparse"})).0, "file_too_large");
}

#[test]
fn text_in_latin_1_is_searched_as_it_is_read() {
    let tools = Box::files();
    tools.put("latin", b"one\ncaf\xe9 \x80 5\n");
    // With a control character it is no text, and is searched as it is.
    tools.put("binary", b"caf\xe9 caf\xc3\xa9 \x01\n");
    tools.put("utf8", "café 1\n");
    let read = tools.ok("read_file", json!({"path": "latin"}));
    assert!(read.contains("2\tcafé € 5"), "{read}");
    assert_eq!(tools.ok("grep", json!({"pattern": "caf. ", "path": "latin"})), "latin:2:café € 5");
    assert_eq!(
        tools.ok("grep", json!({"pattern": "CAFÉ", "ignore_case": true, "mode": "count"})),
        "binary:1\nlatin:1\nutf8:1"
    );
}

#[test]
fn braces_in_ignore_files_are_literal_as_in_git() {
    let tools = Box::files();
    tools.put(".gitignore", "*.{log,tmp}\n{a}\n");
    for name in ["b.log", "b.tmp", "b.{log,tmp}", "a", "{a}"] {
        tools.put(name, "needle\n");
    }
    assert_eq!(tools.ok("list_files", json!({})), "a\nb.log\nb.tmp");
    let found = tools.ok("grep", json!({"pattern": "needle", "mode": "files"}));
    assert_eq!(found, "a\nb.log\nb.tmp");
}

/// What git itself lists, which is asked where there are rules of several kinds.
#[test]
fn what_is_listed_is_what_git_lists() {
    let tools = Box::files();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(tools.path(""))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git is installed");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    tools.put(".git/info/exclude", "*.excluded\n!both\n");
    tools.put(
        ".gitignore",
        "\u{feff}*.log\n/build/\nboth\n!keep.log\n*.{a,b}\nx[{]y\n\\{z\nsub/*.tmp\n# c\n\\#d\ntrail \n**/deep/x\n[\n",
    );
    tools.put("sub/.gitignore", "!a.log\n/own\n*.sub\n!/keep/*.log\n");
    for name in [
        "a.log",
        "keep.log",
        "build/x",
        "src/build/x",
        "both",
        "c.a",
        "c.{a,b}",
        "x{y",
        "{z",
        "sub/a.tmp",
        "src/sub/a.tmp",
        "#d",
        "trail",
        "src/deep/x",
        "deep/x/y",
        "e.excluded",
        "sub/a.log",
        "sub/b.log",
        "sub/own",
        "sub/in/own",
        "sub/in/a.sub",
        "sub/keep/b.log",
        "[",
    ] {
        tools.put(name, "needle\n");
    }
    let expected =
        git(&["-c", "core.quotePath=false", "ls-files", "--others", "--exclude-standard"]);
    let mut expected: Vec<&str> =
        expected.lines().filter(|it| !it.contains(".gitignore")).collect();
    expected.sort_unstable();
    let found = tools.ok("grep", json!({"pattern": "needle", "mode": "files", "limit": 1000}));
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn a_folder_with_40_000_files_is_searched_within_its_limits() {
    let tools = Box::files();
    fs::create_dir(tools.path("many")).unwrap();
    let folder = tools.path("many");
    // Links to one file cost no blocks, and are files.
    fs::write(folder.join("0"), "needle\n").unwrap();
    for number in 1..40_000 {
        // A file has so many names at the most.
        let from = folder.join((number / 30_000 * 30_000).to_string());
        let to = folder.join(number.to_string());
        match number % 30_000 {
            0 => fs::write(to, "needle\n").unwrap(),
            _ => fs::hard_link(from, to).unwrap(),
        }
    }
    let listed = tools.ok("list_files", json!({"path": "many", "limit": 3}));
    assert_eq!(
        listed,
        "many/0\nmany/1\nmany/10\n[39997 more paths: list a folder below, or raise `limit`]"
    );
    let globbed = tools.ok("glob", json!({"pattern": "many/*", "limit": 2}));
    assert!(globbed.contains("[39998 more files, which are older"), "{globbed}");
    let found = tools.ok("grep", json!({"pattern": "needle", "limit": 2}));
    assert!(
        found.starts_with("many/0:1:needle\nmany/1:1:needle\n[39998 more lines match"),
        "{found}"
    );
}

#[test]
fn an_empty_folder_is_not_an_empty_answer() {
    let tools = Box::files();
    let listed = tools.ok("list_files", json!({}));
    assert_eq!(listed, "`.` has no files that are neither hidden nor ignored");
    let all = tools.ok("list_files", json!({"include_ignored": true}));
    assert_eq!(all, "`.` is empty");
    let globbed = tools.ok("glob", json!({"pattern": "*.rs"}));
    assert_eq!(
        globbed,
        "no file below `.` matches `*.rs`; in all folders below it looks `**/*.rs`"
    );
    assert_eq!(tools.ok("grep", json!({"pattern": "x"})), "no line matches in `.`");
}

/// S1.31, S2.40, S2.62.
#[test]
fn a_pattern_of_paths_finds_the_newest_files_first() {
    let tools = project();
    let now = SystemTime::now();
    for (age, name) in [(30, "src/lib.rs"), (10, "src/deep/er/mod.rs"), (20, "src/web/app.tsx")] {
        let file = fs::File::options().write(true).open(tools.path(name)).unwrap();
        file.set_modified(now - Duration::from_secs(age)).unwrap();
    }
    let glob = |pattern: &str| tools.ok("glob", json!({"pattern": pattern}));
    assert_eq!(glob("**/*.{rs,tsx}"), "src/deep/er/mod.rs\nsrc/web/app.tsx\nsrc/lib.rs");
    assert_eq!(glob("src/*.rs"), "src/lib.rs");
    assert_eq!(glob("src/*/*.tsx"), "src/web/app.tsx");
    assert_eq!(glob("src/[kl]ib.r?"), "src/lib.rs");
    let below = json!({"pattern": "er/*.rs", "path": "src/deep"});
    assert_eq!(tools.ok("glob", below), "src/deep/er/mod.rs");
    let ignored = json!({"pattern": "**/*.log", "include_ignored": true});
    assert_eq!(tools.ok("glob", ignored), "notes.log");
}

/// S1.30, S2.41, S2.62.
#[test]
fn lines_that_match_are_answered_with_their_file_and_number() {
    let tools = project();
    let found = |input| tools.ok("grep", input);
    assert_eq!(
        found(json!({"pattern": "needle", "path": "src"})),
        "src/deep/er/mod.rs:1:needle needle\nsrc/lib.rs:1:mod needle;\nsrc/web/app.tsx:1:const needle = 1;"
    );
    assert_eq!(
        found(json!({"pattern": "^// n", "path": "src", "ignore_case": true})),
        "src/lib.rs:3:// Needle."
    );
    assert_eq!(
        found(json!({"pattern": "a() {}", "path": "src", "literal": true})),
        "src/lib.rs:2:fn a() {}"
    );
    assert_eq!(
        found(json!({"pattern": "1;$", "path": "src/web"})),
        "src/web/app.tsx:1:const needle = 1;"
    );
    assert_eq!(
        found(json!({"pattern": "NEEDLE", "path": "src/lib.rs"})),
        "no line matches in `src/lib.rs`"
    );
}

#[test]
fn files_to_search_are_selected_by_name_or_by_path() {
    let tools = project();
    let found = |glob: &str| {
        tools.ok("grep", json!({"pattern": "needle", "path": "src", "glob": glob, "mode": "count"}))
    };
    assert_eq!(found("*.rs"), "src/deep/er/mod.rs:1\nsrc/lib.rs:1");
    assert_eq!(found("*.{tsx,css}"), "src/web/app.tsx:1");
    assert_eq!(found("web/**"), "src/web/app.tsx:1");
    assert_eq!(found("*/*.rs"), "no line matches in `src`");
}

#[test]
fn lines_around_a_match_are_marked_and_only_those_of_lines_that_are_shown() {
    let tools = Box::files();
    tools.put("a", "1\n2\nhit 3\n4\n5\n6\n7\nhit 8\n9\n");
    let around = json!({"pattern": "hit", "context_lines": 1});
    assert_eq!(tools.ok("grep", around), "a-2-2\na:3:hit 3\na-4-4\n--\na-7-7\na:8:hit 8\na-9-9");
    let limited = json!({"pattern": "hit", "context_lines": 1, "limit": 1});
    assert_eq!(
        tools.ok("grep", limited),
        "a-2-2\na:3:hit 3\na-4-4\n[1 more line matches: narrow the pattern, `path` or `glob`, or raise `limit`]"
    );
    tools.put("long", format!("hit {}\n", "x".repeat(600)));
    let long = tools.ok("grep", json!({"pattern": "hit", "path": "long"}));
    assert!(long.ends_with("x… [104 characters more]"), "{long}");
}

#[test]
fn keys_secrets_and_binary_files_are_not_searched_by_any_path() {
    let tools = project();
    for path in ["config", "config/.env", "config/server.PEM", "config/secrets/prod.yml"] {
        let input = json!({"pattern": "needle", "path": path, "include_ignored": true});
        let found = tools.ok("grep", input);
        assert!(found.starts_with(&format!("no line matches in `{path}`\n[")), "{found}");
        assert!(found.contains("not searched, because of names"), "{found}");
    }
    assert_eq!(
        tools.ok("grep", json!({"pattern": "needle", "path": "data.bin"})),
        "no line matches in `data.bin`"
    );
    // `.git` is git's own, even where all is asked for.
    let all = json!({"pattern": "needle", "include_ignored": true, "mode": "files"});
    assert!(!tools.ok("grep", all).contains(".git/"));
}

#[test]
fn a_binary_file_is_left_out_in_each_mode() {
    let tools = Box::files();
    tools.put("a", format!("needle\n{}\0", "text\n".repeat(40_000)));
    for mode in ["content", "count", "files"] {
        assert_eq!(
            tools.ok("grep", json!({"pattern": "needle", "mode": mode})),
            "no line matches in `.`",
            "{mode}"
        );
    }
}

#[test]
fn a_pattern_that_is_none_is_refused_with_the_reason() {
    let tools = project();
    for (tool, input, words) in [
        (
            "grep",
            json!({"pattern": "a("}),
            "`pattern` is not a supported regular expression: unclosed group",
        ),
        ("grep", json!({"pattern": "a\nb"}), "`pattern` is not a supported regular expression: "),
        (
            "grep",
            json!({"pattern": "(a{1000}){1000}"}),
            "`pattern` is not a supported regular expression: ",
        ),
        ("grep", json!({"pattern": "a", "glob": "[a"}), "`glob` is not a valid path pattern: "),
        ("glob", json!({"pattern": "{a"}), "`pattern` is not a valid path pattern: "),
    ] {
        let (kind, message) = tools.refused(tool, input);
        assert_eq!(kind, "invalid_input", "{message}");
        assert!(message.starts_with(words), "{message}");
    }
}

#[test]
fn a_file_is_no_folder_to_list_and_what_is_missing_is_reported() {
    let tools = project();
    for tool in ["list_files", "glob"] {
        let input = |path: &str| match tool {
            "glob" => json!({"pattern": "*", "path": path}),
            _ => json!({"path": path}),
        };
        let refused = tools.refused(tool, input("Cargo.toml"));
        assert_eq!(refused.1, "`Cargo.toml` is a file, expected a folder");
        assert_eq!(tools.refused(tool, input("none")).0, "not_found");
    }
    assert_eq!(tools.refused("grep", json!({"pattern": "x", "path": "none"})).0, "not_found");
}

#[test]
fn a_name_that_is_not_utf_8_is_counted_and_links_are_not_followed() {
    let tools = Box::files();
    let name = std::ffi::OsString::from_vec(b"caf\xe9".to_vec());
    fs::write(tools.path("").join(name), "needle\n").unwrap();
    tools.put("folder/a", "needle\n");
    symlink("folder", tools.path("link")).unwrap();
    symlink(".", tools.path("folder/loop")).unwrap();
    let note = "[1 entry could not be read: no right to, or a name that is not UTF-8]";
    assert_eq!(
        tools.ok("list_files", json!({})),
        format!("folder/\nfolder/a\nfolder/loop\nlink\n{note}")
    );
    assert_eq!(
        tools.ok("grep", json!({"pattern": "needle"})),
        format!("folder/a:1:needle\n{note}")
    );
}

/// Cancels its own call, and searches.
#[tool(unlinked, effect = read)]
async fn cancel_and_search(
    workspace: &Workspace,
    context: &ToolContext,
    cancelled: &CancellationToken,
    seen: &Mutex<Option<ToolError>>,
) {
    cancelled.cancel();
    let found = glob(workspace, context, "**".to_owned(), ".".to_owned(), false, 10);
    *seen.lock().unwrap() = found.err();
}

#[test]
fn a_search_ends_when_its_call_is_cancelled() {
    let around = Box::files();
    around.put("a", "x\n");
    let (cancelled, seen) = (CancellationToken::new(), Arc::new(Mutex::new(None::<ToolError>)));
    let executor = Executor::builder(Registry::of([CANCEL_AND_SEARCH]).unwrap()).unrestricted();
    let executor = executor
        .service(Workspace::open(around.path("")).unwrap())
        .service(cancelled.clone())
        .service_arc(Arc::clone(&seen))
        .build()
        .unwrap();
    let call = Call::new("cancel_and_search", "{}").cancelled_by(cancelled);
    runtime().block_on(executor.call(&call));
    let error = seen.lock().unwrap().take().expect("it did not search");
    assert_eq!(error.kind(), "cancelled");
}
