// A service whose methods are tools has one type.
use toolwright::tools;

struct Clock<T>(T);

#[tools]
impl<T> Clock<T> {
    /// Waits.
    #[tool]
    async fn wait(&self) {}
}

fn main() {}
