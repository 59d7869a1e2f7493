//! A file behind a link inside the workspace: it is judged, ordered and recorded by its own name as well.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use toolwright::policy::{Mode, Policy};
use toolwright::{Call, Executor, ExecutorBuilder, Registry};
use toolwright_toolbox::{FILES, Workspace};

use crate::support::runtime;

/// A workspace whose folder `docs` is a link to `.git/hooks`, over two links, and whose file `notes` is one to `.env`.
fn linked() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at(".git/hooks")).expect("a folder");
    fs::write(at(".env"), "KEY=1\n").expect("a file");
    fs::write(at("plain"), "text\n").expect("a file");
    symlink(".git/hooks", at("hooks")).expect("a link");
    symlink("hooks", at("docs")).expect("a link");
    symlink(".env", at("notes")).expect("a link");
    folder
}

fn executor(folder: &Path, with: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Executor {
    let workspace = Arc::new(Workspace::open(folder).expect("a workspace"));
    let builder = Executor::builder(Registry::of(FILES).expect("the tools fit"));
    with(builder).service_arc(workspace).build().expect("an executor")
}

fn write(path: &str) -> String {
    format!(r#"{{"path":"{path}","content":"x"}}"#)
}

#[test]
fn a_protection_sees_the_file_behind_a_link() {
    let folder = linked();
    let policy = |builder: ExecutorBuilder| {
        builder.policy(Policy::builder().mode(Mode::Unrestricted).base(folder.path()))
    };
    let executor = executor(folder.path(), policy);
    for (path, protection) in [
        ("docs/pre-commit", "protect-git"),
        ("hooks/new/pre-commit", "protect-git"),
        ("notes", "protect-env"),
        (".git/hooks/pre-commit", "protect-git"),
    ] {
        let arguments = write(path);
        let answer = runtime().block_on(executor.call(&Call::new("write_file", &arguments)));
        assert!(answer.is_error(), "{path}: {}", answer.text());
        let explained =
            executor.explain(&Call::new("write_file", &arguments)).expect("it is valid");
        assert!(explained.to_string().contains(protection), "{path}: {explained}");
    }
    assert!(!folder.path().join(".git/hooks/pre-commit").exists());
    assert_eq!(fs::read_to_string(folder.path().join(".env")).expect("a file"), "KEY=1\n");
    let arguments = write("plain");
    let answer = runtime().block_on(executor.call(&Call::new("write_file", &arguments)));
    assert!(!answer.is_error(), "{}", answer.text());
}

#[test]
fn calls_on_one_file_by_two_names_conflict() {
    let folder = linked();
    let executor = executor(folder.path(), ExecutorBuilder::unrestricted);
    let touches = |tool: &str, arguments: &str| {
        let facts = executor.examine(&Call::new(tool, arguments)).expect("it is valid");
        facts.touches().expect("it names its files").clone()
    };
    let own = touches("write_file", &write(".git/hooks/a"));
    assert!(own.conflicts_with(&touches("write_file", &write("docs/a"))));
    assert!(own.conflicts_with(&touches("read_file", r#"{"path":"hooks/a"}"#)));
    assert!(own.conflicts_with(&touches("list_files", r#"{"path":"docs"}"#)));
    assert!(!own.conflicts_with(&touches("write_file", &write("docs/b"))));
    let plain = touches("write_file", &write("plain"));
    assert_eq!(plain.resources_written().map(<[_]>::len), Some(1), "{plain:?}");
}

#[test]
fn a_change_through_a_link_is_recorded_once_and_undone() {
    use toolwright_toolbox::{CHANGES, ChangeLog};

    let (folder, beside) = (linked(), tempfile::tempdir().expect("a folder"));
    let workspace = Arc::new(Workspace::open(folder.path()).expect("a workspace"));
    let log = ChangeLog::open(beside.path().join("changes.db"), Arc::clone(&workspace));
    let log = log.expect("a log");
    let executor =
        Executor::builder(Registry::of(FILES.into_iter().chain(CHANGES)).expect("they fit"))
            .unrestricted()
            .middleware(log.clone())
            .service(log)
            .service_arc(workspace)
            .build()
            .expect("an executor");
    let call = |tool: &str, arguments: &str| {
        let answer = runtime().block_on(executor.call(&Call::new(tool, arguments)));
        assert!(!answer.is_error(), "{}", answer.text());
        answer.text().into_owned()
    };
    call("write_file", &write("notes"));
    let history = call("file_history", "{}");
    assert_eq!(history.matches("write_file").count(), 1, "{history}");
    call("undo_file", r#"{"path":"notes"}"#);
    assert_eq!(fs::read_to_string(folder.path().join(".env")).expect("a file"), "KEY=1\n");
    assert!(folder.path().join("notes").is_symlink());
}

#[test]
fn a_link_to_the_workspace_itself_has_its_name() {
    let folder = linked();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).expect("a folder");
    symlink(".", at("here")).expect("a link");
    symlink("..", at("deep/up")).expect("a link");
    let executor = executor(folder.path(), ExecutorBuilder::unrestricted);
    let touches = |tool: &str, arguments: &str| {
        let facts = executor.examine(&Call::new(tool, arguments)).expect("it is valid");
        facts.touches().expect("it names its files").clone()
    };
    let written = touches("write_file", &write(".env"));
    for path in ["here", "deep/up", "here/deep/up"] {
        let read = touches("list_files", &format!(r#"{{"path":"{path}"}}"#));
        let names = read.resources_read().expect("they are named").iter();
        let names: Vec<_> = names.filter_map(|it| it.name()).collect();
        assert_eq!((names.first(), names.last()), (Some(&path), Some(&".")), "{path}");
        assert!(written.conflicts_with(&read), "{path}");
    }
}

#[test]
fn an_undo_through_a_link_is_judged_by_the_name_of_the_file() {
    use toolwright_toolbox::{CHANGES, ChangeLog};

    let (folder, beside) = (linked(), tempfile::tempdir().expect("a folder"));
    let workspace = Arc::new(Workspace::open(folder.path()).expect("a workspace"));
    let log = ChangeLog::open(beside.path().join("changes.db"), workspace).expect("a log");
    let executor = Executor::builder(Registry::of(CHANGES).expect("they fit"))
        .policy(Policy::builder().mode(Mode::Unrestricted).base(folder.path()))
        .service(log)
        .build()
        .expect("an executor");
    let call = Call::new("undo_file", r#"{"path":"notes"}"#);
    let facts = executor.examine(&call).expect("it is valid");
    let touches = facts.touches().expect("it names its files");
    let written = touches.resources_written().expect("they are named").iter();
    assert_eq!(written.filter_map(|it| it.name()).collect::<Vec<_>>(), ["notes", ".env"]);
    let explained = executor.explain(&call).expect("it is valid").to_string();
    assert!(explained.contains("protect-env"), "{explained}");
}

#[test]
fn a_link_that_leads_out_of_the_folder_names_what_is_there() {
    let folder = linked();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).expect("a folder");
    symlink("/etc", at("system")).expect("a link");
    symlink("../../beside", at("deep/out")).expect("a link");
    let executor = executor(folder.path(), ExecutorBuilder::unrestricted);
    for (path, last) in [("system/hostname", "/etc/hostname"), ("deep/out/a", "../beside/a")] {
        let call = Call::new("read_file", format!(r#"{{"path":"{path}"}}"#));
        let facts = executor.examine(&call).expect("it is valid");
        let touches = facts.touches().expect("it names its files");
        let read = touches.resources_read().expect("they are named").iter();
        assert_eq!(read.filter_map(|it| it.name()).collect::<Vec<_>>(), [path, last]);
        let answer = runtime().block_on(executor.call(&call));
        assert_eq!(answer.error().map(|it| it.kind()), Some("outside_workspace"));
    }
}

#[test]
fn a_file_behind_a_link_is_checked_once() {
    use toolwright_toolbox::SyntaxCheck;

    let folder = linked();
    fs::write(folder.path().join("real.json"), "[]").expect("a file");
    symlink("real.json", folder.path().join("link.json")).expect("a link");
    let workspace = Arc::new(Workspace::open(folder.path()).expect("a workspace"));
    let check = SyntaxCheck::new(workspace);
    let executor = executor(folder.path(), |builder| builder.unrestricted().middleware(check));
    let arguments = r#"{"path":"link.json","content":"[1, 2"}"#;
    let answer = runtime().block_on(executor.call(&Call::new("write_file", arguments)));
    assert_eq!(answer.text().matches("warning").count(), 1, "{}", answer.text());
    assert!(answer.text().contains("`link.json` has syntax errors"), "{}", answer.text());
}

#[test]
fn a_rule_sees_every_link_on_the_way_to_a_file() {
    let folder = linked();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).expect("a folder");
    symlink("../notes", at("deep/memo")).expect("a link");
    symlink("deep/../hooks", at("winding")).expect("a link");
    let executor = executor(folder.path(), ExecutorBuilder::unrestricted);
    let written = |path: &str| -> Vec<String> {
        let facts = executor.examine(&Call::new("write_file", write(path))).expect("it is valid");
        let touches = facts.touches().expect("it names its files");
        let written = touches.resources_written().expect("they are named");
        written.iter().filter_map(|it| it.name().map(str::to_owned)).collect()
    };
    for (path, names) in [
        ("docs/a", &["docs/a", "hooks/a", ".git/hooks/a"][..]),
        ("winding/new/a", &["winding/new/a", "hooks/new/a", ".git/hooks/new/a"]),
        ("deep/memo", &["deep/memo", "notes", ".env"]),
        ("plain", &["plain"]),
    ] {
        assert_eq!(written(path), names, "{path}");
    }
}

#[test]
fn what_a_link_leads_to_over_a_name_that_is_no_text_is_not_opened() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let odd = folder.path().join(OsStr::from_bytes(b"\xff"));
    if let Err(error) = fs::create_dir_all(odd.join(".git/hooks")) {
        return println!("skipped: {error}");
    }
    fs::write(odd.join(".git/hooks/old"), "old\n").expect("a file");
    symlink(OsStr::from_bytes(b"\xff/.git/hooks"), folder.path().join("docs")).expect("a link");
    symlink(OsStr::from_bytes(b"\xff/.git/hooks/old"), folder.path().join("note")).expect("a link");
    let executor = executor(folder.path(), ExecutorBuilder::unrestricted);
    for (tool, arguments) in [
        ("write_file", write("docs/new")),
        ("write_file", write("docs/deep/new")),
        ("write_file", write("docs/old")),
        ("write_file", write("note")),
        ("read_file", r#"{"path":"docs/old"}"#.to_owned()),
        ("read_file", r#"{"path":"note"}"#.to_owned()),
        ("list_files", r#"{"path":"docs"}"#.to_owned()),
        ("grep", r#"{"path":"docs","pattern":"o"}"#.to_owned()),
    ] {
        let answer = runtime().block_on(executor.call(&Call::new(tool, &arguments)));
        let error =
            answer.error().unwrap_or_else(|| panic!("{tool} {arguments}: {}", answer.text()));
        assert_eq!(error.kind(), "not_utf8", "{tool} {arguments}: {error}");
    }
    let hooks = fs::read_dir(odd.join(".git/hooks")).expect("a folder").count();
    assert_eq!(hooks, 1);
    assert_eq!(fs::read_to_string(odd.join(".git/hooks/old")).expect("a file"), "old\n");
}

#[test]
fn a_file_that_is_named_before_its_link_is_checked_once() {
    use toolwright::tool;
    use toolwright_toolbox::SyntaxCheck;

    /// Write two files.
    #[tool(unlinked, effect = idempotent, writes(file = first, file = second), blocking)]
    fn write_both(
        workspace: &Workspace,
        /// One.
        first: String,
        /// Another.
        second: String,
    ) -> Result<String, toolwright::ToolError> {
        workspace.write(&first, b"[1,")?;
        workspace.write(&second, b"[1,")?;
        Ok("done".into())
    }

    for (first, second) in [("a.json", "link.json"), ("link.json", "a.json"), ("a.json", "a.json")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.json"), "[1]").expect("a file");
        symlink("mid.json", folder.path().join("link.json")).expect("a link");
        symlink("a.json", folder.path().join("mid.json")).expect("a link");
        let workspace = Arc::new(Workspace::open(folder.path()).expect("a workspace"));
        let executor = Executor::builder(Registry::of([WRITE_BOTH]).expect("it fits"))
            .unrestricted()
            .middleware(SyntaxCheck::new(Arc::clone(&workspace)))
            .service_arc(workspace)
            .build()
            .expect("an executor");
        let arguments = format!(r#"{{"first":"{first}","second":"{second}"}}"#);
        let answer = runtime().block_on(executor.call(&Call::new("write_both", &arguments)));
        let text = answer.text();
        assert_eq!(text.matches("has syntax errors").count(), 1, "{first} {second}: {text}");
    }
}
