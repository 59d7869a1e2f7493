//! The parts that can be added to an agent: bundles and plugins.

use std::panic::Location;

use toolwright::Bundle;

use super::AgentBuilder;
use crate::plugin::{Plugin, ProvidedPlugin};

/// A part for [`AgentBuilder::with`]: a [`Bundle`] or a [`Plugin`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a bundle nor a plugin",
    label = "expected a type that implements `Bundle` or `Plugin`",
    note = "`.with(…)` takes what brings tools together with what they need; tools alone go to `.tools([…])`"
)]
pub trait AgentPart<Marker> {
    /// Adds the part to an agent; `place` is the caller's source location.
    #[doc(hidden)]
    fn add_to(self, agent: AgentBuilder, place: &'static Location<'static>) -> AgentBuilder;
}

/// The marker type for parts that are bundles.
#[doc(hidden)]
pub struct OfBundle;

/// The marker type for parts that are plugins.
#[doc(hidden)]
pub struct OfPlugin;

impl<B: Bundle> AgentPart<OfBundle> for B {
    fn add_to(self, agent: AgentBuilder, place: &'static Location<'static>) -> AgentBuilder {
        agent.executor(move |executor| executor.with_at(self, place))
    }
}

impl<P: Plugin> AgentPart<OfPlugin> for P {
    fn add_to(self, mut agent: AgentBuilder, place: &'static Location<'static>) -> AgentBuilder {
        let plugin = ProvidedPlugin::new(self, place);
        let bundle = plugin.bundle();
        agent.plugins().push(plugin);
        agent.executor(move |executor| executor.with_at(bundle, place))
    }
}
