//! Rules over command lines: each program in them with its arguments.
#![expect(unused_variables, reason = "the tools are never run")]

use std::sync::LazyLock;

use serde_json::json;
use toolwright::policy::{
    ArgumentTest, CommandLine, Mode, Policy, PolicyBuilder, ProgramCall, ReadCommands, Rule,
};
use toolwright::{Catalog, Danger, Registry, tool};

use super::scene::{Case, bare};

/// Runs a command line.
#[tool(effect = once, danger = moderate, writes())]
async fn run_line(
    /// The line.
    #[arg(command)]
    line: String,
    /// Something else.
    #[arg(default)]
    note: String,
) {
}

/// Runs a command line in a sandbox.
#[tool(effect = once, danger = moderate, tags("sandboxed"), writes())]
async fn run_held(
    /// The line.
    #[arg(command)]
    line: String,
) {
}

/// A language of words, `;`, `>` and `$`.
#[derive(Debug)]
struct Words;

impl ReadCommands for Words {
    fn read(&self, text: &str) -> CommandLine {
        let mut read = CommandLine::default();
        for part in text.split(';').map(str::trim) {
            let mut words =
                part.split_whitespace().map(|it| (!it.starts_with('$')).then(|| it.to_owned()));
            let program = words.next().flatten();
            let call = ProgramCall { program, arguments: words.collect(), part: part.to_owned() };
            read.unknown
                .extend(part.starts_with('$').then(|| "a program that is not known".to_owned()));
            read.besides.extend(part.contains('>').then(|| "it writes a file".to_owned()));
            read.commands.push(call);
        }
        read
    }

    fn rating(&self, text: &str) -> Option<(Danger, String)> {
        text.contains("odd")
            .then(|| (Danger::Moderate, "moderate: `odd` is not understood".to_owned()))
    }
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    Registry::of([RUN_LINE, RUN_HELD]).expect("tools of different names").catalog()
});

fn made(builder: PolicyBuilder) -> Policy {
    builder.commands(Words).build(&*CATALOG).unwrap_or_else(|error| panic!("{error}"))
}

fn line(text: &str) -> Case {
    Case::of("run_line")
        .of_tools(&CATALOG)
        .danger(Danger::Moderate)
        .arguments(&json!({"line": text}).to_string())
}

fn problem(rule: Rule) -> String {
    bare().commands(Words).rule(rule).build(&*CATALOG).expect_err("it is wrong").to_string()
}

