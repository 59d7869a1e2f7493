//! A rule in the form in which code or a policy file writes it.

use serde::Serialize;

use super::argument::ArgumentTest;
use super::problem::{At, SourceLocation};
use toolwright_core::tool::{Danger, Effect};

/// The kind of a rule, which is its effect on the calls that the rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// The calls are refused.
    Deny,
    /// A person must decide on each matching call, even if a grant covers it.
    AlwaysAsk,
    /// A person must decide on a matching call, unless a grant covers it.
    Ask,
    /// The policy's [`Mode`](super::Mode) does not ask about a matching call. Other rules and the tool may still ask.
    Allow,
}

/// The effect that a deny rule has if it is unknown whether the rule matches, for example because the call does not
/// declare which files it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenUnknown {
    /// The rule counts as matching, so the call is denied.
    #[default]
    Count,
    /// A person is asked.
    Ask,
}

/// A rule: its effect, its reason, and the conditions for the calls that it matches. All conditions must hold. A
/// condition with several values holds if one of the values fits; [`outside`](Self::outside) differs.
///
/// ```
/// use toolwright::policy::{ArgumentTest, Example, Policy, Rule};
/// use toolwright::{Registry, tool};
///
/// /// Sends mail.
/// #[tool]
/// async fn send_mail(
///     /// To whom.
///     to: String,
///     /// How many copies.
///     copies: u8,
/// ) {
/// }
///
/// let rule = Rule::deny("more than three copies are junk mail")
///     .named("not-so-much-mail")
///     .tool("send_*")
///     .argument("/copies", ArgumentTest::more_than("3"))
///     .matches(Example::new("send_mail", r#"{"to":"emma","copies":4}"#))
///     .does_not_match(Example::new("send_mail", r#"{"to":"emma","copies":3}"#));
/// let catalog = Registry::of([SEND_MAIL])?.catalog();
/// Policy::builder().rule(rule).build(&catalog)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) kind: RuleKind,
    pub(super) name: Option<At<String>>,
    pub(super) reason: At<String>,
    pub(super) place: Option<SourceLocation>,
    pub(super) tools: Option<Vec<At<String>>>,
    pub(super) groups: Option<Vec<At<String>>>,
    pub(super) tags: Option<Vec<At<String>>>,
    pub(super) principals: Option<Vec<At<String>>>,
    pub(super) dangers: Option<Vec<Danger>>,
    pub(super) danger_at_least: Option<Danger>,
    pub(super) effects: Option<Vec<Effect>>,
    pub(super) arguments: Vec<(At<String>, ArgumentTest)>,
    pub(super) reads: Option<Vec<At<String>>>,
    pub(super) writes: Option<Vec<At<String>>>,
    pub(super) outside: Option<Vec<At<String>>>,
    pub(super) touches: Option<Touches>,
    pub(super) after_untrusted: Option<WrittenSources>,
    pub(super) sends: bool,
    pub(super) when_unknown: At<WhenUnknown>,
    pub(super) examples: Vec<At<CheckedExample>>,
    /// Whether the rule has no effect unless it certainly matches. Only protections use this.
    pub(super) only_certain: bool,
    /// Whether a part of the rule could not be parsed. Then checks that would report a missing condition are skipped.
    pub(super) is_partial: bool,
}

/// The files that a rule declares as touched by the calls that it matches.
#[derive(Debug, Clone)]
pub(super) struct Touches {
    pub(super) reads: Vec<At<String>>,
    pub(super) writes: Vec<At<String>>,
    pub(super) place: Option<SourceLocation>,
}

impl Touches {
    pub(super) fn words(&self) -> [Vec<String>; 2] {
        [&self.reads, &self.writes].map(|it| it.iter().map(|file| file.value.clone()).collect())
    }
}

/// The condition on the untrusted sources that a run has read, as the rule writes it.
#[derive(Debug, Clone)]
pub(super) enum WrittenSources {
    Any,
    /// The run has read an untrusted source that matches one of these patterns.
    From(Vec<At<String>>),
}

/// An example call, and whether its rule must match the call.
#[derive(Debug, Clone)]
pub(super) struct CheckedExample {
    pub(super) matches: bool,
    pub(super) example: Example,
}

/// A call with which a rule is tested when the policy is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) principal: Option<String>,
    pub(super) danger: Option<Danger>,
    pub(super) reads: Option<Vec<String>>,
    pub(super) writes: Option<Vec<String>>,
    pub(super) untrusted: Vec<String>,
}

