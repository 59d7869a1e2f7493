//! What commands print, well and badly.

use super::*;

fn shell(script: &str) -> CommandKey {
    CommandKey::new(["sh", "-c", script].map(Into::into).into()).unwrap()
}

/// Prints `key-1`, then `key-2`, and so on: a line of the file for each time that it ran.
fn counting(folder: &tempfile::TempDir) -> CommandKey {
    let file = folder.path().join("ran");
    let file = file.to_str().unwrap();
    shell(&format!("echo ran >> {file}; echo key-$(wc -l < {file})"))
}

fn key(text: &str) -> Secret {
    Secret::new(text).unwrap()
}

#[tokio::test]
async fn a_command_runs_once_for_all_requests_and_its_white_space_is_no_part_of_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let command = counting(&folder);
    let (one, two) = tokio::join!(command.current(), command.current());
    assert_eq!((one.unwrap(), two.unwrap()), (key("key-1"), key("key-1")));
    assert_eq!(shell("printf ' hunter2 \\r\\n\\n'").current().await.unwrap(), key("hunter2"));
}

#[tokio::test]
async fn a_command_runs_once_more_for_all_requests_whose_key_was_refused() {
    let folder = tempfile::tempdir().unwrap();
    let command = counting(&folder);
    let refused = command.current().await.unwrap();
    let (one, two) =
        tokio::join!(command.has_other_than(&refused), command.has_other_than(&refused));
    assert_eq!((one.unwrap(), two.unwrap()), (true, true));
    assert_eq!(command.current().await.unwrap(), key("key-2"));
    let constant = shell("echo hunter2");
    let refused = constant.current().await.unwrap();
    assert!(!constant.has_other_than(&refused).await.unwrap());
}

#[tokio::test]
async fn a_command_that_prints_no_key_is_named_without_what_it_printed() {
    let missing = CommandKey::new(vec!["toolwright-no-such-program".into()]).unwrap();
    let slow = CommandKey { time: Duration::from_millis(200), ..shell("echo hunter2; sleep 60") };
    for (command, found) in [
        (missing, "`toolwright-no-such-program` for the key could not be run ("),
        (slow, "`sh` for the key did not end within 0.2 s"),
        (shell("echo hunter2; exit 3"), "`sh` for the key ended with exit status: 3"),
        (shell("true"), "printed nothing"),
        (shell("echo hunter2; echo hunter2"), "printed several lines"),
        (shell("printf 'hunter2\\377'"), "printed what is not UTF-8"),
        (shell("yes hunter2"), "printed more than 65536 bytes"),
        // It is given nothing to read.
        (shell("read key && echo hunter2"), "ended with exit status: 1"),
    ] {
        let fault = command.current().await.unwrap_err();
        let outage = ErrorClass::NotStarted { retry_after: None };
        assert_eq!((fault.kind, fault.class), ("no_key", outage), "{found}");
        let words = &fault.message;
        assert!(words.contains(found) && words.contains("expected the key alone"), "{words}");
        assert!(!format!("{fault:?} {command:?}").contains("hunter2"), "{words}");
    }
}

#[tokio::test]
async fn a_run_that_fails_fails_every_request_that_waits_for_it_and_no_later_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ran");
    let script = format!("echo ran >> {}; sleep 0.2; exit 3", file.display());
    let (command, runs) =
        (shell(&script), || std::fs::read_to_string(&file).unwrap().lines().count());
    let all = futures::future::join_all((0..5).map(|_| command.current())).await;
    assert!(all.iter().all(Result::is_err));
    assert_eq!(runs(), 1);
    command.current().await.unwrap_err();
    assert_eq!(runs(), 2);
}
