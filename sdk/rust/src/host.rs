//! The functions the host gives, one name for both worlds: the component's imports on wasm, the mock natively.
//!
//! Everything else in this crate reaches the host through here and knows no bindings.

#[cfg(target_family = "wasm")]
pub(crate) use crate::component::imports::*;
#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::imports::*;

/// An entry of the environment as JSON text.
#[derive(Clone)]
pub(crate) struct RawEntry {
    pub(crate) metadata: String,
    pub(crate) objects: Vec<String>,
}
