//! A person decides about a call that is recorded, with the key of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::journal::SqliteStore;

use crate::durable::{answer, calls};
use crate::provider::Answering;
use crate::{printed, program, words};

const APPROVE: &str = env!("CARGO_BIN_EXE_approve_durable");

fn approve(folder: &Path, provider: &Answering) -> Command {
    let mut command = program(APPROVE);
    command.current_dir(folder).env("XDG_CONFIG_HOME", folder.join("config"));
    command.env_remove("TOOLWRIGHT_KEY").env("USER", "grace");
    command.env("ANTHROPIC_API_KEY", "secret").env("ANTHROPIC_BASE_URL", &provider.url);
    command
}

fn key(folder: &Path) -> PathBuf {
    folder.join("config/toolwright/keys/grace.key")
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    words(&output.stderr)
}

#[test]
fn without_a_terminal_the_call_waits_and_is_decided_later_with_the_key_that_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Answering::by(|request, _| answer(request));
    let start = || approve(folder.path(), &provider).output().unwrap();
    let waits = refused(&start());
    assert!(waits.contains("run `order-17` waits: turn 1 waits for `order`"), "{waits}");
    assert_eq!(fs::metadata(key(folder.path())).unwrap().permissions().mode() & 0o777, 0o600);

    let made = ApproverKey::load(key(folder.path())).unwrap();
    assert_eq!(made.name(), "grace");
    let call = calls(folder.path())[0].id;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(folder.path().join("shop.db")).await.unwrap();
        ApprovalService::new(Arc::new(store)).approve(call, &made).await.unwrap();
    });
    assert_eq!(printed(&start()), "Three of tea are ordered.\n");
    assert_eq!((provider.asked().len(), calls(folder.path()).len()), (2, 1));
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Answering::by(|request, _| answer(request));
    let file = key(folder.path());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    ApproverKey::generate("grace").unwrap().save(&file).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let error = refused(&approve(folder.path(), &provider).output().unwrap());
    assert!(error.contains("its mode is 644") && error.contains("chmod 600"), "{error}");
    assert!(provider.asked().is_empty());
}
