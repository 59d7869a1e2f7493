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
    #[arg(default = None, fill = places.here())]
    folder: Option<String>,
) {
    let _ = (places, folder);
}

fn main() {}
