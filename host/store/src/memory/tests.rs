//! The common rules, on sessions in memory.

use super::*;
use crate::tests as suite;

#[tokio::test]
async fn memory_keeps_the_rules_of_every_store() {
    suite::run(memory, false).await;
}
