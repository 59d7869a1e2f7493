//! Errors that convert by themselves: what the model reads, and what may be repeated.

use std::fmt::Write as _;
use std::io;

use insta::assert_snapshot;
use toolwright::{ErrorClass, ToolError};

#[test]
fn the_classes_of_input_and_output_errors_are_reviewed_as_code() {
    use io::ErrorKind as K;
    let kinds = [
        K::NotFound,
        K::PermissionDenied,
        K::AlreadyExists,
        K::NotADirectory,
        K::IsADirectory,
        K::InvalidData,
        K::ConnectionRefused,
        K::HostUnreachable,
        K::NetworkUnreachable,
        K::NetworkDown,
        K::TimedOut,
        K::ConnectionReset,
        K::ConnectionAborted,
        K::BrokenPipe,
        K::WouldBlock,
        K::ResourceBusy,
        K::ExecutableFileBusy,
        K::StorageFull,
        K::Other,
    ];
    let mut table = String::new();
    for kind in kinds {
        let error = ToolError::from(io::Error::from(kind));
        let _ = writeln!(table, "{kind:?}: {} ({:?}), {error}", error.kind(), error.classified());
    }
    assert_snapshot!(table);
}

#[test]
fn a_connection_that_breaks_because_its_host_is_unreachable_may_have_sent_the_request() {
    use io::ErrorKind as K;
    for kind in [K::HostUnreachable, K::NetworkUnreachable, K::NetworkDown] {
        let error = ToolError::from(io::Error::from(kind));
        assert_eq!(error.classified(), ErrorClass::Transient, "{kind:?}");
    }
}

#[cfg(unix)]
#[test]
fn errors_of_the_system_are_known_by_their_numbers_and_not_by_their_words() {
    let class = |number| {
        let error = ToolError::from(io::Error::from_raw_os_error(number));
        (error.kind().to_owned(), error.classified())
    };
    let too_many = ("too_many_open_files".to_owned(), ErrorClass::Transient);
    assert_eq!((class(23), class(24)), (too_many.clone(), too_many));
    let lying = ToolError::from(io::Error::other("ETIMEDOUT: temporarily unavailable"));
    assert_eq!((lying.kind(), lying.classified()), ("io_error", ErrorClass::Final));
}

#[test]
fn a_database_that_is_busy_may_be_tried_again_and_one_that_refuses_may_not() {
    let file = std::env::temp_dir().join(format!("toolwright-busy-{}.sqlite", std::process::id()));
    let mine = rusqlite::Connection::open(&file).unwrap();
    mine.busy_timeout(std::time::Duration::ZERO).unwrap();
    mine.execute_batch(
        "create table if not exists t(a unique); insert or ignore into t values (1)",
    )
    .unwrap();
    let refused = ToolError::from(mine.execute("insert into t values (1)", []).unwrap_err());
    assert_eq!(
        (refused.kind(), refused.classified()),
        ("constraint_violation", ErrorClass::Invalid)
    );
    let absent = mine.query_row("select a from t where a = 2", [], |row| row.get::<_, i64>(0));
    let absent = ToolError::from(absent.unwrap_err());
    assert_eq!((absent.kind(), absent.classified()), ("not_found", ErrorClass::Final));
    let wrong = ToolError::from(mine.execute("insert into nothing values (1)", []).unwrap_err());
    assert_eq!((wrong.kind(), wrong.classified()), ("internal_error", ErrorClass::Final));
    assert!(!wrong.to_string().contains("nothing") && wrong.source().is_some());

    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("begin exclusive").unwrap();
    let busy = ToolError::from(mine.execute("insert into t values (2)", []).unwrap_err());
    assert_eq!(
        (busy.kind(), busy.classified()),
        ("busy", ErrorClass::NotStarted { retry_after: None })
    );
    drop(other);
    std::fs::remove_file(file).unwrap();
}
