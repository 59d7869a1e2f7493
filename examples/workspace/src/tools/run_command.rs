//! `run_command` runs one program with its arguments in the workspace. What the program touches is its own affair, so a
//! policy decides about it by program and arguments. It gives the program an environment of three variables, no input and no
//! terminal, so that it cannot answer what a person is asked, and refuses programs that are named by a path, because an
//! agent can write files.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::CommandWrap;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use toolwright::{ProcessOutput, ToolError, tool};

use crate::workspace::Workspace;

/// How much of each stream is kept.
const KEPT: u64 = 1 << 20;

/// What a program is told of where it runs.
const VARIABLES: [&str; 2] = ["HOME", "LANG"];

/// Run a program in the workspace and wait for it. There is no shell: no pipes, no variables, no `&&`.
#[tool(group = "command", danger = dangerous, effect = once, timeout = none)]
pub async fn run_command(
    workspace: &Workspace,
    /// The program by its name, without a folder.
    #[arg(example = "cargo")]
    program: String,
    /// Its arguments, each an item. Nothing in them is split or replaced.
    #[arg(default)]
    args: Vec<String>,
    /// After how many seconds it is ended.
    #[arg(default = 120, minimum = 1, maximum = 3600)]
    seconds: u32,
) -> Result<ProcessOutput, ToolError> {
    if program.is_empty() || program.contains(['/', '\\']) {
        let message = format!("`{program}` is no name of a program");
        return Err(ToolError::invalid(message).hint("name it without its folder, as `cargo`"));
    }
    let mut command = Command::new(&program);
    command
        .args(args)
        .current_dir(workspace.root())
        .env_clear()
        .env("PATH", search_path(workspace.root()))
        .envs(VARIABLES.iter().filter_map(|it| Some((it, std::env::var_os(it)?))))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Whoever drops the call ends the program; what that has started itself may go on.
        .kill_on_drop(true);
    let mut command = CommandWrap::from(command);
    // Through the terminal of this process it could type answers for the person who sits there.
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    let mut child = command.spawn().map_err(|error| {
        let failed = ToolError::from(error);
        ToolError::new(failed.kind().to_owned(), format!("`{program}`: {failed}"))
    })?;
    let (stdout, stderr) = (child.stdout().take(), child.stderr().take());
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let ended = async {
        tokio::join!(keep(stdout, &mut output), keep(stderr, &mut errors), child.wait()).2
    };
    let ended = tokio::time::timeout(Duration::from_secs(seconds.into()), ended).await;
    let output = String::from_utf8_lossy(&[output, errors].concat()).into_owned();
    let (status, error) = match ended {
        Err(_) => {
            let error = Some(format!("it took more than {seconds} seconds"));
            return Ok(ProcessOutput { output, error, timed_out: true, ..Default::default() });
        }
        Ok(Err(error)) => return Err(error.into()),
        Ok(Ok(status)) => (status, (!status.success()).then(|| status.to_string())),
    };
    let (success, exit_code) = (status.success(), status.code());
    Ok(ProcessOutput { success, output, error, exit_code, timed_out: false })
}

/// Where programs are looked for: never in the workspace, where an agent could put one, and never relative to it.
fn search_path(root: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| {
        let real = folder.canonicalize();
        folder.is_absolute() && real.is_ok_and(|real| !real.starts_with(root))
    });
    std::env::join_paths(folders).unwrap_or_default()
}

