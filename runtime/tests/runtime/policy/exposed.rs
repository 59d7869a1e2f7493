//! A policy lies where the tools that it is for do not work.

use std::path::Path;

use toolwright::policy::Policy;
use toolwright::{Executor, ExecutorBuilder, Registry};

#[test]
fn a_policy_in_a_folder_that_tools_work_in_is_refused() {
    let folder = std::env::temp_dir().join(format!("toolwright-exposed-{}", std::process::id()));
    let (work, path) = (folder.join("work"), folder.join("policy.toml"));
    std::fs::create_dir_all(&work).expect("a folder");
    std::fs::write(&path, "version = 1\n").expect("a file");
    let policy = || Policy::builder().load(&path);
    let refusal = |builder: ExecutorBuilder| builder.build().err().map(|it| it.to_string());
    let executor = || Executor::builder(Registry::default());
    // The application says where tools work, or the policy does.
    let of_the_builder = |root: &Path| refusal(executor().policy(policy()).workspace_root(root));
    let of_the_policy = |root: &Path| refusal(executor().policy(policy().root(root)));
    for exposed in [of_the_builder(&folder), of_the_policy(&folder)] {
        let exposed = exposed.expect("the policy lies inside");
        assert!(
            exposed.contains("policy.toml") && exposed.contains("lies in the workspace"),
            "{exposed}"
        );
    }
    assert_eq!((of_the_builder(&work), of_the_policy(&work)), (None, None));
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

#[test]
fn a_policy_is_looked_at_whenever_it_is_read() {
    let folder = std::env::temp_dir().join(format!("toolwright-read-{}", std::process::id()));
    let path = folder.join("policy.toml");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(&path, "version = 1\n").expect("a file");
    let builder = Executor::builder(Registry::default()).policy(Policy::builder().load(&path));
    let executor = builder.build().expect("nothing is in reach");
    executor.reload_policy().expect("nothing has changed");
    std::fs::write(&path, format!("version = 1\nroots = [{:?}]\n", folder.display().to_string()))
        .expect("the file is there");
    let error = executor.reload_policy().expect_err("the policy lies inside").to_string();
    assert!(error.contains("lies in the workspace"), "{error}");
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}
