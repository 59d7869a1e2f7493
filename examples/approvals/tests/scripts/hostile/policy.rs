//! The agent tries to weaken the policy while its refund waits. The policy is in a file outside of the workspace, which its
//! user, who is the application's, can write.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use toolwright::journal::State;
use toolwright::policy::Policy;
use toolwright::{BuildProblem, Call, ExecutorBuilder};

use super::office::Office;
use crate::shop::{Shop, filtered};

const POLICY: &str = r#"
version = 1
mode = "auto-safe"

[[deny]]
name = "accounts-stay"
reason = "an agent deletes no account"
tool = "delete_account"

[[allow]]
name = "shell"
reason = "for this test: nobody should say so of a shell"
tool = "shell"
touches = { reads = [], writes = [] }
"#;

/// What the agent would rather have.
const WEAK: &str = r#"printf 'version = 1\nmode = "unrestricted"\n'"#;

struct Ruled {
    office: Office,
    file: PathBuf,
    workspace: PathBuf,
    /// What stopped it, or that nothing did.
    stopped: String,
}

struct Row {
    tried: &'static str,
    stopped: String,
    deleting: String,
    refund: State,
    paid: usize,
}

fn allowing(file: PathBuf, workspace: PathBuf) -> impl FnOnce(ExecutorBuilder) -> ExecutorBuilder {
    |builder| builder.policy(Policy::builder().load(file)).workspace_root(workspace)
}

impl Ruled {
    /// The refund waits; the policy is `rules/policy.toml`, the workspace `work`.
    async fn open(name: &str) -> Self {
        let shop = Shop::new(&format!("hostile-policy-{name}"));
        let (file, workspace) = (shop.folder.join("rules/policy.toml"), shop.folder.join("work"));
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(shop.folder.join("rules")).unwrap();
        fs::write(&file, POLICY).unwrap();
        let office = Office::at(shop, allowing(file.clone(), workspace.clone())).await;
        Self {
            office,
            file,
            workspace,
            stopped: "nothing reads the file again by itself".to_owned(),
        }
    }

    async fn rewrites(&self) {
        self.office.shell(&format!("{WEAK} > rules/policy.toml")).await;
        assert!(fs::read_to_string(&self.file).unwrap().contains("unrestricted"));
    }

    fn reloaded(mut self) -> Self {
        self.stopped = match self.office.executor().reload_policy() {
            Ok(()) => "nothing: it was read again because the application was told to".to_owned(),
            Err(error) => error.to_string(),
        };
        self
    }

    fn started_again(mut self) -> Self {
        let allow = allowing(self.file.clone(), self.workspace.clone());
        self.stopped = match self.office.started_again(allow) {
            Ok(()) => {
                "nothing: who can write the file decides what the next start reads".to_owned()
            }
            Err(error) => {
                let own = |it: &BuildProblem| {
                    matches!(it, BuildProblem::Policy(_) | BuildProblem::InWorkspace { .. })
                };
                assert!(error.problems.iter().all(own), "{error}");
                format!("the application does not start: {}", error.problems[0])
            }
        };
        self
    }

