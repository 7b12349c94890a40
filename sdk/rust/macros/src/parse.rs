//! Tokens → `model`. Every mistake is reported at the token that makes it, all mistakes of a function at once.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, LitBool, LitStr, Pat, Result, Token, Type};

use crate::model::{self, Effects, Input, Options, Parameter, Range, Tool};

const OPTION_NAMES: &str = "name, title, effects, idempotent, may_end, status, branch, after, examples, annotations, \
                            available, run_if_true, output_schema";

pub(crate) fn tool(options: TokenStream, function: TokenStream) -> Result<Tool> {
    let mut errors = Errors::default();
    let options = errors.keep(syn::parse2::<Options>(options)).unwrap_or_default();
    let mut function: ItemFn = match syn::parse2(function) {
        Ok(function) => function,
        Err(error) => {
            return Err(Error::new(error.span(), "#[tool] stands on a function: `fn name(input: type) { … }`"));
        }
    };
    check_signature(&function.sig, &mut errors);

    let name = match &options.name {
        Some(name) => name.value(),
        None => function.sig.ident.unraw().to_string(),
    };
    let name_span = options.name.as_ref().map_or(function.sig.ident.span(), LitStr::span);
    if let Some(problem) = model::tool_name_problem(&name) {
        let hint = if options.name.is_some() { "" } else { "; give another with #[tool(name = \"…\")]" };
        errors.add(name_span, &format!("{problem}{hint}"));
    }

    let description = model::description(&doc_lines(&function.attrs));
    if description.is_empty() {
        errors.add(
            function.sig.ident.span(),
            "a tool needs a description: write `/// What it does and when to choose it.` above the function",
        );
    } else if description.len() > model::DESCRIPTION_LIMIT {
        let (limit, length) = (model::DESCRIPTION_LIMIT, description.len());
        errors.add(
            function.sig.ident.span(),
            &format!("the description has {length} bytes, the host takes {limit}: shorten the doc comment"),
        );
    }

    let parameters = function.sig.inputs.iter_mut().filter_map(|argument| errors.keep(parameter(argument))).collect();
    errors.into_result(Tool { function, name, description, options, parameters })
}

/// The function with our attributes removed from its parameters; the tokens as they are if they are no function.
pub(crate) fn without_tool_attributes(function: TokenStream) -> TokenStream {
    match syn::parse2::<ItemFn>(function.clone()) {
        Ok(mut function) => {
            for argument in &mut function.sig.inputs {
                if let FnArg::Typed(typed) = argument {
                    typed.attrs.retain(|attribute| !is_ours(attribute));
                }
            }
            quote::quote!(#function)
        }
        Err(_) => function,
    }
}

/// Reads the description, default and range of an input off its attributes and removes them.
pub(crate) fn input(ident: &syn::Ident, ty: &Type, attributes: &mut Vec<Attribute>) -> Result<Input> {
    let mut errors = Errors::default();
    let description = model::description(&doc_lines(attributes));
    let mut name = ident.unraw().to_string();
    let (mut default, mut range) = (None, None);
    for attribute in attributes.iter() {
        if attribute.path().is_ident("default") {
            let wanted = "write the default in parentheses: #[default(10)]";
            match attribute.parse_args::<Expr>() {
                Ok(expr) => default = Some(expr),
                Err(error) if matches!(attribute.meta, syn::Meta::List(_)) => errors.0.push(error),
                Err(_) => errors.add(attribute.span(), wanted),
            }
        } else if attribute.path().is_ident("range") {
            range = errors.keep(self::range(attribute));
        } else if attribute.path().is_ident("input") {
            if let Some(given) = errors.keep(name_option(attribute)) {
                name = given;
            }
        } else if !attribute.path().is_ident("doc") && !is_passed_through(attribute) {
            errors.add(
                attribute.span(),
                "an input takes a doc comment, #[default(…)], #[range(low..=high)] and #[input(name = \"…\")]",
            );
        }
    }
    attributes.retain(|attribute| !is_ours(attribute));
    errors.into_result(Input { ident: ident.clone(), name, ty: ty.clone(), description, default, range })
}

/// The value of `#[input(name = "…")]`.
pub(crate) fn name_option(attribute: &Attribute) -> Result<String> {
    let mut name = None;
    attribute.parse_nested_meta(|meta| {
        if !meta.path.is_ident("name") {
            return Err(meta.error("the only option here is `name`: #[input(name = \"…\")]"));
        }
        name = Some(meta.value()?.parse::<LitStr>()?.value());
        Ok(())
    })?;
    name.ok_or_else(|| Error::new(attribute.span(), "say the name: #[input(name = \"…\")]"))
}

/// The text of each doc comment line.
pub(crate) fn doc_lines(attributes: &[Attribute]) -> Vec<String> {
    let text = |attribute: &Attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(text).collect()
}

fn check_signature(signature: &syn::Signature, errors: &mut Errors) {
    if let Some(token) = &signature.asyncness {
        errors.add(token.span(), "a tool is a plain `fn`: it runs alone in its instance and may block; remove `async`");
    }
    if let Some(token) = &signature.unsafety {
        errors.add(token.span(), "a tool is a safe `fn`: remove `unsafe`");
    }
    if !signature.generics.params.is_empty() {
        errors.add(
            signature.generics.span(),
            "a tool has no generic parameters: its inputs need one schema; write the types out",
        );
    }
}

fn parameter(argument: &mut FnArg) -> Result<Parameter> {
    let typed = match argument {
        FnArg::Receiver(receiver) => {
            return Err(Error::new(
                receiver.span(),
                "a tool is a free function: every call has a fresh instance; keep what must last with `state::set`",
            ));
        }
        FnArg::Typed(typed) => typed,
    };
    if let Type::Reference(reference) = &*typed.ty {
        let is_output = reference.mutability.is_some() && last_segment(&reference.elem).is_some_and(|s| s == "Output");
        if is_output {
            return Ok(Parameter::Output);
        }
        let message = match last_segment(&reference.elem).map(ToString::to_string).as_deref() {
            Some("Output") => "write `&mut Output`".to_owned(),
            Some("str") => "inputs are owned: write `String`".to_owned(),
            _ => "inputs are owned: write the type without `&`; the only reference is `out: &mut Output`".to_owned(),
        };
        return Err(Error::new(reference.span(), message));
    }
    if last_segment(&typed.ty).is_some_and(|s| s == "Output") {
        return Err(Error::new(typed.ty.span(), "write `&mut Output`"));
    }
    let ident = match &*typed.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() => pattern.ident.clone(),
        pattern => {
            return Err(Error::new(
                pattern.span(),
                "write a plain name here: it is the name of the input in the schema",
            ));
        }
    };
    input(&ident, &typed.ty.clone(), &mut typed.attrs).map(|input| Parameter::Input(Box::new(input)))
}

