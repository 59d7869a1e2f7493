//! Two workspaces in one process have different files by one name: a footprint says which workspace a name belongs to.

use serde_json::json;
use toolwright::{
    Call, DynamicTool, Effect, Executor, File, Footprint, Holds, Registry, ResourceKind,
    ResourceScope, tool, tools,
};
use toolwright_toolbox::{READ_FILE, RUN_COMMAND, WRITE_FILE, Workspace};

use crate::support::builder;

/// The footprint of a call of an executor.
fn touches(executor: &Executor, name: &'static str, path: &str) -> Footprint {
    let arguments = match name {
        "write_file" => json!({"path": path, "content": ""}),
        _ => json!({"path": path}),
    };
    let call = Call::new(name, arguments.to_string());
    executor.examine(&call).unwrap().touches().unwrap().clone()
}

fn in_workspace(folder: &std::path::Path) -> Executor {
    builder([READ_FILE, WRITE_FILE]).service(Workspace::open(folder).unwrap()).build().unwrap()
}

#[test]
fn files_of_two_workspaces_do_not_conflict_and_those_of_one_folder_do() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [ada, bob, eve] = [one.path(), two.path(), one.path()].map(in_workspace);
    let write = touches(&ada, "write_file", "src/a.rs");
    assert!(!write.conflicts_with(&touches(&bob, "read_file", "src/a.rs")));
    assert!(!write.conflicts_with(&touches(&bob, "write_file", ".")));
    assert!(write.conflicts_with(&touches(&eve, "read_file", "./src//a.rs")));
    assert!(write.conflicts_with(&touches(&eve, "read_file", "src")));
}

#[test]
fn a_workspace_below_another_has_some_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("below");
    std::fs::create_dir(&below).unwrap();
    let (outer, inner) = (in_workspace(folder.path()), in_workspace(&below));
    let write = touches(&inner, "write_file", "a.rs");
    for (path, conflicts) in [("below/a.rs", true), ("below", true), ("a.rs", false), (".", true)] {
        assert_eq!(touches(&outer, "read_file", path).conflicts_with(&write), conflicts, "{path}");
        assert_eq!(write.conflicts_with(&touches(&outer, "read_file", path)), conflicts, "{path}");
    }
}

#[test]
fn what_writes_everything_conflicts_with_every_workspace() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bob = in_workspace(two.path());
    let workspace = Workspace::open(one.path()).unwrap();
    let ada = builder([RUN_COMMAND]).service(workspace).build().unwrap();
    let run = ada.examine(&Call::new("run_command", r#"{"program":"true"}"#)).unwrap();
    assert!(run.touches().unwrap().conflicts_with(&touches(&bob, "read_file", "a")));
}

/// Reads a file of nowhere in particular.
#[tool(effect = read, reads(file = path))]
async fn read_somewhere(
    /// Which.
    path: String,
) {
    let _ = path;
}

#[test]
fn a_file_without_a_workspace_may_be_in_any() {
    let folder = tempfile::tempdir().unwrap();
    let write = touches(&in_workspace(folder.path()), "write_file", "a.rs");
    let somewhere = builder([READ_SOMEWHERE]).build().unwrap();
    assert!(write.conflicts_with(&touches(&somewhere, "read_somewhere", "a.rs")));
    assert!(!write.conflicts_with(&touches(&somewhere, "read_somewhere", "b.rs")));
}

struct Ticket;

impl ResourceKind for Ticket {
    const LABEL: &'static str = "ticket";
}

/// Tickets of one project, by its name.
struct Project(&'static str);

impl Holds<Ticket> for Project {
    fn scope(&self) -> ResourceScope {
        ResourceScope::new(self.0)
    }
}

/// Tickets of another one.
struct Archive(&'static str);

impl Holds<Ticket> for Archive {
    fn scope(&self) -> ResourceScope {
        ResourceScope::new(self.0)
    }
}

#[tools(unlinked)]
impl Project {
    /// Closes a ticket.
    #[tool(effect = idempotent, writes(Ticket = path))]
    async fn close_in_project(
        &self,
        /// Which.
        path: String,
    ) {
        let _ = path;
    }
}

/// Moves a ticket from a project to the archive.
#[tool(unlinked, writes(Ticket = path, file))]
async fn archive_ticket(
    project: &Project,
    archive: &Archive,
    /// Which.
    path: String,
) {
    let _ = (project, archive, path);
}

#[test]
fn a_method_names_resources_of_its_own_service_and_the_run_may_bring_it() {
    let executor = builder([Project::CLOSE_IN_PROJECT]).per_run::<Project>().build().unwrap();
    let of_project = |name: &'static str| {
        let run = executor.run(name).with(Project(name)).start().unwrap();
        let facts = run.examine(&Call::new("close_in_project", r#"{"path":"7"}"#)).unwrap();
        facts.touches().unwrap().clone()
    };
    let (red, blue) = (of_project("red"), of_project("blue"));
    assert!(red.conflicts_with(&of_project("red")) && !red.conflicts_with(&blue));
    let [ticket] = red.resources_written().unwrap() else { panic!("{red:?}") };
    assert_eq!(ticket.scope(), Some(&ResourceScope::new("red")));
    assert_eq!(red.writes_named().unwrap().collect::<Vec<_>>(), [("ticket", Some("7"))]);
}

#[test]
fn two_services_with_resources_of_a_kind_leave_open_whose_is_meant() {
    let of = |archive| {
        let builder = builder([ARCHIVE_TICKET]).service(Project("red")).service(Archive(archive));
        touches(&builder.build().unwrap(), "archive_ticket", "7")
    };
    let scopes = |footprint: &Footprint| {
        let written = footprint.resources_written().unwrap();
        written.iter().map(|it| it.scope().map(ToString::to_string)).collect::<Vec<_>>()
    };
    assert_eq!(scopes(&of("grey")), [None, None]);
    // No service holds files.
    assert_eq!(scopes(&of("red")), [Some("red".to_owned()), None]);
}

struct Broken;

impl Holds<File> for Broken {
    fn scope(&self) -> ResourceScope {
        panic!("the scope is not known")
    }
}

/// Reads a file of a broken service.
#[tool(unlinked, effect = read, reads(file = path))]
async fn read_broken(
    broken: &Broken,
    /// Which.
    path: String,
) {
    let _ = (broken, path);
}

#[test]
fn a_service_that_panics_when_it_is_asked_for_its_scope_fails_the_call() {
    let executor = builder([READ_BROKEN]).service(Broken).build().unwrap();
    let error = executor.examine(&Call::new("read_broken", r#"{"path":"a"}"#)).unwrap_err();
    assert_eq!(error.kind(), "panic");
}

#[test]
fn a_run_time_tool_says_the_scope_itself() {
    let tool = |scope: String| {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        let tool = DynamicTool::new("read_it", "Reads a file.", schema, |_, _| async { Ok(()) });
        let tool = tool.effect(Effect::Read).footprint_by(move |input| {
            let read = Footprint::nothing().reading::<File>(input["path"].as_str());
            read.in_scope(&ResourceScope::new(&*scope))
        });
        Executor::builder(Registry::of([tool]).unwrap()).unrestricted().build().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let write = touches(&in_workspace(folder.path()), "write_file", "a.rs");
    let of = |scope: &str| touches(&tool(scope.to_owned()), "read_it", "a.rs");
    assert!(!write.conflicts_with(&of("/elsewhere")));
    let real = folder.path().canonicalize().unwrap();
    assert!(write.conflicts_with(&of(real.to_str().unwrap())));
}
