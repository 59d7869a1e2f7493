//! Builds a policy from code, files and the built-in protections.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::commands::ReadCommands;
use super::compile::{Scope, compile};
use super::later::Arriving;
use super::mode::Mode;
use super::paths::{Base, is_absolute};
use super::problem::{At, PolicyError, Problems, suggestion};
use super::protection::{ProtectedThings, Protection};
use super::read::read;
use super::rule::{Rule, RuleKind};
use super::tools::Tools;
use super::undeclared::NoFiles;
use super::{Policy, Settings};
use toolwright_core::footprint::{File, ResourceKind};
use toolwright_core::tool::ToolSet;

/// A builder of a [`Policy`]. [`build`](Self::build) reports every mistake at once.
///
/// ```
/// use toolwright::Registry;
/// use toolwright::policy::{Mode, Policy, Protection, Rule};
///
/// let policy = Policy::builder()
///     .mode(Mode::Unattended)
///     .root("/srv")
///     .without([Protection::Env])
///     .rule(Rule::deny("vendored code is not ours").named("vendored").writes("vendor/**"))
///     .build(&Registry::default().catalog())?;
/// assert!(policy.rules().any(|it| it == "vendored"));
/// assert!(policy.rules().any(|it| it == "workspace-bounds"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct PolicyBuilder {
    mode: Option<Mode>,
    plan: Option<bool>,
    rules: Vec<Rule>,
    off: Vec<Protection>,
    pub(super) no_files: Vec<At<String>>,
    roots: Vec<At<String>>,
    base: Option<String>,
    /// The folder in which the process was started, which is the base folder if no other is set. It is known for an
    /// executor's policy and for a policy with a loaded file.
    started_in: Option<String>,
    /// The files that are read when the policy is built.
    files: Vec<PathBuf>,
    policies: Vec<String>,
    /// The parser of command lines.
    reader: Option<Arc<dyn ReadCommands>>,
    four_eyes: bool,
    journals: Vec<String>,
    pub(super) arriving: Arriving,
    /// The policies whose rules and settings are the defaults of this one, see [`over`](Self::over).
    beneath: Vec<Self>,
    pub(super) problems: Problems,
}

impl PolicyBuilder {
    /// Sets the mode. The code and the files together may set it only once. By default, the mode is `interactive`.
    pub fn mode(self, mode: Mode) -> Self {
        self.set_mode(At::code(mode))
    }

    pub(super) fn set_mode(mut self, mode: At<Mode>) -> Self {
        match self.mode.replace(mode.value) {
            None => {}
            Some(before) => self.problems.add(
                mode.place.as_ref(),
                format!(
                    "the mode is given twice, as `{before}` and as `{}`: give it once",
                    mode.value
                ),
            ),
        }
        self
    }

    /// Sets whether calls that change something are put into a plan first. The setting is on if the code or one of
    /// the files sets it to `true`.
    pub fn plan(mut self, plan: bool) -> Self {
        self.plan = Some(self.plan.unwrap_or(false) || plan);
        self
    }

    /// Adds a rule. The order of the rules has no effect on decisions.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds rules.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Switches protections off.
    pub fn without(mut self, protections: impl IntoIterator<Item = Protection>) -> Self {
        self.off.extend(protections);
        self
    }