fn last_segment(ty: &Type) -> Option<&syn::Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

fn range(attribute: &Attribute) -> Result<Range> {
    let wanted = "write the bounds as an inclusive range: #[range(1..=100)]";
    match attribute.parse_args::<Expr>() {
        Ok(Expr::Range(range)) if matches!(range.limits, syn::RangeLimits::Closed(_)) || range.end.is_none() => {
            Ok(Range { minimum: range.start.map(|e| *e), maximum: range.end.map(|e| *e) })
        }
        Ok(other) => Err(Error::new(other.span(), wanted)),
        Err(_) => Err(Error::new(attribute.span(), wanted)),
    }
}

fn is_ours(attribute: &Attribute) -> bool {
    ["doc", "default", "range", "input"].iter().any(|name| attribute.path().is_ident(name))
}

fn is_passed_through(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "cfg", "serde"].iter().any(|name| attribute.path().is_ident(name))
}

impl Parse for Options {
    fn parse(stream: ParseStream<'_>) -> Result<Options> {
        let mut options = Options::default();
        let mut seen = Vec::new();
        while !stream.is_empty() {
            let key = syn::Ident::parse_any(stream)?;
            if seen.contains(&key) {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
            options.set(&key, stream)?;
            seen.push(key);
            if !stream.is_empty() {
                stream.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn set(&mut self, key: &syn::Ident, stream: ParseStream<'_>) -> Result<()> {
        match key.to_string().as_str() {
            "name" => self.name = Some(value(stream)?),
            "title" => self.title = Some(text(stream)?),
            "effects" => self.effects = Some(effects(stream)?),
            "idempotent" => self.idempotent = Some(flag(stream)?),
            "may_end" => self.may_end = Some(flag(stream)?),
            "status" => self.status = Some(text(stream)?),
            "branch" => self.branch = Some(text(stream)?),
            "after" => self.after = texts(stream)?,
            "examples" => self.examples = texts(stream)?,
            "annotations" => self.annotations = annotations(stream)?,
            "available" => self.available = Some(value(stream)?),
            "run_if_true" => self.run_if_true = Some(value(stream)?),
            "output_schema" => self.output_schema = Some(value(stream)?),
            _ => {
                return Err(Error::new(key.span(), format!("unknown option `{key}`; there are {OPTION_NAMES}")));
            }
        }
        Ok(())
    }
}

fn value<T: Parse>(stream: ParseStream<'_>) -> Result<T> {
    stream.parse::<Token![=]>()?;
    stream.parse()
}

fn text(stream: ParseStream<'_>) -> Result<String> {
    value::<LitStr>(stream).map(|text| text.value())
}

/// `flag` alone means true.
fn flag(stream: ParseStream<'_>) -> Result<bool> {
    if stream.peek(Token![=]) { value::<LitBool>(stream).map(|flag| flag.value) } else { Ok(true) }
}

fn effects(stream: ParseStream<'_>) -> Result<Effects> {
    let name: LitStr = value(stream)?;
    Effects::from_name(&name.value())
        .ok_or_else(|| Error::new(name.span(), format!("effects are {}, not {:?}", Effects::NAMES, name.value())))
}

fn texts(stream: ParseStream<'_>) -> Result<Vec<String>> {
    stream.parse::<Token![=]>()?;
    let content;
    syn::bracketed!(content in stream);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
    Ok(texts.iter().map(LitStr::value).collect())
}

/// `annotations("namespace.key" = value, …)`.
fn annotations(stream: ParseStream<'_>) -> Result<Vec<(String, TokenStream)>> {
    let content;
    syn::parenthesized!(content in stream);
    let mut pairs = Vec::new();
    while !content.is_empty() {
        let key: LitStr = content.parse()?;
        content.parse::<Token![=]>()?;
        let mut value = TokenStream::new();
        while !content.is_empty() && !content.peek(Token![,]) {
            value.extend([content.parse::<proc_macro2::TokenTree>()?]);
        }
        if value.is_empty() {
            return Err(Error::new(key.span(), "an annotation needs a value: \"namespace.key\" = 1"));
        }
        pairs.push((key.value(), value));
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(pairs)
}

/// Mistakes collected on the way; reported together.
#[derive(Default)]
pub(crate) struct Errors(pub(crate) Vec<Error>);

impl Errors {
    pub(crate) fn add(&mut self, span: Span, message: &str) {
        self.0.push(Error::new(span, message));
    }

    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    pub(crate) fn into_result<T>(self, value: T) -> Result<T> {
        let all = self.0.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        all.map_or(Ok(value), Err)
    }
}