/// `S4.4`: a policy says which programs of a command line run.
#[test]
fn an_allow_holds_where_every_command_matches_and_an_objection_where_one_does() {
    let builds = Rule::allow("it only builds")
        .named("builds")
        .tool("run_line")
        .argument("/line", ArgumentTest::program(["cargo"]))
        .argument("/line", ArgumentTest::begins([r#"["test"]"#, r#"["check"]"#]))
        .argument("/line", ArgumentTest::only_flags(["--locked"]));
    let push = Rule::deny("others build on it")
        .named("push")
        .tool("run_line")
        .argument("/line", ArgumentTest::program(["git"]))
        .argument("/line", ArgumentTest::contains([r#""push""#]));
    let policy = made(bare().rule(builds).rule(push));
    for (text, word) in [
        ("cargo test", "allow"),
        ("cargo test --locked; cargo check", "allow"),
        ("cargo test; ls", "ask"),
        ("cargo publish", "ask"),
        ("cargo test --config a", "ask"),
        ("cargo test > out", "ask"),
        ("cargo test $X", "ask"),
        ("./cargo test", "ask"),
        ("ls; git -C sub push", "deny"),
        ("/usr/bin/git push", "deny"),
        ("GIT push", "deny"),
        ("git pull", "ask"),
        ("git $X", "deny"),
        ("$X push", "deny"),
    ] {
        assert_eq!(line(text).word(&policy), word, "{text}");
    }
}

#[test]
fn a_rule_that_cannot_see_what_a_line_runs_is_refused() {
    let rule = || Rule::deny("a reason").named("a").tool("run_line");
    for test in [
        ArgumentTest::glob(["*rm*"]),
        ArgumentTest::under(["src"]),
        ArgumentTest::within([r#""a""#]),
    ] {
        let found = problem(rule().argument("/line", test));
        assert!(found.contains("no pattern over a command line can tell what it runs"), "{found}");
    }
    let found = problem(rule().argument("/note", ArgumentTest::program(["rm"])));
    assert!(
        found.contains("`/note` is no command line: declare it by `#[arg(command)]`"),
        "{found}"
    );
    let found = problem(rule().argument("/line", ArgumentTest::program(["rm*"])));
    assert!(found.contains("`rm*` is no name of a program"), "{found}");
    let nothing = bare().rule(rule().argument("/line", ArgumentTest::program(["rm"])));
    let found = nothing.build(&*CATALOG).expect_err("it is wrong").to_string();
    assert!(found.contains("nothing parses command lines"), "{found}");
}

/// A command line that no sandbox holds is asked about in every mode but `unrestricted`.
#[test]
fn a_line_above_safe_asks_in_modes_that_would_let_it_run() {
    for mode in Mode::ALL {
        let policy =
            made(Policy::builder().without(toolwright::policy::Protection::ALL).mode(mode));
        let held = Case::of("run_held")
            .of_tools(&CATALOG)
            .danger(Danger::Moderate)
            .arguments(r#"{"line":"ls"}"#);
        let expected = if mode == Mode::Unrestricted { "allow" } else { "ask" };
        assert_eq!(line("ls").word(&policy), expected, "{mode}");
        assert_eq!(line("ls").danger(Danger::Safe).word(&policy), "allow", "{mode}");
        let usual = if matches!(mode, Mode::Strict | Mode::Interactive) { "ask" } else { "allow" };
        assert_eq!(held.word(&policy), usual, "{mode}");
    }
}

#[test]
fn an_explanation_names_the_commands_and_the_rules_that_match_each() {
    let rule = Rule::deny("it is not ours").named("remove").tool("run_line");
    let policy = made(bare().rule(rule.argument("/line", ArgumentTest::program(["rm"]))));
    let explained = policy.explain(&line("ls; rm a > b; $X").question()).to_string();
    for words in [
        "the command line runs `ls`\n",
        "the command line runs `rm a > b`, which rule `remove` matches",
        "of the command line: a program that is not known",
        "of the command line: it writes a file",
    ] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    let why = "of the command line: moderate: `odd` is not understood";
    let explained = |danger: Danger| {
        policy.explain(&line("odd").danger(danger).question()).to_string().contains(why)
    };
    assert!(explained(Danger::Moderate), "the word that was not understood is named");
    assert!(!explained(Danger::Safe), "what is said is of another level than the call's");
}

#[test]
fn tests_of_one_line_that_no_line_could_pass_together_are_refused() {
    let rule = || Rule::deny("no").named("r").tool("run_line");
    let git = || ArgumentTest::program(["git"]);
    let both = problem(
        rule().argument("/line", git()).argument("/line", ArgumentTest::equals("\"git log\"")),
    );
    assert!(
        both.contains("rule `r`: `/line` has a test of the whole line (`equals` or `one_of`)"),
        "{both}"
    );
    let twice =
        problem(rule().argument("/line", git()).argument("/line", ArgumentTest::program(["rm"])));
    assert!(twice.contains("rule `r`: `/line` has two tests `program`"), "{twice}");
}

#[test]
fn a_deny_rule_finds_a_program_in_any_folder_however_the_rule_names_it() {
    let rule = Rule::deny("no")
        .tool("run_line")
        .argument("/line", ArgumentTest::program(["/usr/bin/git"]));
    let policy = made(bare().mode(Mode::Unrestricted).rule(rule));
    for text in ["git log", "/usr/bin/git log", "/opt/GIT log"] {
        assert_eq!(line(text).word(&policy), "deny", "{text}");
    }
}
