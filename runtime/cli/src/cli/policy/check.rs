//! `policy check [FILE]`: shows a policy, or all of its problems.

use std::path::Path;

use clap::{ArgMatches, Command};
use serde_json::json;

use crate::cli::Exit;
use crate::cli::flags::{self, Form};
use crate::cli::streams::print;
use toolwright_executor::catalog::Catalog;
use toolwright_executor::executor::Executor;
use toolwright_policy::policy::{Policy, Protection, RuleOutline};

pub(super) const NAME: &str = "check";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Show a policy's mode and rules, or all that is wrong with it")
        .long_about(
            "Reads the application's policy, or the one in FILE, for the application's tools: mode, plan, roots, \
             protections, and the rules by their strength. Reports every problem with its place, all at once.",
        )
        .arg(super::file())
        .arg(flags::output("text"))
}

pub(super) fn run(executor: &Executor, matches: &ArgMatches) -> Result<(), Exit> {
    let policy = super::policy(executor, matches)?;
    match flags::form(matches) {
        Form::Json => print(json(&policy, &executor.catalog()), Form::Json),
        Form::Text => print(page(&policy, &executor.catalog()), Form::Text),
    }
}

fn page(policy: &Policy, catalog: &Catalog) -> String {
    let yes = |it: bool| if it { "yes" } else { "no" }.to_owned();
    let or = |words: Vec<String>, nothing: &str| match words.as_slice() {
        [] => nothing.to_owned(),
        some => some.join(", "),
    };
    let [on, off] = protections(policy).map(|names| or(names, "none"));
    let examples: usize = policy.outline().map(|it| it.examples).sum();
    let facts = [
        ("Tools", catalog.len().to_string()),
        ("Mode", policy.mode().to_string()),
        ("Plan first", yes(policy.plans())),
        ("Four eyes", yes(policy.four_eyes())),
        ("Roots", or(marked_roots(policy), "none: nothing is said of what lies outside")),
        ("Protected", on),
        ("Named off", off),
        ("No files", or(no_files(policy, catalog), "none")),
        ("Examples", format!("{examples}, and all of them hold")),
    ];
    let facts = facts.map(|(name, value)| format!("{:<12}{value}", format!("{name}:")));
    let undeclared = policy.lint(catalog).iter().map(|it| format!("\n- {it}")).collect::<String>();
    let undeclared = match undeclared.as_str() {
        "" => String::new(),
        some => {
            format!(
                "\n\nA person is asked about calls of these tools, unless an allow says what they touch:{some}"
            )
        }
    };
    let page = format!("The policy can be used.\n\n{}{undeclared}", facts.join("\n"));
    let rules: Vec<RuleOutline<'_>> = policy.outline().collect();
    if rules.is_empty() {
        return format!("{page}\n\nThere are no rules.");
    }
    let width = rules.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let head = format!("{:<11} {:<width$}  BECAUSE", "SAYS", "RULE");
    let line =
        |it: &RuleOutline<'_>| format!("{:<11} {:<width$}  {}", it.kind.name(), it.name, it.reason);
    let lines: Vec<String> = std::iter::once(head).chain(rules.iter().map(line)).collect();
    format!("{page}\n\n{}", lines.join("\n"))
}

fn json(policy: &Policy, catalog: &Catalog) -> String {
    let [on, off] = protections(policy);
    let page = json!({
        "mode": policy.mode(),
        "plan": policy.plans(),
        "four_eyes": policy.four_eyes(),
        "roots": roots(policy),
        "missing_roots": policy.missing_roots().map(in_words).collect::<Vec<_>>(),
        "protections": on,
        "protections_off": off,
        "touches_no_files": no_files(policy, catalog),
        "undeclared": policy.lint(catalog),
        "rules": policy.outline().collect::<Vec<_>>(),
    });
    page.to_string()
}

fn no_files(policy: &Policy, catalog: &Catalog) -> Vec<String> {
    policy.touching_no_files(catalog).map(str::to_owned).collect()
}

fn roots(policy: &Policy) -> Vec<String> {
    policy.roots().map(in_words).collect()
}

/// Lists the roots, and marks those that are not folders. A root may be misspelt, and then calls may not touch the
/// files that were meant.
fn marked_roots(policy: &Policy) -> Vec<String> {
    let missing: Vec<_> = policy.missing_roots().collect();
    let marked = policy.roots().map(|root| match missing.contains(&root) {
        true => format!("{} (no folder on this machine)", root.display()),
        false => in_words(root),
    });
    marked.collect()
}

fn in_words(root: &Path) -> String {
    root.display().to_string()
}

/// Lists the active protections, and those that are switched off. A protection that is on but has nothing to protect is
/// in neither list.
fn protections(policy: &Policy) -> [Vec<String>; 2] {
    let on: Vec<Protection> = policy.outline().filter_map(|it| it.protection()).collect();
    let off = policy.protections_off().map(|it| it.name().to_owned()).collect();
    [on.iter().map(|it| it.name().to_owned()).collect(), off]
}