    /// Names tools that touch no files although they do not declare this. An item is the name of a tool, or
    /// `group:NAME` for the tools of a group. Files that a call does declare count nevertheless.
    ///
    /// Nothing verifies the list. It does not apply to tools that are registered at run time, nor to tools that run
    /// programs. It also does not apply to the protections `protect-policy` and `protect-journal`, for which the tool
    /// itself has to declare its files.
    ///
    /// ```
    /// use toolwright::policy::{Mode, Policy};
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Adds an entry to the account.
    /// #[tool(effect = once)]
    /// async fn add_entry() -> &'static str {
    ///     "added"
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let policy = Policy::builder().mode(Mode::AutoSafe).touches_no_files(["add_entry"]);
    /// let executor = Executor::builder(Registry::of([ADD_ENTRY])?).policy(policy).build()?;
    /// assert_eq!(executor.call(&Call::new("add_entry", "{}")).await.text(), "added");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn touches_no_files(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.no_files.extend(tools.into_iter().map(|it| At::code(it.into())));
        self
    }

    /// Adds a folder that tools work in. The protection `workspace-bounds` refuses a call that declares a file outside
    /// of all such folders.
    pub fn root(self, folder: impl AsRef<Path>) -> Self {
        self.add_root(At::code(text_of(folder.as_ref())))
    }

    pub(super) fn add_root(mut self, folder: At<String>) -> Self {
        self.roots.push(folder);
        self
    }

    /// Sets the base folder, to which relative file names are relative. It must be absolute. By default, it is the
    /// first absolute root. If there is none, an executor's policy and a policy with a loaded file use the folder in
    /// which the process was started.
    pub fn base(mut self, folder: impl AsRef<Path>) -> Self {
        self.base = Some(text_of(folder.as_ref()));
        self
    }

    /// Sets whether the user of a call must not approve it. The setting is on if the code or one of the files sets it
    /// to `true`.
    ///
    /// The executor compares the user of the run with the name of the trusted key that signed, so use the same name for
    /// a person in both places.
    pub fn four_eyes(mut self, four_eyes: bool) -> Self {
        self.four_eyes |= four_eyes;
        self
    }

    /// Protects the journal at this path from tools.
    pub fn journal(mut self, path: impl AsRef<Path>) -> Self {
        self.journals.push(text_of(path.as_ref()));
        self
    }

    /// Sets the parser of command lines, for rules that name programs
    /// ([`ArgumentTest::program`](super::ArgumentTest::program)).
    pub fn commands(mut self, reader: impl ReadCommands + 'static) -> Self {
        self.reader = Some(Arc::new(reader));
        self
    }

    /// Uses the command-line parser of another policy, if this policy has none.
    #[doc(hidden)]
    pub fn commands_of(mut self, other: &Self) -> Self {
        self.reader = self.reader.or_else(|| other.any_reader());
        self
    }

    fn any_reader(&self) -> Option<Arc<dyn ReadCommands>> {
        self.reader.clone().or_else(|| self.beneath.iter().find_map(Self::any_reader))
    }

    /// Announces tools that are registered later, by their name or by a pattern with `*`, so that rules may name them
    /// before they exist.
    pub fn registered_later(mut self, tool: impl Into<String>) -> Self {
        self.arriving.tools.push(At::code(tool.into()));
        self
    }

    /// Reports whether a tool that matches a pattern may be registered later. The pattern is the name of the tool, or a
    /// prefix and `*`.
    #[doc(hidden)]
    #[must_use]
    pub fn expects(&self, pattern: &str) -> bool {
        let begins = pattern.trim_end_matches('*');
        let is_like = |later: &At<String>| {
            let later = later.value.split('*').next().unwrap_or_default();
            let is_exact = !pattern.ends_with('*');
            begins.starts_with(later) || !is_exact && later.starts_with(begins)
        };
        self.arriving.tools.iter().any(is_like) || self.beneath.iter().any(|it| it.expects(pattern))
    }

    /// Adds default settings, such as those of a bundle of tools. A rule of this policy replaces a default rule with
    /// the same name. The mode, the base folder and the parser of command lines of this policy take precedence. All
    /// other settings are combined. Defaults may not switch protections off.
    ///
    /// ```
    /// use toolwright::Registry;
    /// use toolwright::policy::{Mode, Policy, Rule};
    ///
    /// let defaults = Policy::builder().mode(Mode::Strict).rules([
    ///     Rule::deny("it is not ours").named("vendored").writes("vendor/**"),
    ///     Rule::deny("it is generated").named("generated").writes("**/generated/**"),
    /// ]);
    /// let own = Rule::ask("we patch it at times").named("vendored").writes("vendor/**");
    /// let policy = Policy::builder().rule(own).over(defaults).build(&Registry::empty().catalog())?;
    /// assert_eq!(policy.mode(), Mode::Strict);
    /// assert_eq!(policy.rules().filter(|it| *it == "vendored" || *it == "generated").count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn over(mut self, defaults: Self) -> Self {
        self.beneath.push(defaults);
        self
    }

    /// Adds the text of a policy file. Problems name the file by `name`.
    pub fn text(self, name: impl AsRef<str>, text: &str) -> Self {
        read(self, &Arc::from(name.as_ref()), text)
    }

    /// Reads a policy file each time the policy is built, and protects the file from tools.
    pub fn load(mut self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        self = self.started_here();
        // The file is protected under both of its paths: the given one, and the one with links resolved.
        for known in [std::path::absolute(path), std::fs::canonicalize(path)].into_iter().flatten()
        {
            self.policies.push(text_of(&known));
        }
        self.policies.dedup();
        self.files.push(path.to_owned());
        self
    }

    /// Uses the current directory as the base folder if no other is set. Later builds of the policy use the same
    /// directory.
    #[doc(hidden)]
    pub fn started_here(mut self) -> Self {
        // If the folder cannot be determined, the pattern that needs it reports that.
        self.started_in =
            self.started_in.or_else(|| std::env::current_dir().ok().as_deref().map(text_of));
        self
    }

    /// Adds the rules and settings of the policy files. Building a policy does no other I/O.
    fn with_files(mut self) -> Self {
        for path in std::mem::take(&mut self.files) {
            let name = path.display().to_string();
            match std::fs::read_to_string(&path) {
                Ok(text) => self = self.text(name, &text),
                Err(error) => {
                    self.problems.add(None, format!("the policy `{name}` cannot be read: {error}"));
                }
            }
        }
        for defaults in std::mem::take(&mut self.beneath) {
            self.take_defaults(defaults.with_files());
        }
        self
    }

    /// Adds the settings of the defaults that this policy does not set.
    fn take_defaults(&mut self, defaults: Self) {
        let name = |rule: &Rule| rule.name.as_ref().map(|it| it.value.clone());
        let own: Vec<String> = self.rules.iter().filter_map(name).collect();
        let is_replaced = |rule: &Rule| name(rule).is_some_and(|it| own.contains(&it));
        self.rules.extend(defaults.rules.into_iter().filter(|it| !is_replaced(it)));
        self.mode = self.mode.or(defaults.mode);
        self.plan = Some(self.plan.unwrap_or(false) || defaults.plan.unwrap_or(false));
        self.four_eyes |= defaults.four_eyes;
        self.base = self.base.take().or(defaults.base);
        self.started_in = self.started_in.take().or(defaults.started_in);
        self.reader = self.reader.take().or(defaults.reader);
        self.no_files.extend(defaults.no_files);
        self.roots.extend(defaults.roots);
        self.policies.extend(defaults.policies);
        self.journals.extend(defaults.journals);
        self.arriving.extend(defaults.arriving);
        self.problems.extend(defaults.problems);
        for off in defaults.off {
            let message = format!(
                "defaults switch the protection `{}` off; only the application's own policy may",
                off.name()
            );
            self.problems.add(None, message);
        }
    }

    /// Lists the files that the policy is read from, under all their known names.
    #[doc(hidden)]
    pub fn protected_files(&self) -> Vec<&Path> {
        let own = self.policies.iter().map(Path::new);
        own.chain(self.beneath.iter().flat_map(Self::protected_files)).collect()
    }

    pub(super) fn protections_off(&mut self, names: Vec<At<String>>) {
        for name in names {
            match Protection::ALL.into_iter().find(|it| it.name() == name.value) {
                Some(protection) => self.off.push(protection),
                None => {
                    let near = suggestion(&name.value, Protection::ALL.iter().map(|it| it.name()));
                    let message = format!("no protection is called `{}`{near}", name.value);
                    self.problems.add(name.place.as_ref(), message);
                }
            }
        }
    }

    /// Builds the policy for these tools.
    ///
    /// # Errors
    /// When the policy has a mistake; the error lists every problem.
    pub fn build(self, catalog: &dyn ToolSet) -> Result<Policy, PolicyError> {
        self.with_files().make(catalog)
    }

    fn make(mut self, catalog: &dyn ToolSet) -> Result<Policy, PolicyError> {
        let base = self.known_base();
        self.name_rules();
        let roots: Vec<String> = self.roots.iter().map(|it| it.value.clone()).collect();
        let known =
            ProtectedThings { policies: &self.policies, journals: &self.journals, roots: &roots };
        let on = Protection::ALL.into_iter().filter(|it| !self.off.contains(it));
        let mut protections: Vec<Rule> = on.filter_map(|it| it.rule(&known)).collect();
        for rule in &mut protections {
            for folder in rule.outside.iter_mut().flatten() {
                let written = self.roots.iter().find(|it| it.value == folder.value);
                folder.place = written.and_then(|it| it.place.clone());
            }
        }
        let rules = protections.iter().chain(&self.rules);
        let tools = Tools::of(catalog);
        let scope =
            Scope::new(&tools, &self.arriving, &base, self.reader.as_ref(), &mut self.problems);
        let compiled = compile(rules, &scope, &mut self.problems);
        let no_files = NoFiles::of(&self.no_files, &scope, &mut self.problems);
        self.problems.finish()?;
        let settings = Settings {
            mode: self.mode.unwrap_or_default(),
            plan: self.plan.unwrap_or(false),
            four_eyes: self.four_eyes,
            roots,
            off: self.off,
        };
        Ok(Policy::new(settings, compiled, no_files, &tools, base, self.reader))
    }

    fn known_base(&mut self) -> Base {
        let root = self.roots.iter().map(|it| it.value.clone()).find(|it| is_absolute(it));
        let folder = self.base.clone().or(root).or_else(|| self.started_in.clone());
        let folder = folder.map(|it| File::normalise(&it));
        if let Some(folder) = folder.as_ref().filter(|it| !is_absolute(it)) {
            let message = format!("the base folder `{folder}` is relative: give an absolute path");
            self.problems.add(None, message);
            return Base(None);
        }
        Base(folder)
    }

    /// Gives a name to each rule that has none, and reports names that are used twice.
    fn name_rules(&mut self) {
        let mut taken: Vec<String> =
            Protection::ALL.iter().map(|it| it.name().to_owned()).collect();
        for rule in &self.rules {
            let Some(name) = &rule.name else { continue };
            if taken.contains(&name.value) {
                let message =
                    format!("two rules are called `{}`: give each a name of its own", name.value);
                self.problems.add(name.place.as_ref(), message);
            }
            taken.push(name.value.clone());
        }
        for kind in RuleKind::ALL {
            let rules = self.rules.iter_mut().filter(|it| it.kind == kind);
            for (number, rule) in (1_usize..).zip(rules).filter(|(_, it)| it.name.is_none()) {
                let mut name = format!("{}-{number}", kind.name().replace('_', "-"));
                while taken.contains(&name) {
                    name.push('\'');
                }
                taken.push(name.clone());
                rule.name = Some(At { value: name, place: rule.place.clone() });
            }
        }
    }
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
