//! The normal form of each kind of type.

use super::kinds;
use crate::support::executor;

#[test]
fn every_kind_of_type_has_its_normal_form() {
    for handle in kinds::tools() {
        let executor = executor([handle]);
        let definition = executor.registry().get(handle.name()).unwrap();
        let mut schema = definition.parameters[0].schema.clone();
        // Said of every parameter, so it says nothing of the type.
        schema.as_object_mut().unwrap().remove("description");
        if let Some(shared) = definition.input_schema.get("$defs") {
            schema["$defs"] = shared.clone();
        }
        // What is removed leaves another order behind in a build with `serde_json/preserve_order`.
        schema.sort_all_objects();
        insta::assert_snapshot!(handle.name(), format!("{schema:#}"));
    }
}
