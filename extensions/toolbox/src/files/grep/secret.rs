//! Recognizes files with keys or secrets by their names; pure.

/// Reports whether a name in this path, which is relative to the workspace, indicates a key or a secret. Case does not
/// matter. `grep` skips such files, because a policy may forbid to read them.
///
/// ```
/// use toolwright_toolbox::is_secret;
///
/// assert!(is_secret("config/.env.local") && is_secret("deploy/SECRETS/db.yml") && is_secret("id_ed25519"));
/// assert!(!is_secret("src/secretary.rs") && !is_secret("monkey"));
/// ```
#[must_use]
pub fn is_secret(path: &str) -> bool {
    const KINDS: [&str; 5] = ["rsa", "dsa", "ecdsa", "ed25519", "xmss"];
    let path = path.to_lowercase();
    let is_key_of_ssh = |name: &str| {
        name.strip_prefix("id_").is_some_and(|it| KINDS.iter().any(|kind| it.starts_with(kind)))
    };
    path.split('/').any(|name| {
        matches!(name, "secrets" | ".ssh" | ".gnupg" | ".aws" | ".netrc")
            || name.starts_with(".env")
            || name.ends_with(".pem")
            || name.ends_with(".key")
            || is_key_of_ssh(name)
    })
}
