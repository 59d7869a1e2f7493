//! The command line as a person and a script see it: results on standard output and nothing else,
//! words for people on standard error, exit codes for scripts.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toolwright::dialect::Dialect;
use toolwright::provider::Provider;
use toolwright::{Call, Definition, Executor, Registry};
use toolwright_toolbox::Workspace;

/// What a command left behind.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// A folder with the files that the captured messages ask for.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    for (path, text) in [
        ("README.md", "# A project\n\nIt has \"quotes\".\n"),
        ("Cargo.toml", "[workspace]\nmembers = []\n"),
        ("macros/src/lib.rs", "#[proc_macro_attribute]\npub fn tool() {}\n"),
        ("runtime/src/tool.rs", "pub enum Danger {\n    Safe,\n}\n"),
        ("runtime/src/stage/plan.rs", "// nothing yet\n"),
        (".hidden", "nobody is to see this\n"),
    ] {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn run_with(folder: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_workspace"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    run_with(folder, arguments, "")
}

fn message(provider: &str) -> String {
    format!("{}/messages/{provider}.json", env!("CARGO_MANIFEST_DIR"))
}

/// The words of the command that runs a tool.
fn command(definition: &Definition) -> [String; 2] {
    let group = definition.group.as_deref().unwrap();
    let name = definition.name.replace('_', "-");
    let group_said = [format!("-{group}"), format!("-{group}s")];
    let short = group_said.iter().find_map(|suffix| name.strip_suffix(suffix.as_str()));
    [group.to_owned(), short.unwrap_or(&name).to_owned()]
}

/// Line breaks are the terminal's affair.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// S0.6: a tool's name is its subcommand.
/// S0.8: its group is the namespace that the subcommand stands in.
#[test]
fn every_tool_is_a_subcommand_of_its_name_in_its_group() {
    let folder = folder("names");
    for definition in Registry::linked().unwrap().definitions() {
        let [group, name] = command(&definition);
        let listed = run(&folder, &[&group, "--help"]).out;
        assert!(
            listed.lines().any(|line| line.split_whitespace().next() == Some(&name)),
            "{listed}"
        );
        assert_eq!(run(&folder, &[&group, &name, "--help"]).code, 0);
        assert_eq!(run(&folder, &[&name]).code, 2, "`{name}` stands outside its group");
    }
}

/// S0.7: a tool's description is the model's and the help's.
/// S0.10: each field of the input has its description in the schema of the model, and a flag or a
/// place on the command line with the same words.
#[test]
fn the_help_of_a_command_says_what_the_definition_says() {
    let folder = folder("help");
    for definition in Registry::linked().unwrap().definitions() {
        let [group, name] = command(&definition);
        let help = words(&run(&folder, &[&group, &name, "--help"]).out);
        assert!(help.contains(&words(&definition.description)), "{help}");
        for parameter in &definition.parameters {
            let schema = &definition.input_schema["properties"][&parameter.name];
            assert_eq!(schema["description"], parameter.description.as_str());
            assert!(help.contains(&words(&parameter.description)), "{help}");
            let flag = format!("--{}", parameter.name.replace('_', "-"));
            let place = format!("<{}>", parameter.name.to_uppercase());
            assert!(help.contains(&flag) || help.contains(&place), "{help}");
        }
    }
}

/// S3.50: every tool is described, and not at length in its first line.
/// S3.51: every field is described.
#[test]
fn every_tool_and_every_field_of_it_is_described() {
    let registry = Registry::linked().unwrap();
    assert_eq!(registry.definitions().count(), 6);
    for definition in registry.definitions() {
        let first = definition.description.lines().next().unwrap_or_default();
        assert!((10..120).contains(&first.len()), "{}: {first}", definition.name);
        for parameter in &definition.parameters {
            assert!(!parameter.description.is_empty(), "{} {}", definition.name, parameter.name);
        }
    }
}

/// S0.1: a tool is defined once, and is a command and a model's tool, which give the same.
#[tokio::test]
async fn one_definition_is_a_command_and_a_models_tool() {
    let folder = folder("once");
    let typed = run(&folder, &["file", "read", "README.md", "--limit", "1"]);
    let builder = Executor::builder(Registry::linked().unwrap()).unrestricted();
    let executor = builder.service(Workspace::open(&folder).unwrap()).build().unwrap();
    let call = Call::new("read_file", r#"{"path":"README.md","limit":1}"#);
    let called = executor.call(&call).await;
    assert_eq!(typed.out.trim_end(), called.text());
    assert!(called.text().contains("# A project"));
}

#[test]
fn help_reads_well() {
    let folder = folder("read-help");
    for (name, words) in [
        ("help_of_the_program", &["--help"][..]),
        ("help_of_a_group", &["file", "--help"]),
        ("help_of_a_tool", &["file", "read", "--help"]),
        ("help_of_a_tool_in_short", &["file", "read", "-h"]),
        ("help_of_a_tool_with_choices", &["file", "write", "--help"]),
        ("help_of_the_tools", &["tools", "--help"]),
    ] {
        insta::assert_snapshot!(name, run(&folder, words).out);
    }
}

/// S0.3: the same definition is a command; what the command shows of it is what a model is shown.
#[test]
fn what_the_tools_are_can_be_asked() {
    let folder = folder("tools");
    let listed = run(&folder, &["tools", "list"]);
    insta::assert_snapshot!("tools_list", listed.out);
    let names: Vec<String> = run(&folder, &["tools", "list", "--output", "json"])
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["name"].to_string())
        .collect();
    assert_eq!(names.len(), Registry::linked().unwrap().definitions().count());
    insta::assert_snapshot!("tools_show", run(&folder, &["tools", "show", "read_file"]).out);
    insta::assert_snapshot!("tools_search", run(&folder, &["tools", "search", "FILE", "li"]).out);
    let registry = Registry::linked().unwrap();
    for dialect in Dialect::ALL {
        let shown = run(&folder, &["tools", "schema", "--dialect", dialect.name()]);
        assert_eq!(shown.code, 0, "{}", shown.err);
        assert_eq!(shown.out.trim_end(), registry.listing(dialect).unwrap().tools().get());
    }
    let schema = run(&folder, &["tools", "schema", "read_file"]);
    let schema: serde_json::Value = serde_json::from_str(&schema.out).unwrap();
    assert_eq!(schema["input_schema"], registry.get("read_file").unwrap().input_schema);
}

#[test]
fn a_tool_that_is_not_there_is_told_with_its_code() {
    let folder = folder("no-tool");
    let unknown = run(&folder, &["tools", "show", "raed_file"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert!(unknown.err.contains("did you mean `read_file`"), "{}", unknown.err);
    let nothing = run(&folder, &["tools", "search", "zebra"]);
    assert_eq!((nothing.code, nothing.err.as_str()), (1, "error: no tool is found by `zebra`\n"));
}

#[test]
fn the_help_of_a_command_can_be_asked_for_from_the_top() {
    let folder = folder("help-command");
    let asked = run(&folder, &["help", "file", "read"]);
    assert_eq!((asked.code, asked.out), (0, run(&folder, &["file", "read", "--help"]).out));
    assert_eq!(run(&folder, &["help"]).out, run(&folder, &["--help"]).out);
    let unknown = run(&folder, &["help", "file", "raed"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert!(unknown.err.contains("a similar subcommand exists: 'read'"), "{}", unknown.err);
}

#[test]
fn every_shell_gets_its_script() {
    let folder = folder("completions");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = run(&folder, &["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.contains("on-conflict"), "{shell}");
    }
}

/// S0.41: a wrong argument is told in the same words, whoever sent it.
#[tokio::test]
async fn wrong_arguments_are_told_to_a_person_in_the_words_for_a_model() {
    let folder = folder("same-words");
    let builder = Executor::builder(Registry::linked().unwrap()).unrestricted();
    let executor = builder.service(Workspace::open(&folder).unwrap()).build().unwrap();
    for (words, input) in [
        (&["read", "README.md", "--limit", "ten"][..], r#"{"path":"README.md","limit":"ten"}"#),
        (
            &["read", "--limit", "-1", "--offset", "0", "README.md"],
            r#"{"path":"README.md","offset":0,"limit":-1}"#,
        ),
        (&["read", "README.md", "--limit", "1.50"], r#"{"path":"README.md","limit":1.50}"#),
        (&["read", "--json", r#"{"pth":"README.md"}"#], r#"{"pth":"README.md"}"#),
        (&["read", "nope.md"], r#"{"path":"nope.md"}"#),
        (&["search", ""], r#"{"pattern":""}"#),
        (
            &["write", "a", "b", "--on-conflict", "ask"],
            r#"{"path":"a","content":"b","on_conflict":"ask"}"#,
        ),
    ] {
        let name = match words[0] {
            "search" => "search_files".to_owned(),
            other => format!("{other}_file"),
        };
        let message = format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_1","name":"{name}","input":{input}}}]}}"#
        );
        let calls = Provider::Anthropic.tool_calls(&message).unwrap();
        let answer = executor.call(&Call::from(&calls[0])).await;
        let error = answer.error().unwrap();
        // A model is told what to send next, a person what to type.
        let message = error.message().lines().filter(|line| !line.starts_with("if this is meant"));
        let message = message.collect::<Vec<_>>().join("\n");
        let ran = run(&folder, &[&["file"], words].concat());
        assert!(
            ran.err.starts_with(&format!("error: {}: {message}\n", error.kind())),
            "{words:?}: {}",
            ran.err
        );
        assert!(!ran.err.contains("call again") && !ran.err.contains("send it"), "{}", ran.err);
    }
}

/// S0.42: adding a tool changes one file and names it in another.
/// S0.43: the file is called like the tool and has its definition.
/// S0.44: there is no register to write it into.
/// S0.46: no table of commands, no list for the model, no wiring of the command line is changed.
#[test]
fn a_tool_is_a_file_and_nothing_else_knows_it() {
    let source = |path: &str| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)).unwrap()
    };
    let (main, gathered) = (source("main.rs"), source("tools.rs"));
    for line in gathered.lines().filter(|line| !line.is_empty() && !line.starts_with("//!")) {
        assert!(line.starts_with("mod ") && line.ends_with(';'), "{line}");
    }
    for definition in Registry::linked().unwrap().definitions() {
        assert!(!main.contains(&definition.name), "{}", definition.name);
        assert!(gathered.contains(&format!("mod {};", definition.name)));
        let own = source(&format!("tools/{}.rs", definition.name));
        assert_eq!(own.matches("#[tool").count(), 1 + own.matches("#[toolwright").count());
    }
}

#[test]
fn the_ready_made_tools_of_the_toolbox_are_commands_as_well() {
    let tools = toolwright_toolbox::FILES.into_iter().chain(toolwright_toolbox::PROCESS);
    let command = toolwright::cli::command(&Registry::of(tools).unwrap().catalog()).unwrap();
    command.clone().debug_assert();
    for words in [
        &["file", "edit", "a", "x", "y", "--replace-all"][..],
        &["file", "glob", "**/*.rs"],
        &["file", "grep", "fn", "--mode", "count"],
        &["command", "run", "cargo", "test", "--timeout-seconds", "9"],
    ] {
        let typed = std::iter::once(&"tools").chain(words);
        assert!(command.clone().try_get_matches_from(typed).is_ok(), "{words:?}");
    }
}

#[test]
fn a_result_is_all_there_is_on_standard_output() {
    let ran = run(&folder("result"), &["file", "read", "README.md", "--offset", "3"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(ran.out);
}

#[test]
fn a_wrong_type_is_told_on_standard_error_with_exit_code_2() {
    let ran = run(&folder("wrong-type"), &["file", "read", "README.md", "--limit", "ten"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    insta::assert_snapshot!(ran.err);
}

#[test]
fn a_missing_file_is_told_on_standard_error_with_exit_code_1() {
    let ran = run(&folder("missing"), &["file", "read", "nope.md"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    insta::assert_snapshot!(ran.err);
}

#[test]
fn an_unknown_flag_is_told_with_what_was_meant_and_exit_code_2() {
    let ran = run(&folder("unknown-flag"), &["file", "read", "README.md", "--limt", "3"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    insta::assert_snapshot!(ran.err);
}

#[test]
fn a_missing_argument_is_told_with_exit_code_2() {
    let ran = run(&folder("missing-argument"), &["file", "write", "a.txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    insta::assert_snapshot!(ran.err);
}

#[test]
fn an_unknown_command_is_told_on_standard_error_with_exit_code_2() {
    let ran = run(&folder("unknown"), &["files"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("'file'"), "{}", ran.err);
}

#[test]
fn a_whole_input_is_taken_as_json_or_from_standard_input() {
    let folder = folder("json");
    let input = r#"{"path":"README.md","limit":1}"#;
    let typed = run(&folder, &["file", "read", "--json", input]);
    let piped = run_with(&folder, &["file", "read", "--json", "-"], input);
    assert_eq!((typed.code, &typed.out), (0, &piped.out));
    let both = run(&folder, &["file", "read", "README.md", "--json", input]);
    assert_eq!((both.code, both.out.as_str()), (2, ""));
}

#[test]
fn a_file_is_written_once_and_replaced_when_asked_for() {
    let folder = folder("write");
    let write =
        |more: &[&str]| run(&folder, &[&["file", "write", "src/new/a.txt", "one"], more].concat());
    assert_eq!(write(&["--dry-run"]).code, 0);
    assert!(!folder.join("src").exists());
    assert_eq!(write(&["--output", "text"]).out, "wrote 3 bytes to src/new/a.txt\n");
    let again = write(&[]);
    assert_eq!((again.code, again.out.as_str()), (1, ""));
    assert!(again.err.contains("path_conflict") && again.err.contains("hint: "), "{}", again.err);
    assert_eq!(write(&["--on-conflict", "overwrite"]).code, 0);
    assert_eq!(fs::read_to_string(folder.join("src/new/a.txt")).unwrap(), "one");
}

#[test]
fn no_command_leads_out_of_the_folder() {
    let folder = folder("outside");
    let ran = run(&folder, &["file", "read", "../outside.txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error: denied: ") && ran.err.contains("outside"), "{}", ran.err);
}

/// A call that goes through a link also names the file to which the link leads, so the policy refuses it.
#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_folder() {
    let folder = folder("links");
    std::os::unix::fs::symlink("/etc/hostname", folder.join("link")).unwrap();
    let ran = run(&folder, &["file", "read", "link"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error: denied: ") && ran.err.contains("outside"), "{}", ran.err);
}

#[test]
fn what_the_policy_asks_about_is_not_run_with_nobody_to_ask() {
    let folder = folder("asked");
    for words in [
        &["file", "write", "deploy.sh", "one"][..],
        &["command", "run", "rm", "--args=README.md"],
        &["command", "run", "cargo", "--args=test"],
    ] {
        let ran = run(&folder, words);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{words:?}");
        assert!(ran.err.starts_with("error: approval_required: "), "{}", ran.err);
        assert!(
            ran.err.contains("hint: nothing ran; standard input is no terminal"),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("tell the user"), "{}", ran.err);
    }
    assert!(folder.join("README.md").exists() && !folder.join("deploy.sh").exists());
    let refused = run(&folder, &["command", "run", "sudo", "--args=ls"]);
    assert_eq!((refused.code, refused.out.as_str()), (1, ""));
    let allowed = run(&folder, &["command", "run", "git", "--args=status", "--args=--short"]);
    assert_eq!(allowed.code, 0, "{}", allowed.err);
}

#[test]
fn the_messages_of_all_four_providers_are_answered_in_their_own_form() {
    for provider in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
        let ran = run(&folder(provider), &["answer", &message(provider)]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{provider}");
        assert_eq!(ran.out.lines().count(), 1, "one line for one message");
        let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        insta::assert_snapshot!(provider, serde_json::to_string_pretty(&value).unwrap());
    }
}

#[test]
fn a_message_that_cannot_be_read_is_told_and_the_others_are_answered() {
    let folder = folder("unreadable");
    fs::write(folder.join("text.json"), "no json").unwrap();
    let (first, last) = (message("gemini"), message("anthropic"));
    let ran = run(&folder, &["answer", &first, "missing.json", "text.json", &last]);
    assert_eq!((ran.code, ran.out.lines().count()), (1, 2));
    assert!(ran.err.contains("missing.json: ") && ran.err.contains("text.json: "), "{}", ran.err);
    assert_eq!(run(&folder, &["answer"]).code, 2);
    let help = run(&folder, &["answer", "--help"]);
    assert!(help.code == 0 && help.out.contains("Usage: workspace answer FILE"), "{}", help.out);
}
