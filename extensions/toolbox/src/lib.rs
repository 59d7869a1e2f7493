//! Ready-made tools for [toolwright]: they read, write and search the files of one folder, run programs in it, fetch
//! web pages, store large texts, and manage a list of tasks.
//!
//! An application adds the tools of a coding agent at once, with undo, syntax check, rated command lines and rules:
//! `CodingTools`, if the features `changes`, `files`, `process`, `shell` and `syntax-…` are enabled.
//!
//! An application selects the tools that it offers. Linking this crate registers none; register them by their handles, one by
//! one or as a group:
//!
//! | group | feature | tools |
//! | --- | --- | --- |
//! | [`FILES`] | `files` | [`read_file`], [`write_file`], [`edit_file`], [`patch_lines`], [`apply_patch`], [`list_files`], [`glob`], [`grep`] |
//! | [`PROCESS`] | `process` | [`run_command`] |
//! | `CONTEXT_STORE` | `context-store` | all of `CONTEXT` but `context_query` |
//! | `CONTEXT` | `context` | `context_write`, `context_read`, `context_search`, `context_tree`, `context_refresh`, `context_edit`, `context_query`, `context_pipe` |
//! | `TASKS` | `tasks` | `task_create`, `task_update`, `task_get`, `task_list` |
//! | `WORKER` | `tasks` | `complete_task`, `fail_task`, `wait_task` |
//! | `WEB` | `web` | `web_fetch`, `web_search`, `allow_host` |
//! | [`CHANGES`] | `changes` | [`undo_file`], [`undo_turn`], [`file_history`] |
//!
//! `files` and `process` are default features. The tools work in a [`Workspace`], which is a service, except for these
//! groups: [`CHANGES`] needs a [`ChangeLog`], `CONTEXT` a `ContextStore`, `TASKS` a `TaskStore`, `WORKER` a `ClaimedTask`,
//! and `WEB` the services of `WebTools`.
//!
//! Two kinds of middleware observe what calls write, with tools of this crate and with tools of an
//! application. [`ChangeLog`] records the changes so that they can be undone. `SyntaxCheck` (features `syntax-…`)
//! reports edits that break a file. `Container` (feature `container`) runs programs in a container.
//!
//! ```
//! use toolwright::{Call, Executor, Registry};
//! use toolwright_toolbox::{FILES, Workspace};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let registry = Registry::of(FILES)?;
//! let executor = Executor::builder(registry).unrestricted().service(Workspace::open(folder)?).build()?;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let written = executor.call(&Call::new("write_file", r#"{"path":"notes/today.md","content":"buy tea\n"}"#)).await;
//! assert_eq!(written.text(), "created `notes/today.md`, 8 bytes; hash e7fd9c8e07e84edc");
//! let outside = executor.call(&Call::new("read_file", r#"{"path":"../elsewhere"}"#)).await;
//! assert_eq!(outside.error().expect("it is refused").kind(), "outside_workspace");
//! # });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An application with tools of its own adds a group to them: `Registry::of(Handle::linked().chain(FILES))`.
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "changes", feature = "context-store", feature = "syntax"))]
mod blocking;
#[cfg(feature = "changes")]
mod changes;
#[cfg(all(
    feature = "changes",
    feature = "files",
    feature = "process",
    feature = "shell",
    feature = "syntax",
    unix
))]
mod coding;
#[cfg(feature = "context-store")]
mod context;
#[cfg(any(feature = "changes", feature = "context-store", feature = "tasks"))]
mod database;
#[cfg(feature = "files")]
mod files;
#[cfg(any(feature = "changes", feature = "syntax"))]
mod footprint;
#[cfg(feature = "process")]
mod process;
#[cfg(feature = "shell")]
mod shell;
mod step;
#[cfg(feature = "syntax")]
mod syntax;
#[cfg(feature = "tasks")]
mod tasks;
#[cfg(all(feature = "changes", feature = "syntax"))]
mod ten_steps;
#[cfg(feature = "web")]
mod web;
mod workspace;

