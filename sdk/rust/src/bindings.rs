//! Generated at build time from the one `wit` of the repository, and nothing else. Only `component` and `export!` use it.

wit_bindgen::generate!({
    path: "../../wit",
    world: "plugin",
    pub_export_macro: true,
});