impl Rule {
    /// Makes a rule that refuses calls.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(RuleKind::Deny, At::code(reason.into()))
    }

    /// Makes a rule that asks a person about matching calls, unless a grant covers them.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::new(RuleKind::Ask, At::code(reason.into()))
    }

    /// Makes a rule that asks a person about each matching call, even if a grant covers it.
    pub fn always_ask(reason: impl Into<String>) -> Self {
        Self::new(RuleKind::AlwaysAsk, At::code(reason.into()))
    }

    /// Makes a rule that stops the mode from asking about matching calls.
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::new(RuleKind::Allow, At::code(reason.into()))
    }

    pub(super) fn new(kind: RuleKind, reason: At<String>) -> Self {
        Self {
            kind,
            name: None,
            reason,
            place: None,
            tools: None,
            groups: None,
            tags: None,
            principals: None,
            dangers: None,
            danger_at_least: None,
            effects: None,
            arguments: Vec::new(),
            reads: None,
            writes: None,
            outside: None,
            touches: None,
            after_untrusted: None,
            sends: false,
            when_unknown: At::code(WhenUnknown::Count),
            examples: Vec::new(),
            only_certain: false,
            is_partial: false,
        }
    }

    /// Sets the name of the rule, for problems and explanations. Without this call, the name is the kind of the rule
    /// and a number, such as `deny-2`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(At::code(name.into()));
        self
    }

    /// Restricts the rule to calls of this tool. A `*` in the name matches any characters, including `/`, so that `*`
    /// alone matches every tool.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tools.get_or_insert_default().push(At::code(name.into()));
        self
    }

    /// Restricts the rule to calls of tools in this group.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.get_or_insert_default().push(At::code(group.into()));
        self
    }

    /// Restricts the rule to calls of tools with this tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.get_or_insert_default().push(At::code(tag.into()));
        self
    }

    /// Restricts the rule to calls on behalf of this user. A rule that allows compares the name exactly; other rules
    /// also match other spellings of the name, such as another case.
    #[must_use]
    pub fn principal(mut self, user: impl Into<String>) -> Self {
        self.principals.get_or_insert_default().push(At::code(user.into()));
        self
    }

    /// Restricts the rule to calls of exactly this danger.
    #[must_use]
    pub fn danger(mut self, danger: Danger) -> Self {
        self.dangers.get_or_insert_default().push(danger);
        self
    }

    /// Restricts the rule to calls of at least this danger.
    #[must_use]
    pub fn danger_at_least(mut self, danger: Danger) -> Self {
        self.danger_at_least = Some(danger);
        self
    }

    /// Restricts the rule to calls with this effect.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effects.get_or_insert_default().push(effect);
        self
    }

    /// Restricts the rule to calls whose argument at a JSON pointer passes a test. A missing argument or null passes no
    /// test. A list passes a test of paths or numbers if one of its items does; for a rule that allows, all items must
    /// pass.
    #[must_use]
    pub fn argument(mut self, pointer: impl Into<String>, test: ArgumentTest) -> Self {
        self.arguments.push((At::code(pointer.into()), test));
        self
    }

    /// Restricts the rule to calls that read a file which matches the pattern; `toolwright::policy` describes patterns.
    /// For a rule that allows, the call must read at least one file, and every file that it reads must match a pattern.
    #[must_use]
    pub fn reads(mut self, pattern: impl Into<String>) -> Self {
        self.reads.get_or_insert_default().push(At::code(pattern.into()));
        self
    }

    /// Restricts the rule to calls that write a file which matches the pattern. For a rule that allows, the call must
    /// write at least one file, and every file that it writes must match a pattern.
    #[must_use]
    pub fn writes(mut self, pattern: impl Into<String>) -> Self {
        self.writes.get_or_insert_default().push(At::code(pattern.into()));
        self
    }

    /// Restricts the rule to calls that touch a file outside of this folder. If the method is called several times, the
    /// file must be outside of all the folders. For a rule that allows, every file that the call touches must be
    /// outside.
    #[must_use]
    pub fn outside(mut self, folder: impl Into<String>) -> Self {
        self.outside.get_or_insert_default().push(At::code(folder.into()));
        self
    }

    /// Restricts the rule to calls of a run that has read untrusted text. This is an answer marked by
    /// [`Output::untrusted`](toolwright_core::output::Output::untrusted), of a call of the run itself, of a child call
    /// or of a sub-agent. If it is unknown what the run has read, a rule that denies or asks is assumed to match.
    ///
    /// ```
    /// use toolwright::policy::{Example, Policy, Rule};
    /// use toolwright::{Registry, tool};
    ///
    /// /// Sends a mail.
    /// #[tool(writes())]
    /// async fn send_mail(
    ///     /// To whom.
    ///     #[arg(sink)]
    ///     to: String,
    /// ) {
    /// }
    ///
    /// let mail = || Example::new("send_mail", r#"{"to":"eve"}"#);
    /// let rule = Rule::ask("foreign text may have asked for it")
    ///     .after_untrusted()
    ///     .sends()
    ///     .matches(mail().untrusted("web page of tea.example"))
    ///     .does_not_match(mail());
    /// Policy::builder().rule(rule).build(&Registry::of([SEND_MAIL])?.catalog())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn after_untrusted(mut self) -> Self {
        self.after_untrusted.get_or_insert(WrittenSources::Any);
        self
    }

    /// Restricts the rule to calls of a run that has read an untrusted source which matches this pattern, such as
    /// `web page of *`. For a rule that allows, every source must match. Several patterns are alternatives.
    #[must_use]
    pub fn after_untrusted_from(mut self, pattern: impl Into<String>) -> Self {
        let pattern = At::code(pattern.into());
        match &mut self.after_untrusted {
            Some(WrittenSources::From(patterns)) => patterns.push(pattern),
            _ => self.after_untrusted = Some(WrittenSources::From(vec![pattern])),
        }
        self
    }

    /// Restricts the rule to calls that send something off the machine: they have a value for a parameter with
    /// `#[arg(sink)]`. For a call without such a value, it is unknown whether the call sends something if its tool runs
    /// programs, or is a run-time tool that does not declare its sinks
    /// ([`Definition::declares_sinks`](toolwright_core::tool::Definition)).
    #[must_use]
    pub fn sends(mut self) -> Self {
        self.sends = true;
        self
    }

    /// Declares which files or folders the matching calls read and write; only an allow rule may declare this. Use it
    /// for a tool that cannot declare its files itself, such as a tool that runs a program. If a call does not declare
    /// its files, all rules judge the call by this declaration, which nothing verifies. If two rules declare files for
    /// a call, both declarations count.
    #[must_use]
    pub fn touches(
        mut self,
        reads: impl IntoIterator<Item = impl Into<String>>,
        writes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let reads = reads.into_iter().map(|it| At::code(it.into())).collect();
        let writes = writes.into_iter().map(|it| At::code(it.into())).collect();
        self.touches = Some(Touches { reads, writes, place: None });
        self
    }

    /// Sets the effect that a deny rule has if it is unknown whether the rule matches.
    #[must_use]
    pub fn when_unknown(mut self, what: WhenUnknown) -> Self {
        self.when_unknown = At::code(what);
        self
    }

    /// Adds a call that the rule must match; otherwise the policy is not built.
    #[must_use]
    pub fn matches(mut self, example: Example) -> Self {
        self.examples.push(At::code(CheckedExample { matches: true, example }));
        self
    }

    /// Adds a call that the rule must not match; otherwise the policy is not built.
    #[must_use]
    pub fn does_not_match(mut self, example: Example) -> Self {
        self.examples.push(At::code(CheckedExample { matches: false, example }));
        self
    }
}