/// Reads a stream to its end, so that nobody waits for room in it, and keeps its beginning.
async fn keep(stream: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut stream) = stream else { return };
    // A stream that breaks is over: the exit code says how the program ended.
    let _ = (&mut stream).take(KEPT).read_to_end(kept).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn run(program: &str, args: &[&str]) -> Result<ProcessOutput, ToolError> {
        let workspace = Workspace::at(env!("CARGO_MANIFEST_DIR")).expect("it is there");
        let args = args.iter().map(|it| (*it).to_owned()).collect();
        run_command(&workspace, program.to_owned(), args, 60).await
    }

    #[tokio::test]
    async fn a_program_gets_its_arguments_as_they_are() {
        let ran = run("printf", &["%s|", "$HOME", "a b", "; ls"]).await.expect("it runs");
        assert_eq!((ran.output.as_str(), ran.exit_code), ("$HOME|a b|; ls|", Some(0)));
    }

    #[tokio::test]
    async fn a_program_runs_in_the_workspace_with_three_variables() {
        let ran = run("env", &[]).await.expect("it runs");
        let mut names: Vec<&str> =
            ran.output.lines().filter_map(|it| it.split('=').next()).collect();
        names.retain(|it| !["HOME", "LANG", "PATH", "PWD"].contains(it));
        assert_eq!(names, [""; 0]);
        let listed = run("ls", &["Cargo.toml"]).await.expect("it runs");
        assert!(listed.success, "{listed:?}");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_program_has_a_session_of_its_own_and_no_terminal() {
        let ran = run("cat", &["/proc/self/stat"]).await.expect("it runs");
        let (pid, rest) = ran.output.split_once(" (cat) ").expect("a process");
        let [_state, _parent, group, session, terminal, ..] =
            rest.split_whitespace().collect::<Vec<_>>()[..]
        else {
            panic!("{rest}")
        };
        assert_eq!((group, session, terminal), (pid, pid, "0"));
        let opened = run("sh", &["-c", ": < /dev/tty"]).await.expect("it runs");
        assert!(!opened.success, "{opened:?}");
    }

    #[tokio::test]
    async fn a_program_that_fails_is_a_result_with_its_output() {
        let ran = run("ls", &["no-such-file"]).await.expect("it runs");
        assert!(!ran.success && ran.exit_code.is_some_and(|it| it > 0), "{ran:?}");
        assert!(ran.output.contains("no-such-file") && ran.error.is_some(), "{ran:?}");
    }

    #[tokio::test]
    async fn a_program_is_found_by_its_name_alone() {
        for program in ["./evil", "/bin/ls", "", "..\\evil"] {
            assert_eq!(run(program, &[]).await.unwrap_err().kind(), "invalid_input", "{program}");
        }
        assert_eq!(run("no-such-program", &[]).await.unwrap_err().kind(), "not_found");
        let root = Path::new("/usr").canonicalize().expect("it is there");
        let searched = search_path(&root);
        assert!(std::env::split_paths(&searched).all(|it| !it.starts_with("/usr")), "{searched:?}");
    }

    #[tokio::test]
    async fn a_program_that_takes_too_long_is_ended_and_its_output_kept() {
        let workspace = Workspace::at(env!("CARGO_MANIFEST_DIR")).expect("it is there");
        let args = ["-c", "echo begun; exec sleep 600"].map(str::to_owned).to_vec();
        let ran = run_command(&workspace, "sh".to_owned(), args, 1).await.expect("it began");
        assert!(ran.timed_out && !ran.success, "{ran:?}");
        assert_eq!(ran.output, "begun\n");
    }

    #[tokio::test]
    async fn a_call_that_is_dropped_ends_its_program() {
        let folder = std::env::temp_dir().join(format!("run-command-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let workspace = Workspace::at(&folder).expect("it is there");
        let args = ["-c", "echo $$ > pid.new; mv pid.new pid; exec sleep 600"];
        let args = args.map(str::to_owned).to_vec();
        let began = async {
            while !folder.join("pid").exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            ran = run_command(&workspace, "sh".to_owned(), args, 600) => panic!("{ran:?}"),
            () = began => {}
        }
        let pid = std::fs::read_to_string(folder.join("pid")).expect("it began");
        let is_there = || {
            let mut kill = std::process::Command::new("kill");
            kill.args(["-0", pid.trim()])
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|it| it.success())
        };
        // The runtime collects what it has killed when it gets to it.
        while is_there() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        std::fs::remove_dir_all(folder).expect("it was there");
    }
}
