//! The contract between the mirror and the engines: the test that its simulated table and index also pass.

use std::sync::Arc;

use table::schema::System;
use table::{Config, Engines, create_tables};

use crate::harness::Cairn;
use crate::tests;

tests! { contract:
    search_engine_keeps_the_mirror_s_contract,
    tables_keep_the_mirror_s_contract,
}

/// Returns these engines with other names of tables and indexes, which no mirror uses.
fn apart(cairn: &Cairn) -> (Arc<Engines>, &'static System) {
    let config = &cairn.engines().config;
    let config = Config { prefix: format!("{}contract-", config.prefix), ..config.clone() };
    (Engines::new(config, cairn.engines().clock.clone()), &::parks::SYSTEM)
}

async fn search_engine_keeps_the_mirror_s_contract() {
    let cairn = Cairn::start().await;
    let (engines, system) = apart(&cairn);
    let kept = ::mirror::contract::search(&engines, system, &engines.config.search_name(system.name)).await;
    assert_eq!(kept.map_err(|broken| broken.to_string()), Ok(()));
}

async fn tables_keep_the_mirror_s_contract() {
    let cairn = Cairn::start().await;
    let (engines, system) = apart(&cairn);
    create_tables(engines.dynamodb(), &engines.config, system).await.unwrap();
    let kept = ::mirror::contract::tables(&engines, system).await;
    assert_eq!(kept.map_err(|broken| broken.to_string()), Ok(()));
}
