//! The functions of a system, by its routes and event handlers.

use std::collections::BTreeSet;
use std::time::Duration;

use table::Grant;
use table::grant::Resource;
use table::schema::{EventSource, System};
use web::App;

/// An AWS Lambda function of a route or of an event handler.
#[derive(Clone, Debug)]
pub struct Function {
    /// The operation, which is its handler and the end of its name.
    pub name: &'static str,
    /// Method and path, or none for an event handler.
    pub route: Option<(String, String)>,
    pub timeout: Duration,
    /// The memory in MB, before the deployment's memory class.
    pub memory: u64,
    pub grants: BTreeSet<Grant>,
}

/// Returns all functions of a system: its routes, then its event handlers.
pub fn functions(app: &App) -> Vec<Function> {
    let issuer: BTreeSet<Grant> = app.own_issuer().iter().flat_map(|own| own.pattern.grants()).collect();
    let routes = app.routes().map(|route| Function {
        name: route.name(),
        route: Some((route.method().to_string(), route.template().to_owned())),
        timeout: route.declared_timeout(),
        memory: route.declared_memory(),
        grants: route.declared_patterns().iter().flat_map(|pattern| pattern.grants()).chain(issuer.clone()).collect(),
    });
    let system = app.system();
    let handlers = app.event_handlers().iter().map(|handler| {
        let mut grants: BTreeSet<Grant> =
            handler.declared_patterns().iter().flat_map(|pattern| pattern.grants()).collect();
        for source in system.sources.iter().filter(|source| source.calls(handler.name())) {
            match source {
                EventSource::Streams { .. } => grants.extend(mirror::grants(system)),
                EventSource::Deployment { .. } => grants.extend(mirror::index_grants(system)),
                EventSource::Schedule { handler: mirror::AUDIT, .. } => grants.extend(mirror::audit_grants(system)),
                EventSource::Schedule { handler: mirror::SWEEP, .. } => grants.extend(mirror::sweep_grants(system)),
                EventSource::Records { .. }
                | EventSource::Objects { .. }
                | EventSource::Queue { .. }
                | EventSource::Schedule { .. }
                | EventSource::StateMachine { .. }
                | EventSource::Socket { .. } => {}
            }
        }
        Function {
            name: handler.name(),
            route: None,
            timeout: handler.declared_timeout(),
            memory: handler.declared_memory(),
            grants,
        }
    });
    routes.chain(handlers).collect()
}

impl Function {
    /// Whether it is a schedule with several calls per hour, most of which have nothing to do.
    pub fn is_polling(&self, system: &System) -> bool {
        system.sources.iter().any(|source| match source {
            EventSource::Schedule { handler, every_minutes } => *handler == self.name && *every_minutes < 60,
            _ => false,
        })
    }

    /// Returns the minutes between the calls of a schedule with at most one call per hour.
    pub fn rare_interval(&self, system: &System) -> Option<u32> {
        system.sources.iter().find_map(|source| match source {
            EventSource::Schedule { handler, every_minutes } if *handler == self.name && *every_minutes >= 60 => {
                Some(*every_minutes)
            }
            _ => None,
        })
    }

    /// Whether it handles events of a bucket.
    pub fn hears_of_objects(&self, system: &System) -> bool {
        let mut sources = system.sources.iter();
        sources.any(|source| matches!(source, EventSource::Objects { .. }) && source.calls(self.name))
    }

    /// Whether it reads objects of a bucket.
    pub fn reads_objects(&self) -> bool {
        self.grants.iter().any(|grant| grant.action == "s3:GetObject")
    }

    /// Whether it puts events on the event bus.
    pub fn puts_events(&self) -> bool {
        self.grants.iter().any(|grant| matches!(grant.resource, Resource::EventBus { .. }))
    }

    /// Returns the queue whose messages it handles.
    pub fn queue(&self, system: &System) -> Option<&'static str> {
        system.sources.iter().find_map(|source| match source {
            EventSource::Queue { name, handler } if *handler == self.name => Some(*name),
            _ => None,
        })
    }

    /// Returns the name of its resources in a template.
    pub fn resource(&self, kind: &str) -> String {
        resource(self.name, kind)
    }
}

/// Returns the name of an operation's resource, such as `GetGeozoneFunction` or `GetGeozoneRole` of `getGeozone`.
pub fn resource(operation: &str, kind: &str) -> String {
    let mut letters = operation.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(kind.chars()).collect()
}
