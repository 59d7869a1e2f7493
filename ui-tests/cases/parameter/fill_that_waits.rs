use toolwright::tool;

struct Places;

impl Places {
    async fn here(&self) -> Option<String> {
        None
    }
}

/// Lists a folder.
#[tool]
async fn list(
    places: &Places,
    /// Which.
    #[arg(fill = places.here().await)]
    folder: Option<String>,
) {
    let _ = (places, folder);
}

fn main() {}