impl Example {
    /// Makes an example call of a tool with these arguments, a JSON text.
    pub fn new(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        let (tool, arguments) = (tool.into(), arguments.into());
        let (principal, danger, reads, writes) = Default::default();
        Self { tool, arguments, principal, danger, reads, writes, untrusted: Vec::new() }
    }

    /// Sets the user on whose behalf the example call is made.
    #[must_use]
    pub fn principal(mut self, user: impl Into<String>) -> Self {
        self.principal = Some(user.into());
        self
    }

    /// Sets the danger of the example call, if it differs from the tool's danger.
    #[must_use]
    pub fn danger(mut self, danger: Danger) -> Self {
        self.danger = Some(danger);
        self
    }

    /// Adds a file that the example call reads.
    #[must_use]
    pub fn reading(mut self, file: impl Into<String>) -> Self {
        self.reads.get_or_insert_default().push(file.into());
        self
    }

    /// Adds an untrusted source that the run of the example call has read.
    #[must_use]
    pub fn untrusted(mut self, source: impl Into<String>) -> Self {
        self.untrusted.push(source.into());
        self
    }

    /// Adds a file that the example call writes.
    #[must_use]
    pub fn writing(mut self, file: impl Into<String>) -> Self {
        self.writes.get_or_insert_default().push(file.into());
        self
    }
}

impl RuleKind {
    /// All kinds, the strongest first.
    pub const ALL: [Self; 4] = [Self::Deny, Self::AlwaysAsk, Self::Ask, Self::Allow];

    /// Returns the name of the kind, as policy files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::AlwaysAsk => "always_ask",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}
