//! Tools of every shape that input and output take.

mod choices;
mod nested;
mod plain;

use toolwright::dialect::DescribedTool;
use toolwright::{Definition, Registry};

use self::{choices::*, nested::*, plain::*};

/// All of them.
pub fn registry() -> Registry {
    Registry::of([
        PING,
        RESIZE,
        SEARCH,
        SORT,
        PLACE,
        TAG_ALL,
        COUNT_WORDS,
        DRAW,
        WALK,
        FILTER,
        NOTIFY,
        STORE,
        SELECT,
        SEEK,
        MATCH,
        TRIGGER,
        LOCATE,
        ANNOTATE,
        UPDATE,
        PAGED,
        CONFIGURE,
    ])
    .unwrap()
}

/// Calls `then` with the tool as its dialects are to see it.
pub fn described<T>(definition: &Definition, then: impl FnOnce(&DescribedTool<'_>) -> T) -> T {
    let Definition { name, description, input_schema, .. } = definition;
    let order: Vec<&str> = definition.parameters.iter().map(|it| it.name.as_str()).collect();
    let mut described = DescribedTool::new(name, description, input_schema);
    described.title = definition.title.as_deref();
    described.output_schema = definition.output_schema.as_ref();
    described.effect = Some(definition.effect);
    described.order = &order;
    then(&described)
}
