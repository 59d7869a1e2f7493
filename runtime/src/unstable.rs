//! Parts of Toolwright for debuggers, tests of policies, and programs that sign their own decisions. Applications do
//! not need them, and any release may change them.

/// Implements `Debug` of an error type by its message and its causes, for errors that `main` may return.
pub use toolwright_core::debug_as_sentence;
pub use toolwright_core::error::write_with_causes;

/// The final arguments of a call, their canonical text, and the digest that a decision is bound to.
pub mod arguments {
    pub use toolwright_core::json::{ArgumentsError, canonical};
    pub use toolwright_journal::arguments::{DigestInput, FinalArguments, digest, fingerprint};
}

/// Checks whether a grant covers a call, and finds the keys of a user.
pub mod approval {
    pub use toolwright_journal::approval::{GrantCandidate, UserKeys};
}

/// Tool schemas from elsewhere, from MCP servers, `OpenAPI` documents or people: normalises them, resolves their
/// references and checks values against them.
pub mod foreign {
    pub use toolwright_core::json::reference;
    pub use toolwright_schema::foreign::{NormalizedSchema, Note, TypeNames, input_schema};
    pub use toolwright_schema::schema::Checker;
}

/// JSON values as a tree that stores each number as it was written.
pub mod json {
    pub use toolwright_core::json::parse::{
        parse_nested as read_nested, parse_within as read_within,
    };
    pub use toolwright_core::json::read;
    pub use toolwright_core::json::tree::Node;
}

/// The decisions of an executor on journalled calls, as tracing events of [`TARGET`](lifecycle::TARGET), and their
/// replay.
pub mod lifecycle {
    pub use toolwright_executor::lifecycle::trace::{TARGET, TraceRefusal, replay};
}

/// The state machine of a journalled call.
pub mod journal {
    pub use toolwright_journal::journal::{
        Contradiction, Counter, FORMAT, Illegal, NotAdvanced, StoreFuture, TraceDecision,
        TraceInput, TraceStep, next, replay, trace,
    };
}

/// The input of a policy, and the part that each rule has in the policy's decision.
pub mod policy {
    pub use toolwright_policy::policy::{
        DeclaredAccess, Evaluation, ModeSays, Question, RuleEffect, RuleMatch, RuleOutline,
    };
}

/// Repairs the input of a call along its schema, or explains why the input cannot be repaired.
pub mod repair {
    pub use toolwright_schema::repair::{Refusal, RepairedInput, Repairer, TruncatedInput};
}

/// Access to the journal for a crate that records runs in addition to their calls.
pub mod runs {
    pub use toolwright_executor::executor::{
        BackgroundCall, JournalAccess, SubmittedTurn, ended_key, is_under_way, untrusted_key,
    };
}

/// The interface of a log of file changes, by which a program can undo the changes.
pub mod changes {
    pub use toolwright_executor::file_changes::{
        ChangingCalls, FileChanges, RefusedFile, RestoredFiles, UnrecordedCall,
    };
}

/// Calls that a tool makes on behalf of an agent, such as a sub-agent.
pub mod delegation {
    pub use toolwright_executor::executor::{DelegatedRun, Delegation, inherited, run_of};
}
