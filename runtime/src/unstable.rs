//! Parts for programs that look into Toolwright: debuggers, tests of its policy, programs that sign their own
//! decisions. Applications do not need them, and any release may change them.

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

/// JSON as a tree whose numbers are stored as text.
pub mod json {
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

/// The input of a policy, and each rule's part in its decision.
pub mod policy {
    pub use toolwright_policy::policy::{
        DeclaredAccess, Evaluation, ModeSays, Question, RuleEffect, RuleMatch, RuleOutline,
    };
}

/// Repairs the input of a call along its schema, or says why that is impossible.
pub mod repair {
    pub use toolwright_schema::repair::{Refusal, RepairedInput, Repairer, TruncatedInput};
}

/// Access for a crate that records runs beside their calls.
pub mod runs {
    pub use toolwright_executor::executor::{
        BackgroundCall, JournalAccess, SubmittedTurn, ended_key, is_under_way, untrusted_key,
    };
}

/// The interface of a log of file changes, for a program that undoes them.
pub mod changes {
    pub use toolwright_executor::file_changes::{
        ChangingCalls, FileChanges, RefusedFile, RestoredFiles, UnrecordedCall,
    };
}

/// Calls that a tool makes on behalf of an agent of its own.
pub mod delegation {
    pub use toolwright_executor::executor::{DelegatedRun, Delegation, inherited, run_of};
}
