//! Agents with the tools of the toolbox, on a real folder.

use super::*;

use std::sync::Mutex;

use serde_json::json;
use toolwright::{Registry, ToolEventKind};
use toolwright_toolbox::{FILES, Workspace};

/// Two agents of one process edit one file, each with an executor and a workspace of its own.
#[tokio::test]
async fn of_two_agents_that_edit_one_file_one_is_told_that_it_is_reserved() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lib.rs"), "fn one() {}\n").unwrap();
    let (reservations, told) = (Reservations::new(), Arc::new(Mutex::new(Vec::new())));
    let [ada, bob] = ["ada", "bob"].map(|id| {
        let told = Arc::clone(&told);
        let builder = Executor::builder(Registry::of(FILES).unwrap())
            .unrestricted()
            .retry(RetryPolicy::NONE)
            .service(Workspace::open(folder.path()).unwrap())
            .middleware(reservations.clone())
            .listen(move |event| {
                if let ToolEventKind::Reserved { resource, holder, .. } = &event.kind {
                    let resource = resource.map(ToString::to_string).unwrap_or_default();
                    told.lock().unwrap().push(format!("{}: {resource} of {holder}", event.run));
                }
            });
        builder.build().unwrap().run(id).start().unwrap()
    });
    let edit = |old: &str, new: &str| {
        let arguments = json!({"path": "lib.rs", "old_string": old, "new_string": new});
        Call::new("edit_file", arguments.to_string())
    };
    // Both begin before either ends: an edit runs on a thread of its own.
    let (first, second) = (edit("one", "first"), edit("one", "second"));
    let (first, second) = tokio::join!(ada.call(&first), bob.call(&second));
    assert_eq!([kind(&first), kind(&second)], ["ok", "reserved"]);
    assert_eq!(*told.lock().unwrap(), ["bob: file `lib.rs` of ada"]);
    let content = || std::fs::read_to_string(folder.path().join("lib.rs")).unwrap();
    assert_eq!(content(), "fn first() {}\n");
    assert_eq!(kind(&answer(&bob, edit("first", "second")).await), "ok");
    assert_eq!(content(), "fn second() {}\n");
    assert!(reservations.held().is_empty());
}

#[tokio::test]
async fn agents_in_two_workspaces_do_not_know_of_each_other() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let reservations = Reservations::new();
    let runs = folders.each_ref().map(|folder| {
        let builder = Executor::builder(Registry::of(FILES).unwrap())
            .unrestricted()
            .service(Workspace::open(folder.path()).unwrap())
            .middleware(reservations.clone());
        builder.build().unwrap().run(folder.path().to_string_lossy()).start().unwrap()
    });
    let call = Call::new("write_file", r#"{"path":"lib.rs","content":"fn one() {}"}"#);
    let (one, two) = tokio::join!(runs[0].call(&call), runs[1].call(&call));
    assert_eq!([one, two].map(|it| kind(&it)), ["ok", "ok"]);
}
