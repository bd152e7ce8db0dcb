//! The contract test of the simulated engines.

use serde_json::Value;
use table::Key;
use table::schema::Table;

use super::executor::drive;
use super::toy::TREES;
use super::world::Shared;
use crate::contract::{self, Fixture};
use crate::image::Image;
use crate::ports::Fault;

impl Fixture for Shared {
    async fn put(&self, table: &'static Table, item: &str) -> Result<(), Fault> {
        let key = Image::parse(item).unwrap().key(table).unwrap();
        let Value::Object(attributes) = serde_json::from_str(item).unwrap() else { panic!("an item is an object") };
        self.world().put(&key, Some(attributes));
        Ok(())
    }

    async fn remove(&self, _: &'static Table, key: &Key) -> Result<(), Fault> {
        self.world().put(key, None);
        Ok(())
    }

    async fn visible(&self, alias: &str) -> Result<Vec<String>, Fault> {
        let mut world = self.world();
        let now = world.now;
        Ok(world.search.found(alias, now))
    }

    async fn kept(&self, name: &str) -> Result<String, Fault> {
        Ok(self.world().kept[name].clone())
    }

    async fn give_up(&self, name: &str, body: &str) -> Result<(), Fault> {
        let mut world = self.world();
        let since = world.now;
        world.failures.insert(name.to_owned(), (since, body.to_owned()));
        Ok(())
    }

    fn micros(&self) -> i64 {
        self.world().now
    }
}

#[test]
fn simulated_search_keeps_the_contract() {
    let shared = Shared::default();
    drive(&shared, contract::index(&shared, &shared, "toy")).unwrap();
}

#[test]
fn simulated_table_keeps_the_contract() {
    let shared = Shared::default();
    drive(&shared, contract::items(&shared, &shared, &TREES)).unwrap();
}

#[test]
fn simulated_state_keeps_the_contract() {
    let shared = Shared::default();
    drive(&shared, contract::state(&shared, &TREES)).unwrap();
    drive(&shared, contract::quarantine(&shared, &shared)).unwrap();
    drive(&shared, contract::failures(&shared, &shared)).unwrap();
}