#[cfg(feature = "changes")]
#[cfg_attr(docsrs, doc(cfg(feature = "changes")))]
pub use changes::{
    CHANGES, ChangeLimits, ChangeLog, ChangeLogError, FILE_HISTORY, UNDO_FILE, UNDO_TURN,
    file_history, undo_file, undo_turn,
};
#[cfg(all(
    feature = "changes",
    feature = "files",
    feature = "process",
    feature = "shell",
    feature = "syntax",
    unix
))]
#[cfg_attr(
    docsrs,
    doc(cfg(all(
        feature = "changes",
        feature = "files",
        feature = "process",
        feature = "shell",
        feature = "syntax"
    )))
)]
pub use coding::{CodingTools, CodingToolsError};
#[cfg(all(feature = "context-store", feature = "web"))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "context-store", feature = "web"))))]
pub use context::HttpEmbedder;
#[cfg(feature = "context")]
#[cfg_attr(docsrs, doc(cfg(feature = "context")))]
pub use context::{CONTEXT, CONTEXT_QUERY, QueryAnswer, context_query};
#[cfg(feature = "context-store")]
#[cfg_attr(docsrs, doc(cfg(feature = "context-store")))]
pub use context::{
    CONTEXT_EDIT, CONTEXT_PIPE, CONTEXT_READ, CONTEXT_REFRESH, CONTEXT_SEARCH, CONTEXT_STORE,
    CONTEXT_TREE, CONTEXT_WRITE, ContextEntry, ContextItem, ContextMatch, ContextSource,
    ContextStore, ContextStoreError, ContextTree, EditedEntry, EmbedPurpose, Embedder,
    EmbedderError, EmbeddingReport, FoundParts, LogicalPath, OnConflict, PipedEntry, RefreshResult,
    RefreshedEntry, StoredEntry, context_edit, context_pipe, context_read, context_refresh,
    context_search, context_tree, context_write,
};
#[cfg(feature = "files")]
#[cfg_attr(docsrs, doc(cfg(feature = "files")))]
pub use files::{
    APPLY_PATCH, EDIT_FILE, ExpectedHash, FILES, GLOB, GREP, GrepMode, LIST_FILES, LinePatch,
    PATCH_LINES, READ_FILE, WRITE_FILE, apply_patch, edit_file, glob, grep, is_secret, list_files,
    patch_lines, patched_lines, read_file, write_file,
};
#[cfg(feature = "container")]
#[cfg_attr(docsrs, doc(cfg(feature = "container")))]
pub use process::Container;
#[cfg(all(feature = "process", unix))]
#[cfg_attr(docsrs, doc(cfg(feature = "process")))]
pub use process::Supervisor;
#[cfg(feature = "process")]
#[cfg_attr(docsrs, doc(cfg(feature = "process")))]
pub use process::{
    ArgumentVector, Local, PROCESS, ProcessEnd, ProcessRequest, RUN_COMMAND, RunningProcess,
    Streams, ToolExecutor, run_command,
};
#[cfg(all(feature = "process", feature = "shell", unix))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "process", feature = "shell"))))]
pub use process::{
    BASH, CliTool, CliToolError, SANDBOXED_BASH, Sandbox, SandboxKind, SandboxLack, SandboxedShell,
    Shell, bash, sandboxed_bash,
};
#[cfg(feature = "shell")]
#[cfg_attr(docsrs, doc(cfg(feature = "shell")))]
pub use shell::{
    Classification, CommandTable, Commands, Part, ShellReader, SimpleCommand, TableError, Unknown,
    classify, classify_by,
};
#[cfg(feature = "syntax")]
#[cfg_attr(docsrs, doc(cfg(feature = "syntax")))]
pub use syntax::SyntaxCheck;
#[cfg(feature = "tasks")]
#[cfg_attr(docsrs, doc(cfg(feature = "tasks")))]
pub use tasks::{
    COMPLETE_TASK, ClaimedTask, EndedTask, FAIL_TASK, NewTask, TASK_CREATE, TASK_GET, TASK_LIST,
    TASK_UPDATE, TASKS, Task, TaskId, TaskStatus, TaskStore, TaskStoreError, TaskSummary,
    TaskTools, TaskUpdate, WAIT_TASK, WORKER, complete_task, fail_task, task_create, task_get,
    task_list, task_update, wait_task,
};
#[cfg(all(feature = "changes", feature = "syntax"))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "changes", feature = "syntax"))))]
pub use ten_steps::TenSteps;
#[cfg(feature = "web")]
#[cfg_attr(docsrs, doc(cfg(feature = "web")))]
pub use web::{
    ALLOW_HOST, AllowList, BraveSearch, HostResolver, PageMode, SearchProvider, SearchResult, WEB,
    WEB_FETCH, WEB_SEARCH, WebClient, WebClientBuilder, WebClientError, WebTools, allow_host,
    web_fetch, web_search,
};
#[cfg(feature = "process")]
#[cfg_attr(docsrs, doc(cfg(feature = "process")))]
pub use workspace::ExecutorFiles;
pub use workspace::{Workspace, WriteOutcome};
