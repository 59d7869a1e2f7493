//! Tests of command lines. A test looks at each program in a line, with the program's arguments. A deny or ask rule
//! matches if one command passes, an allow rule only if all commands pass.

use super::argument::Test;
use super::commands::{CommandLine, ProgramCall};
use super::compile::Scope;
use super::compiled::CompiledRule;
use super::explain::ExplainedCommand;
use super::holds::Holds;
use super::paths::Base;
use super::problem::{At, Problems};
use super::question::Asking;
use super::rounding::Place;
use super::rule::{Rule, RuleKind};
use super::values::{Check, ValueTest, find_value};
use toolwright_core::json::pointer::segments;
use toolwright_core::json::tree::Node;

/// The tests that a rule makes of one command line.
#[derive(Debug)]
pub(super) struct CommandTest {
    pointer: String,
    segments: Vec<String>,
    programs: Vec<String>,
    checks: Vec<Check>,
}

/// Compiles the tests that a rule makes of command lines. Adds the mistakes in them to `problems`.
pub(super) fn compile(
    rule: &Rule,
    name: &str,
    scope: &Scope<'_>,
    problems: &mut Problems,
) -> Vec<CommandTest> {
    let mut tests: Vec<CommandTest> = Vec::new();
    for (pointer, _) in &rule.arguments {
        if tests.iter().any(|it| it.pointer == pointer.value) {
            continue;
        }
        let here = || rule.arguments.iter().filter(|(it, _)| it.value == pointer.value);
        let mut named = here().filter_map(|(_, test)| match &test.0 {
            Test::Program(programs) => Some(programs.as_slice()),
            _ => None,
        });
        let (programs, is_named_again) = (named.next(), named.next().is_some());
        if let Some(programs) =
            programs.or_else(|| is_line(&pointer.value, rule, scope).then_some(&[]))
        {
            let mut wrong = |why: &str| {
                problems.add(pointer.place.as_ref(), format!("rule `{name}`: {why}"));
            };
            if let Some(why) = here().find_map(|(_, test)| test.0.misses_commands()) {
                wrong(why);
                continue;
            }
            if is_named_again {
                wrong(&format!(
                    "`{}` has two tests `program`: list the names in one",
                    pointer.value
                ));
                continue;
            }
            let is_whole = |test: &Test| matches!(test, Test::OneOf(_));
            if here().all(|(_, test)| is_whole(&test.0)) {
                // A test of the whole text needs no parsed command line.
                continue;
            }
            if here().any(|(_, test)| is_whole(&test.0)) {
                wrong(&format!(
                    "`{}` has a test of the whole line (`equals` or `one_of`) beside tests of its programs: write two \
                     rules",
                    pointer.value
                ));
                continue;
            }
            if !is_line(&pointer.value, rule, scope) && !scope.is_arriving(rule) {
                wrong(&format!(
                    "`{}` is no command line: declare it by `#[arg(command)]`",
                    pointer.value
                ));
                continue;
            }
            if scope.reader.is_none() {
                wrong("nothing parses command lines: give a parser by `PolicyBuilder::commands`");
                continue;
            }
            tests.extend(one(rule, pointer, programs, name, scope.base, problems));
        }
    }
    tests
}

fn one(
    rule: &Rule,
    pointer: &At<String>,
    programs: &[At<String>],
    name: &str,
    base: &Base,
    problems: &mut Problems,
) -> Option<CommandTest> {
    for program in
        programs.iter().filter(|it| it.value.is_empty() || it.value.contains(['*', '?', ' ']))
    {
        let message = format!(
            "rule `{name}`: `{}` is no name of a program: expected one such as `git`",
            program.value
        );
        problems.add(program.place.as_ref().or(pointer.place.as_ref()), message);
    }
    let mut checks = Vec::new();
    for (at, test) in rule.arguments.iter().filter(|(it, _)| it.value == pointer.value) {
        if !matches!(test.0, Test::Program(_)) {
            checks.push(
                ValueTest::compile(at, &test.0, base, rule.kind, name, problems)?.into_check(),
            );
        }
    }
    Some(CommandTest {
        pointer: pointer.value.clone(),
        segments: segments(&pointer.value)?,
        programs: programs.iter().map(|it| it.value.clone()).collect(),
        checks,
    })
}

