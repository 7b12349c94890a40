//! `model` → code. Nothing is decided here.
//!
//! The function stays as it is, in the namespace of values; a struct without fields of the same name, in the
//! namespace of types, is the tool. So `export!(name)` and a plain call `name(…)` both work.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit};

use crate::model::{Effects, Input, Options, Parameter, Tool};

pub(crate) fn tool(tool: &Tool) -> TokenStream {
    let Tool { function, name, description, options, parameters } = tool;
    let (ident, vis) = (&function.sig.ident, &function.vis);
    let settings = settings(options);
    let properties = inputs(parameters).map(property);
    let (available, run_if_true) = (available(options), run_if_true(options));
    let takes = inputs(parameters).map(take);
    let arguments = parameters.iter().map(|parameter| match parameter {
        Parameter::Input(input) => {
            let ident = &input.ident;
            quote!(#ident)
        }
        Parameter::Output => quote!(__output),
    });
    // An error about the returned type belongs at the returned type.
    let returned = match &function.sig.output {
        syn::ReturnType::Default => ident.span(),
        syn::ReturnType::Type(_, ty) => ty.span(),
    };
    let settle = quote_spanned!(returned=> ::elysia_plugin::__private::Returned(__returned).settle());
    let doc = format!("The tool `{name}`, made from the function of this name.");
    quote! {
        #[allow(clippy::too_many_arguments, reason = "each is an input of the tool")]
        #function

        #[doc = #doc]
        #[allow(non_camel_case_types, reason = "named like its function")]
        #[derive(Clone, Copy, Default, Debug)]
        #vis struct #ident {}

        #[automatically_derived]
        impl ::elysia_plugin::Tool for #ident {
            fn descriptor(&self) -> ::elysia_plugin::Descriptor {
                ::elysia_plugin::Descriptor::new(#name, #description)
                    .input_schema(::elysia_plugin::__private::ObjectSchema::new() #(#properties)* .build())
                    #settings
            }

            fn is_called(&self, name: &str) -> bool {
                name == #name
            }

            fn call(
                &self,
                __inputs: ::elysia_plugin::Inputs,
                __output: &mut ::elysia_plugin::Output,
            ) -> ::core::result::Result<::core::option::Option<::elysia_plugin::Value>, ::elysia_plugin::ToolError> {
                #[allow(unused_imports, reason = "used where the function returns no `Result`")]
                use ::elysia_plugin::__private::SettleValue as _;
                #[allow(unused_mut, reason = "unused by a tool without inputs")]
                let mut __inputs = __inputs;
                #(#takes)*
                __inputs.finish()?;
                #[allow(clippy::let_unit_value, reason = "some tools return nothing")]
                let __returned = #ident(#(#arguments),*);
                #settle
            }

            #available
            #run_if_true
        }
    }
}

/// `.property::<T>(…)` of one input, for the schema.
pub(crate) fn property(input: &Input) -> TokenStream {
    let Input { name, ty, description, range, .. } = input;
    let default = match default_value(input) {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    };
    let (minimum, maximum) = range.as_ref().map_or((None, None), |r| (r.minimum.as_ref(), r.maximum.as_ref()));
    let bound = |bound: Option<&Expr>| match bound {
        Some(bound) => quote!(::core::option::Option::Some(::elysia_plugin::__private::json!(#bound))),
        None => quote!(::core::option::Option::None),
    };
    let (minimum, maximum) = (bound(minimum), bound(maximum));
    quote_spanned!(ty.span()=> .property::<#ty>(#name, #description, #default, #minimum, #maximum))
}

/// `let name = …;` for one input.
pub(crate) fn take(input: &Input) -> TokenStream {
    let Input { ident, name, ty, .. } = input;
    let taken = match default_value(input) {
        Some(value) => quote_spanned!(ty.span()=> __inputs.take_or::<#ty>(#name, || #value)?),
        None => quote_spanned!(ty.span()=> __inputs.take::<#ty>(#name)?),
    };
    let check = input.range.as_ref().map(|range| {
        let bound = |bound: &Option<Expr>| match bound {
            Some(bound) => quote!(::core::option::Option::Some(::elysia_plugin::__private::json!(#bound))),
            None => quote!(::core::option::Option::None),
        };
        let (minimum, maximum) = (bound(&range.minimum), bound(&range.maximum));
        quote!(::elysia_plugin::__private::check_range(#name, &#ident, #minimum, #maximum)?;)
    });
    quote! {
        let #ident: #ty = #taken;
        #check
    }
}

/// The default as a value of the input's type. Text in quotes may stand for any type made from `&str`.
fn default_value(input: &Input) -> Option<TokenStream> {
    let (default, ty) = (input.default.as_ref()?, &input.ty);
    Some(match default {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {
            quote_spanned!(default.span()=> <#ty as ::core::convert::From<&str>>::from(#default))
        }
        _ => quote_spanned!(default.span()=> { let value: #ty = #default; value }),
    })
}

fn inputs(parameters: &[Parameter]) -> impl Iterator<Item = &Input> {
    parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Input(input) => Some(&**input),
        Parameter::Output => None,
    })
}

fn settings(options: &Options) -> TokenStream {
    let Options { title, effects, idempotent, may_end, status, branch, after, examples, annotations, .. } = options;
    let text = |method: &str, text: &Option<String>| {
        let method = quote::format_ident!("{method}");
        text.as_ref().map(|text| quote!(.#method(#text)))
    };
    let (title, status, branch) = (text("title", title), text("status", status), text("branch", branch));
    let effects = effects.map(|effects| match effects {
        Effects::None => quote!(.effects(::elysia_plugin::Effects::None)),
        Effects::Reads => quote!(.effects(::elysia_plugin::Effects::Reads)),
        Effects::Writes => quote!(.effects(::elysia_plugin::Effects::Writes)),
        Effects::Destructive => quote!(.effects(::elysia_plugin::Effects::Destructive)),
    });
    let idempotent = idempotent.map(|flag| quote!(.idempotent(#flag)));
    let may_end = may_end.map(|flag| quote!(.may_end(#flag)));
    let after = (!after.is_empty()).then(|| quote!(.after([#(#after),*])));
    let examples = (!examples.is_empty()).then(|| quote!(.examples([#(#examples),*])));
    let annotations =
        annotations.iter().map(|(key, value)| quote!(.annotation(#key, ::elysia_plugin::__private::json!(#value))));
    let output_schema = options.output_schema.as_ref().map(|schema| quote!(.output_schema(#schema)));
    let checks_availability = options.available.as_ref().map(|_| quote!(.checks_availability(true)));
    let runs_unchosen = options.run_if_true.as_ref().map(|_| quote!(.runs_unchosen(true)));
    quote! {
        #title #effects #idempotent #may_end #status #branch #after #examples #(#annotations)* #output_schema
        #checks_availability #runs_unchosen
    }
}

fn available(options: &Options) -> Option<TokenStream> {
    let path = options.available.as_ref()?;
    let answer = quote_spanned!(path.span()=> ::core::convert::Into::into(#path()));
    Some(quote! {
        fn available(&self) -> ::elysia_plugin::Availability {
            #answer
        }
    })
}

fn run_if_true(options: &Options) -> Option<TokenStream> {
    let path = options.run_if_true.as_ref()?;
    let answer = quote_spanned!(path.span()=> ::elysia_plugin::__private::unchosen_inputs(#path()));
    Some(quote! {
        fn run_if_true(&self) -> ::core::option::Option<::elysia_plugin::Value> {
            #answer
        }
    })
}
