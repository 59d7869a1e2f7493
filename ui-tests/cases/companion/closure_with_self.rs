// A closure of a method has `self` already.
use toolwright::tools;

struct Bank;

#[tools]
impl Bank {
    /// Pays.
    #[tool(preview = |self, from| format!("{from}"))]
    async fn pay(
        &self,
        /// Who pays.
        from: String,
    ) {
        let _ = from;
    }
}

fn main() {}
