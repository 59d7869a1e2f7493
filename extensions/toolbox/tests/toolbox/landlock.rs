//! A sandbox by rules of the kernel: made only where what it lacks is accepted by name, and never instead of a better one.

use std::fs;

use serde_json::json;
use toolwright_toolbox::{Sandbox, SandboxKind, SandboxLack, Supervisor};

use crate::bash::{folders, supervisor};
use crate::executors::{output, tools};

#[test]
fn a_sandbox_of_landlock_is_made_only_for_who_names_what_it_lacks() {
    use SandboxLack::{NetworkBlock, PrivateTmp};
    for (accepts, missing) in [
        (&[][..], &["PrivateTmp", "NetworkBlock"][..]),
        (&[PrivateTmp], &["NetworkBlock"]),
        (&[NetworkBlock], &["PrivateTmp"]),
    ] {
        let error = Sandbox::landlock(&supervisor(), accepts).unwrap_err().to_string();
        assert!(error.contains("`landlock` cannot be used: it has no "), "{error}");
        for lack in ["PrivateTmp", "NetworkBlock"] {
            let is_named = error.contains(&format!("`SandboxLack::{lack}`"));
            assert_eq!(is_named, missing.contains(&lack), "{error}");
        }
    }
    // A program that applies no rules makes no sandbox.
    let error = Sandbox::landlock(&Supervisor::program("/bin/false"), &[PrivateTmp, NetworkBlock]);
    assert!(error.unwrap_err().to_string().contains("it cannot make a sandbox"));
}

/// Programs share the machine's `/tmp` there, unless something in it is hidden.
#[test]
fn what_is_hidden_in_the_tmp_of_the_machine_is_hidden_from_landlock() {
    let hidden = tempfile::tempdir().unwrap();
    fs::write(hidden.path().join("key"), "secret").unwrap();
    let (key, new) = (
        hidden.path().join("key"),
        std::env::temp_dir().join(format!("new-{}", std::process::id())),
    );
    let lacks = [SandboxLack::PrivateTmp, SandboxLack::NetworkBlock];
    let sandbox = match Sandbox::landlock(&supervisor(), &lacks) {
        Ok(sandbox) => sandbox,
        Err(error) => return println!("skipped: {error}"),
    };
    let around = folders();
    let line = format!("cat {}; echo x > {}; echo y > made", key.display(), new.display());
    let ran = |sandbox| {
        let executor = tools(&around.path().join("inside"), "true", sandbox);
        let ran = output(&executor, "bash", json!({"command": line}));
        assert_eq!(fs::read_to_string(around.path().join("inside/made")).unwrap(), "y\n");
        (ran.output.starts_with("secret"), fs::remove_file(&new).is_ok())
    };
    assert_eq!(ran(sandbox.clone()), (true, true));
    assert_eq!(ran(sandbox.hide(hidden.path())), (false, false));
}

/// Which one it is, the machine decides and the sandbox reports; where there is neither, each is named with its reason.
#[test]
fn a_machine_gives_the_better_sandbox_that_it_has_or_says_why_it_has_none() {
    match (Sandbox::bubblewrap(), Sandbox::of_this_machine(&supervisor(), &[])) {
        (Ok(_), made) => assert_eq!(made.unwrap().kind(), SandboxKind::Bubblewrap),
        (Err(_), made) => {
            let error = made.unwrap_err();
            assert_eq!(error.problems.len(), 2, "{error}");
            let error = error.to_string();
            assert!(
                error.contains("`bubblewrap` cannot be used")
                    && error.contains("`landlock` cannot")
            );
        }
    }
}
