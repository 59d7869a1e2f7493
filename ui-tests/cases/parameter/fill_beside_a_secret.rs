use toolwright::tool;

struct Places;

impl Places {
    fn here(&self) -> Option<String> {
        None
    }
}

/// Lists a folder.
#[tool]
async fn list(
    places: &Places,
    /// Which.
    #[arg(fill = places.here())]
    folder: Option<String>,
    /// The key to it.
    #[arg(secret)]
    key: Option<String>,
) {
    let _ = (places, folder, key);
}

fn main() {}
