//! The local platform's parts on real engines, one binary so that it links once.

#[cfg(test)]
mod engines;
#[cfg(test)]
mod event_bus;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod objects;
#[cfg(test)]
mod platform;
#[cfg(test)]
mod queues;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod streams;