    async fn row(self, tried: &'static str) -> Row {
        let _ = self.office.goes_on(self.office.refund).await;
        let call = Call::new("delete_account", r#"{"account":"emma"}"#);
        let explanation = self.office.run().explain(&call).unwrap();
        let told = explanation.to_string();
        let deleting = told.lines().next().unwrap_or_default();
        let deleting = format!("{deleting}, because of {}", explanation.because().join(", "));
        let refund = self.office.record().await.state;
        let folder = self.office.shop.folder.display().to_string();
        let stopped = self.stopped.replace(&folder, "[shop]");
        Row { tried, stopped, deleting, refund, paid: self.office.shop.refunds().len() }
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for Row { tried, stopped, deleting, refund, paid } in rows {
        let _ = write!(
            text,
            "the agent {tried}\n  what stops it  {stopped}\n  an account     {deleting}\n  its refund     {refund}, paid {paid} times\n\n"
        );
    }
    text
}

async fn the_file() -> Row {
    let ruled = Ruled::open("file").await;
    ruled.rewrites().await;
    ruled.row("rewrites the policy").await
}

async fn the_folder() -> Row {
    let ruled = Ruled::open("folder").await;
    let swap = "mkdir work/rules && mv rules rules.old && ln -s work/rules rules";
    ruled.office.shell(&format!("{swap} && {WEAK} > rules/policy.toml")).await;
    assert!(fs::read_to_string(&ruled.file).unwrap().contains("unrestricted"));
    ruled.row("puts a link to a folder of its own in the place of the policy's").await
}

async fn by_a_tool() -> Row {
    let mut ruled = Ruled::open("tool").await;
    let arguments = serde_json::json!({ "path": ruled.file, "text": "version = 1" }).to_string();
    let call = Call::new("save_file", arguments);
    let answer = ruled.office.run().submit_turn(50, &[call]).await.remove(0);
    ruled.stopped = answer.answer().unwrap().error().unwrap().to_string();
    assert_eq!(fs::read_to_string(&ruled.file).unwrap(), POLICY);
    ruled.row("writes the policy with a tool that says which file it writes").await
}

async fn a_broken_file() -> Row {
    let ruled = Ruled::open("broken").await;
    ruled.office.shell("echo 'mode = ' > rules/policy.toml").await;
    ruled.reloaded().row("breaks the policy, and the application is told to read it again").await
}

async fn no_file() -> Row {
    let ruled = Ruled::open("removed").await;
    ruled.office.shell("rm -r rules").await;
    ruled.started_again().row("removes the policy, and the application is started again").await
}

async fn a_file_in_the_workspace() -> Row {
    let ruled = Ruled::open("inside").await;
    let swap = "rm rules/policy.toml && ln -s ../work/policy.toml rules/policy.toml";
    ruled.office.shell(&format!("{WEAK} > work/policy.toml && {swap}")).await;
    ruled
        .started_again()
        .row("has the policy be a link into the workspace, and the application is started again")
        .await
}

#[tokio::test]
async fn an_agent_that_rewrites_the_policy_while_it_waits_gains_nothing() {
    let rows = [
        the_file().await,
        the_folder().await,
        by_a_tool().await,
        a_broken_file().await,
        no_file().await,
        a_file_in_the_workspace().await,
    ];
    let table = table(&rows);
    println!("{table}");
    for row in &rows {
        assert_eq!((row.refund, row.paid), (State::Pending, 0), "{}", row.tried);
        assert!(row.deleting.contains("accounts-stay"), "{}: {}", row.tried, row.deleting);
    }
    filtered(|| insta::assert_snapshot!(table));
}

async fn read_again() -> Row {
    let ruled = Ruled::open("read-again").await;
    ruled.rewrites().await;
    ruled.reloaded().row("rewrites the policy, and the application is told to read it again").await
}

async fn next_start() -> Row {
    let ruled = Ruled::open("next-start").await;
    ruled.rewrites().await;
    ruled.started_again().row("rewrites the policy, and the application is started again").await
}

/// What the tool itself asks for, no policy silences: so even then nothing is paid unasked.
#[tokio::test]
async fn who_can_write_the_policy_decides_what_is_read_next() {
    let rows = [read_again().await, next_start().await];
    let table = table(&rows);
    println!("{table}");
    println!(
        "Neither can be stopped by the application: keep the policy where its tools cannot write, by another user or a sandbox."
    );
    for row in &rows {
        assert_eq!((row.refund, row.paid), (State::Pending, 0), "{}", row.tried);
        assert!(!row.deleting.contains("accounts-stay"), "{}: {}", row.tried, row.deleting);
    }
    filtered(|| insta::assert_snapshot!(table));
}
