//! `#[derive(ToolInput)]`: a struct with named fields is a JSON object, an enum without data is one of some strings.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::parse::Errors;
use crate::{generate, model, parse};

/// One value of an enum.
struct Variant {
    ident: syn::Ident,
    name: String,
    description: String,
}

pub(crate) fn tool_input(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    if !item.generics.params.is_empty() {
        return Err(Error::new(
            item.generics.span(),
            "an input has no generic parameters: its schema is one; write the types out",
        ));
    }
    let description = model::description(&parse::doc_lines(&item.attrs));
    match &item.data {
        Data::Struct(data) => of_struct(&item.ident, &description, &data.fields),
        Data::Enum(data) => of_enum(&item.ident, &description, data),
        Data::Union(data) => Err(Error::new(data.union_token.span(), "an input is a struct or an enum")),
    }
}

fn of_struct(ident: &syn::Ident, description: &str, fields: &Fields) -> Result<TokenStream> {
    let Fields::Named(named) = fields else {
        return Err(Error::new(ident.span(), "an input is a struct with named fields: `struct Name { field: type }`"));
    };
    let mut errors = Errors::default();
    let mut inputs = Vec::new();
    for field in &named.named {
        if let Some(ident) = &field.ident {
            inputs.extend(errors.keep(parse::input(ident, &field.ty, &mut field.attrs.clone())));
        }
    }
    let inputs = errors.into_result(inputs)?;
    let properties = inputs.iter().map(generate::property);
    let takes = inputs.iter().map(generate::take);
    let idents: Vec<_> = inputs.iter().map(|input| &input.ident).collect();
    let names: Vec<_> = inputs.iter().map(|input| &input.name).collect();
    Ok(quote! {
        #[automatically_derived]
        impl ::elysia_plugin::ToolInput for #ident {
            fn schema() -> ::elysia_plugin::Value {
                ::elysia_plugin::__private::ObjectSchema::new().description(#description) #(#properties)* .build()
            }

            fn from_json(
                value: ::elysia_plugin::Value,
            ) -> ::core::result::Result<Self, ::elysia_plugin::InputError> {
                let mut __inputs = ::elysia_plugin::Inputs::from_json(value)?;
                #(#takes)*
                __inputs.finish()?;
                ::core::result::Result::Ok(#ident { #(#idents),* })
            }

            fn to_json(&self) -> ::elysia_plugin::Value {
                let mut object = ::elysia_plugin::Object::new();
                #(object.insert(#names.into(), ::elysia_plugin::ToolInput::to_json(&self.#idents));)*
                ::elysia_plugin::Value::Object(object)
            }
        }
    })
}

fn of_enum(ident: &syn::Ident, description: &str, data: &syn::DataEnum) -> Result<TokenStream> {
    let mut errors = Errors::default();
    let variants: Vec<Variant> = data.variants.iter().filter_map(|v| errors.keep(variant(v))).collect();
    if data.variants.is_empty() {
        errors.add(ident.span(), "an input with no values could never be given: add a variant");
    }
    let variants = errors.into_result(variants)?;
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let idents: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let descriptions: Vec<_> = variants.iter().map(|variant| &variant.description).collect();
    Ok(quote! {
        #[automatically_derived]
        impl ::elysia_plugin::ToolInput for #ident {
            fn schema() -> ::elysia_plugin::Value {
                ::elysia_plugin::__private::enum_schema(#description, &[#((#names, #descriptions)),*])
            }

            fn from_json(
                value: ::elysia_plugin::Value,
            ) -> ::core::result::Result<Self, ::elysia_plugin::InputError> {
                match value.as_str() {
                    #(::core::option::Option::Some(#names) => ::core::result::Result::Ok(#ident::#idents),)*
                    _ => ::core::result::Result::Err(::elysia_plugin::InputError::not_one_of(&[#(#names),*], &value)),
                }
            }

            fn to_json(&self) -> ::elysia_plugin::Value {
                ::elysia_plugin::Value::from(match self { #(#ident::#idents => #names),* })
            }
        }
    })
}

fn variant(variant: &syn::Variant) -> Result<Variant> {
    if !matches!(variant.fields, Fields::Unit) {
        return Err(Error::new(
            variant.fields.span(),
            "the variants of an input carry no data: use a struct with an `Option` field for each case",
        ));
    }
    let mut name = model::snake_case(&variant.ident.unraw().to_string());
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("input")) {
        name = parse::name_option(attribute)?;
    }
    let description = model::description(&parse::doc_lines(&variant.attrs));
    Ok(Variant { ident: variant.ident.clone(), name, description })
}
