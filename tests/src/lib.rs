//! Harness of the test suite: walks `cases/`, one trial per file; `BLESS=1` rewrites answers.
//!
//! Each module below owns one folder of cases and offers `trials()`. The harness is the only code that touches the
//! API of the host, so that a refactoring rewrites one function and no case.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a harness that fails loudly is what a test wants"
)]

pub mod cases;

pub mod guests;

pub mod alike;

pub mod cli;

pub mod hostile;

pub mod loader;

pub mod provider;

pub mod session;

pub mod decision;

pub mod environment;

pub mod properties;
