//! Rules over the facts of a call, which decide whether the call runs, needs approval or is refused. Deciding does no
//! I/O; building a policy reads its files.
//!
//! - A *deny* refuses a call. An *ask* requires a person's decision or a grant, an *always-ask* a person's decision
//!   even if there is a grant. An *allow* only stops the mode from asking. No rule overrides the denial or question of
//!   another rule or of the tool, so the order of rules does not matter.
//! - A [`Mode`] decides by the danger of a call. The setting `plan` queues calls that change something.
//! - A [`Protection`] is a built-in rule, which can be switched off.
//! - A rule that denies or asks applies even if it is unknown whether the rule matches. For example, a call with
//!   undeclared files may touch any file. Only the protection `ask-for-keys` is an exception.
//!
//! # Patterns for files
//!
//! | pattern | matches |
//! | --- | --- |
//! | `*.pem` | files of that name in any folder, as in `.gitignore` |
//! | `./*.pem` | those in the base folder |
//! | `src/**`, `src/` | `src` and everything in it |
//! | `**/.git/**` | any `.git` and everything in it |
//! | `/etc/**` | an absolute name |
//! | `*`, `?`, `[ab]`, `{a,b}` | characters, except `/` |
//!
//! The names of files are those in a call's [`Footprint`](crate::Footprint), normalised. A tool must not follow links
//! when it opens a file. A rule that refuses or asks ignores case. A call that reads a whole folder declares the
//! folder. A pattern for files in that folder, such as `secrets/**`, may match the call; a pattern for files in any
//! folder, such as `*.pem`, does not.
//!
//! # A file
//!
//! ```
//! use toolwright::policy::{Policy, PolicyDecision};
//! use toolwright::unstable::policy::Question;
//! use toolwright::{Danger, Effect, Footprint, Registry, tool};
//!
//! /// Deletes a file.
//! #[tool(effect = idempotent, danger = dangerous, writes(file = path))]
//! async fn delete_file(
//!     /// Which.
//!     path: String,
//! ) {
//! }
//!
//! let text = r#"
//! version = 1
//! mode = "interactive"
//!
//! [[allow]]
//! name = "clean-up"
//! reason = "what was built can be built again"
//! tool = "delete_file"
//! writes = ["target/**"]
//! matches = [{ tool = "delete_file", writes = ["target/debug"] }]
//! does_not_match = [{ tool = "delete_file", writes = ["targets"] }]
//! "#;
//! let catalog = Registry::of([DELETE_FILE])?.catalog();
//! let policy = Policy::builder().text("policy.toml", text).build(&catalog)?;
//!
//! let footprint = Footprint::nothing().writing::<toolwright::File>("target/debug");
//! let mut question = Question {
//!     definition: None,
//!     tool: "delete_file",
//!     group: None,
//!     tags: &[],
//!     danger: Danger::Dangerous,
//!     effect: Effect::Idempotent,
//!     principal: None,
//!     arguments: r#"{"path":"target/debug"}"#,
//!     input_schema: None,
//!     footprint: Some(&footprint),
//!     approval: None,
//!     came_at_run_time: false,
//!     untrusted: Some(&[]),
//!     accepted: false,
//! };
//! assert_eq!(policy.judge(&question).verdict, PolicyDecision::Allow);
//! // No rule cancels the tool's own request for approval.
//! question.approval = Some("it deletes");
//! assert!(matches!(policy.judge(&question).verdict, PolicyDecision::Ask { grants_count: true, .. }));
//! println!("{}", policy.explain(&question));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use toolwright_policy::policy::{
    ArgumentTest, CommandLine, Example, ExplainedCommand, Explanation, MatchedFiles, Mode, Policy,
    PolicyBuilder, PolicyDecision, PolicyError, PolicyProblem, ProgramCall, Protection,
    ReadCommands, Rule, RuleKind, SourceLocation, UndeclaredTool, WhenUnknown,
};
