//! Values that an application attaches to a tool, each of a different type.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

/// The attached values, at most one of each type.
#[derive(Clone, Default)]
pub struct Metadata(Vec<Item>);

#[derive(Clone)]
struct Item {
    id: TypeId,
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl Metadata {
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let id = TypeId::of::<T>();
        self.0.iter().find(|it| it.id == id)?.value.downcast_ref()
    }

    /// Adds a value. It replaces an earlier value of the same type.
    pub fn put<T: Send + Sync + 'static>(&mut self, value: T) {
        let item =
            Item { id: TypeId::of::<T>(), type_name: type_name::<T>(), value: Arc::new(value) };
        match self.0.iter_mut().find(|it| it.id == item.id) {
            Some(earlier) => *earlier = item,
            None => self.0.push(item),
        }
    }

    /// Adds the values of another `Metadata`. They replace earlier values of the same types.
    pub fn extend(&mut self, other: Self) {
        for item in other.0 {
            match self.0.iter_mut().find(|it| it.id == item.id) {
                Some(earlier) => *earlier = item,
                None => self.0.push(item),
            }
        }
    }
}

/// Shows only the types, because the values need not implement `Debug`.
impl fmt::Debug for Metadata {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.iter().map(|it| it.type_name)).finish()
    }
}
