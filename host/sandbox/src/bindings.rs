//! Host side of `/wit`, generated. Everything converts to `elysia-types` at once; nothing of this leaves the crate.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "plugin",
    imports: { default: async | trappable },
    exports: { default: async },
});
