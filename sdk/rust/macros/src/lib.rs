//! `#[tool]` and `#[derive(ToolInput)]`, re-exported and documented by `elysia-plugin`.
//!
//! Both go the same way: `parse` reads tokens into plain structs of `model`, where all rules live and are tested
//! without tokens, and `generate` writes code from the model. Errors point at what the user wrote.

mod derive;
mod generate;
mod model;
mod parse;

use proc_macro::TokenStream;

/// Makes a tool of a function. See `elysia_plugin::tool`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    let original = proc_macro2::TokenStream::from(function.clone());
    match parse::tool(options.into(), function.into()) {
        Ok(tool) => generate::tool(&tool).into(),
        // The function stays, so that one mistake in the attribute does not hide the others in the body.
        Err(error) => {
            let errors = error.to_compile_error();
            let function = parse::without_tool_attributes(original);
            quote::quote!(#errors #function).into()
        }
    }
}

/// Makes an input of a struct or an enum. See `elysia_plugin::ToolInput`.
#[proc_macro_derive(ToolInput, attributes(input, default, range))]
pub fn tool_input(item: TokenStream) -> TokenStream {
    derive::tool_input(item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