/// Whether the argument at `pointer` is a command line of a tool that the rule applies to.
fn is_line(pointer: &str, rule: &Rule, scope: &Scope<'_>) -> bool {
    let is_for = |tool: &str| match &rule.tools {
        Some(tools) => tools
            .iter()
            .any(|it| super::glob::compile_name(&it.value).is_ok_and(|it| it.is_match(tool))),
        None => true,
    };
    let mut tools = scope.catalog.definitions().filter(|it| is_for(&it.name));
    tools.any(|it| it.command_lines().any(|it| it == pointer))
}

impl CommandTest {
    pub(super) fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Whether the command line passes. For a rule that allows, every command in the line must pass.
    pub(super) fn passes(&self, arguments: &Node, asking: &Asking<'_>, is_allow: bool) -> Holds {
        let text = match find_value(&self.segments, arguments) {
            None | Some(Node::Null) => return Holds::No,
            Some(Node::Text(text)) => text,
            Some(_) => return Holds::Unknown,
        };
        let Some(line) = asking.line(text) else { return Holds::Unknown };
        let each = line.commands.iter().map(|it| self.fits(it, asking.base, is_allow));
        if !is_allow {
            let unknown = if line.unknown.is_empty() { Holds::No } else { Holds::Unknown };
            return Holds::any(each).max(unknown);
        }
        let is_plain = line.unknown.is_empty() && line.besides.is_empty();
        Holds::all(each).min(if is_plain { Holds::Yes } else { Holds::Unknown })
    }

    fn fits(&self, command: &ProgramCall, base: &Base, is_allow: bool) -> Holds {
        let Some(program) = &command.program else { return Holds::Unknown };
        let name = without_folder(program);
        let is_meant = |it: &String| match is_allow {
            true => it == program,
            false => without_folder(it).eq_ignore_ascii_case(name),
        };
        if !self.programs.is_empty() && !self.programs.iter().any(is_meant) {
            return Holds::No;
        }
        let items = command.arguments.iter().map(|it| match it {
            Some(text) => Node::Text(text.clone()),
            None => Node::Null,
        });
        let (items, is_known) =
            (Node::Array(items.collect()), command.arguments.iter().all(Option::is_some));
        let holds = self
            .checks
            .iter()
            .map(|check| {
                check.passes(&items, base, Place { schema: None, segments: &[] }, is_allow)
            })
            .min()
            .unwrap_or(Holds::Yes);
        match (is_known, is_allow, holds) {
            // An unknown argument may be one that the rule looks for, and may also be one that the rule does not
            // allow.
            (false, false, Holds::No) if !self.checks.is_empty() => Holds::Unknown,
            (false, true, Holds::Yes) => Holds::Unknown,
            _ => holds,
        }
    }
}

fn without_folder(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Describes the commands of command lines for a person.
pub(super) fn explain_commands(
    pointers: &[String],
    arguments: &Node,
    asking: &Asking<'_>,
    rules: &[&CompiledRule],
) -> Vec<ExplainedCommand> {
    let mut shown = Vec::new();
    for pointer in pointers {
        let place = segments(pointer).unwrap_or_default();
        let Some(Node::Text(text)) = find_value(&place, arguments) else { continue };
        let Some(line) = asking.line(text) else { continue };
        let CommandLine { commands, unknown, besides } = &*line;
        for command in commands {
            let matches = |rule: &&&CompiledRule| {
                let is_allow = rule.kind == RuleKind::Allow;
                let mut tests = rule.lines.iter().filter(|it| it.pointer == *pointer).peekable();
                tests.peek().is_some()
                    && tests.all(|it| it.fits(command, asking.base, is_allow) == Holds::Yes)
            };
            let rules = rules.iter().filter(matches).map(|it| it.name.to_string()).collect();
            shown.push(ExplainedCommand {
                part: command.part.clone(),
                program: command.program.clone(),
                rules,
                note: None,
            });
        }
        let rating = asking.rating(text);
        for note in rating.iter().chain(unknown).chain(besides) {
            let (part, note) = (text.clone(), Some(note.clone()));
            shown.push(ExplainedCommand { part, program: None, rules: Vec::new(), note });
        }
    }
    shown
}
