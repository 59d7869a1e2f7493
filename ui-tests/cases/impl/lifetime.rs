// What is registered has no lifetime but `'static`.
use toolwright::tools;

struct Disk<'a>(&'a str);

#[tools]
impl<'a> Disk<'a> {
    /// Names it.
    #[tool(effect = read)]
    async fn name(&self) -> String {
        self.0.to_owned()
    }
}

fn main() {}
