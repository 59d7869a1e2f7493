//! Files that hold keys or secrets by their names; pure.

/// Whether a path, relative to the workspace, has a part that says so, in any case. What a policy does not let be read by
/// name, a search through a whole folder must not show either.
pub(super) fn is_secret(path: &str) -> bool {
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
