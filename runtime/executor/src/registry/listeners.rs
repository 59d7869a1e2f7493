//! Notifies listeners of the changes of a registry, in order and one event at a time. No lock is held meanwhile, so a
//! listener may read or change the registry.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A change of a tool in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryEvent {
    /// The kind of the change.
    pub kind: RegistryEventKind,
    /// The name of the tool.
    pub name: Arc<str>,
    /// The generation of the registry that this change began.
    pub generation: u64,
}

/// The kind of a change of a tool in a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegistryEventKind {
    /// The tool was added.
    Registered,
    /// The tool was removed.
    Unregistered,
    /// The tool had been disabled, and can be called again.
    Enabled,
    /// The tool is still registered, but cannot be called.
    Disabled,
    /// The application has adapted the tool.
    Adapted,
}

type Listener = Arc<dyn Fn(&RegistryEvent) + Send + Sync>;

#[derive(Default)]
pub(super) struct Listeners(Arc<Inner>);

#[derive(Default)]
struct Inner {
    listeners: Mutex<Vec<(u64, Listener)>>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<RegistryEvent>,
    /// Whether a thread is already sending the queued events to the listeners.
    is_told: bool,
    next_listener: u64,
}

impl Listeners {
    pub(super) fn add(
        &self,
        listener: impl Fn(&RegistryEvent) + Send + Sync + 'static,
    ) -> Listening {
        let id = {
            let mut queue = lock(&self.0.queue);
            queue.next_listener += 1;
            queue.next_listener
        };
        lock(&self.0.listeners).push((id, Arc::new(listener)));
        Listening { id, listeners: Arc::downgrade(&self.0) }
    }

    /// Queues events; called while the registry's lock is held.
    pub(super) fn remember(&self, events: impl IntoIterator<Item = RegistryEvent>) {
        lock(&self.0.queue).events.extend(events);
    }

    /// Sends the queued events to the listeners. If another thread is doing so already, that thread also sends these
    /// events.
    pub(super) fn tell(&self) {
        if std::mem::replace(&mut lock(&self.0.queue).is_told, true) {
            return;
        }
        loop {
            let event = {
                let mut queue = lock(&self.0.queue);
                let Some(event) = queue.events.pop_front() else {
                    queue.is_told = false;
                    return;
                };
                event
            };
            let listeners: Vec<Listener> =
                lock(&self.0.listeners).iter().map(|(_, listener)| Arc::clone(listener)).collect();
            for listener in listeners {
                // Dropping a value that a listener captured may panic, too.
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    listener(&event);
                    drop(listener);
                }));
                if let Err(panic) = outcome {
                    std::mem::forget(panic);
                    tracing::error!("a listener of a registry panicked");
                }
            }
        }
    }
}

/// A listener that is registered until this value is dropped.
///
/// ```
/// use toolwright::{Registry, tool};
///
/// /// Says hello.
/// #[tool(effect = read)]
/// async fn hello() {}
///
/// let registry = Registry::empty();
/// let listening = registry.listen(|event| println!("{:?} {}", event.kind, event.name));
/// registry.register(HELLO)?;
/// drop(listening);
/// // This listener stays registered until the end of the registry.
/// registry.listen(|event| println!("{:?} {}", event.kind, event.name)).for_good();
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[must_use = "it listens until it is dropped; keep it, or say `.for_good()`"]
pub struct Listening {
    id: u64,
    listeners: Weak<Inner>,
}

impl Listening {
    /// Leaves the listener registered as long as the registry exists.
    pub fn for_good(mut self) {
        self.listeners = Weak::new();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let Some(inner) = self.listeners.upgrade() else { return };
        // The listener is removed while the lock is held, but dropped afterwards, because its drop may run any code.
        let gone = {
            let mut listeners = lock(&inner.listeners);
            let index = listeners.iter().position(|(id, _)| *id == self.id);
            index.map(|index| listeners.remove(index))
        };
        drop(gone);
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Listening").field("id", &self.id).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code of listeners runs while a lock of this file is held, so the data behind a poisoned lock is consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
