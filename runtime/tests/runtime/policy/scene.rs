//! A few tools, and calls of them.
#![expect(unused_variables, reason = "the tools are never run")]

use std::sync::LazyLock;

use toolwright::policy::{Policy, PolicyBuilder, PolicyDecision, PolicyError, Protection, Rule};
use toolwright::unstable::policy::Question;
use toolwright::{Catalog, Danger, Definition, Effect, File, Footprint, Registry, tool};

/// Reads a file.
#[tool(group = "file", tags("reading"), effect = read, reads(file = path))]
async fn read_file(
    /// Which.
    path: String,
) {
}

/// Writes a file.
#[tool(group = "file", tags("writing"), effect = idempotent, writes(file = path))]
async fn write_file(
    /// Which.
    path: String,
    /// What.
    text: String,
) {
}

/// Deletes a file.
#[tool(group = "file", tags("writing"), effect = idempotent, danger = dangerous, writes(file = path))]
async fn delete_file(
    /// Which.
    path: String,
) {
}

/// Sends mail.
#[tool(group = "mail", effect = once)]
pub async fn send_mail(
    /// To whom.
    to: Vec<String>,
    /// How many copies.
    copies: u64,
    /// What goes with it.
    attachment: Option<String>,
) {
}

/// Says the time.
#[tool(effect = read)]
async fn clock() {}

/// Runs a command.
#[tool(effect = once, danger = dangerous)]
pub async fn bash(
    /// The command.
    command: String,
) {
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let tools = [READ_FILE, WRITE_FILE, DELETE_FILE, SEND_MAIL, CLOCK, BASH];
    Registry::of(tools).expect("tools of different names").catalog()
});

pub fn catalog() -> Catalog {
    CATALOG.clone()
}

fn found(catalog: &'static Catalog, tool: &str) -> Option<&'static Definition> {
    catalog.definitions().find(|it| it.name == tool)
}

/// A policy without protections.
pub fn bare() -> PolicyBuilder {
    Policy::builder().without(Protection::ALL)
}

pub fn policy(builder: PolicyBuilder) -> Policy {
    builder.build(&catalog()).unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with it.
pub fn refused(builder: PolicyBuilder) -> PolicyError {
    builder.build(&catalog()).expect_err("a policy that cannot be used")
}

/// What is wrong with one rule.
pub fn refused_rule(rule: Rule) -> String {
    let error = refused(bare().rule(rule));
    error.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A call, with all that a policy asks about.
#[derive(Debug, Clone)]
pub struct Case {
    pub tool: &'static str,
    pub group: Option<&'static str>,
    pub tags: Vec<String>,
    pub danger: Danger,
    pub effect: Effect,
    pub principal: Option<&'static str>,
    pub arguments: String,
    pub footprint: Option<Footprint>,
    pub approval: Option<&'static str>,
    pub came_at_run_time: bool,
    pub accepted: bool,
    pub definition: Option<&'static Definition>,
}

impl Case {
    pub fn of(tool: &'static str) -> Self {
        Self {
            tool,
            group: None,
            tags: Vec::new(),
            danger: Danger::Moderate,
            effect: Effect::Once,
            principal: None,
            arguments: "{}".to_owned(),
            footprint: Some(Footprint::nothing()),
            approval: None,
            came_at_run_time: false,
            accepted: false,
            definition: found(&CATALOG, tool),
        }
    }

    /// Of a tool of another catalog.
    pub fn of_tools(self, catalog: &'static Catalog) -> Self {
        Self { definition: found(catalog, self.tool), ..self }
    }

    pub fn danger(self, danger: Danger) -> Self {
        Self { danger, ..self }
    }

    pub fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    pub fn arguments(self, arguments: &str) -> Self {
        Self { arguments: arguments.to_owned(), ..self }
    }

    pub fn writing(self, file: &str) -> Self {
        let footprint = self.footprint.unwrap_or_else(Footprint::nothing).writing::<File>(file);
        Self { footprint: Some(footprint), ..self }
    }

    pub fn reading(self, file: &str) -> Self {
        let footprint = self.footprint.unwrap_or_else(Footprint::nothing).reading::<File>(file);
        Self { footprint: Some(footprint), ..self }
    }

    /// It does not say what it touches.
    pub fn undeclared(self) -> Self {
        Self { footprint: None, ..self }
    }

    pub fn question(&self) -> Question<'_> {
        Question {
            definition: self.definition,
            tool: self.tool,
            group: self.group,
            tags: &self.tags,
            danger: self.danger,
            effect: self.effect,
            principal: self.principal,
            input_schema: CATALOG.get(self.tool).map(|it| &it.input_schema),
            arguments: &self.arguments,
            footprint: self.footprint.as_ref(),
            approval: self.approval,
            came_at_run_time: self.came_at_run_time,
            untrusted: Some(&[]),
            accepted: self.accepted,
        }
    }

    pub fn judged_by(&self, policy: &Policy) -> PolicyDecision {
        policy.judge(&self.question()).verdict
    }

    /// In one word.
    pub fn word(&self, policy: &Policy) -> &'static str {
        match self.judged_by(policy) {
            PolicyDecision::Allow => "allow",
            PolicyDecision::Ask { grants_count: true, .. } => "ask",
            PolicyDecision::Ask { grants_count: false, .. } => "always ask",
            PolicyDecision::Deny { .. } => "deny",
            PolicyDecision::Queue => "queue",
        }
    }
}
