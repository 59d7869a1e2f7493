//! A policy lies where the tools that it is for do not work.

use toolwright::policy::Policy;
use toolwright::{Executor, Registry};

#[test]
fn a_policy_in_a_folder_that_tools_work_in_is_refused() {
    let folder = std::env::temp_dir().join(format!("toolwright-exposed-{}", std::process::id()));
    let (work, path) = (folder.join("work"), folder.join("policy.toml"));
    std::fs::create_dir_all(&work).expect("a folder");
    std::fs::write(&path, "version = 1\n").expect("a file");
    let refusal = |root: &std::path::Path| {
        let builder = Executor::builder(Registry::default()).policy(Policy::builder().load(&path));
        builder.workspace_root(root).build().err().map(|it| it.to_string())
    };
    let exposed = refusal(&folder).expect("the policy lies inside");
    assert!(
        exposed.contains("policy.toml") && exposed.contains("lies in the workspace"),
        "{exposed}"
    );
    assert_eq!(refusal(&work), None);
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}
