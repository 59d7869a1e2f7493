//! Which calls run, which ask a person, and which are refused: rules over what is known of a call. Pure, but for
//! [`Policy::load`].
//!
//! - *Deny* refuses. *Ask* needs a person's decision or a grant, *always-ask* a decision. *Allow* removes only the question
//!   of the mode. Rules can only add objections, so that their order does not matter.
//! - A [`Mode`] decides by the danger of a call; `plan` queues calls that change something.
//! - A [`Protection`] is a built-in rule, which can be switched off.
//! - An objection counts even where a fact is unknown: a call that does not declare its files may touch any.
//!
//! # Patterns for files
//!
//! | pattern | fits |
//! | --- | --- |
//! | `*.pem` | files of that name in any folder, as in `.gitignore` |
//! | `./*.pem` | those in the base folder |
//! | `src/**`, `src/` | `src` and all that is in it |
//! | `**/.git/**` | any `.git` and all that is in it |
//! | `/etc/**` | an absolute name |
//! | `*`, `?`, `[ab]`, `{a,b}` | characters, but for `/` |
//!
//! Names are those of a call's [`Footprint`](crate::Footprint), normalised; the tool that opens a file has to follow no link.
//! A rule that refuses or asks compares without regard to case. A call that reads a whole folder names the folder: a
//! pattern that begins in it, `secrets/**`, counts; one for any folder, `*.pem`, does not.
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
//! // What the tool itself asks for, no rule silences.
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
