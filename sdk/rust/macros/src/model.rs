//! What a tool is, once its tokens are read: plain data and the rules about it.
//!
//! No parsing and no generating here; types of `syn` appear only where a piece of the user's code is passed through.

/// Longest description the host takes, in bytes.
pub(crate) const DESCRIPTION_LIMIT: usize = 2048;

/// A function that becomes a tool.
pub(crate) struct Tool {
    /// The function as written, without the attributes that are ours.
    pub(crate) function: syn::ItemFn,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) options: Options,
    pub(crate) parameters: Vec<Parameter>,
}

/// What stands in `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<syn::LitStr>,
    pub(crate) title: Option<String>,
    pub(crate) effects: Option<Effects>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) may_end: Option<bool>,
    pub(crate) status: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) after: Vec<String>,
    pub(crate) examples: Vec<String>,
    /// Values in the syntax of `json!`.
    pub(crate) annotations: Vec<(String, proc_macro2::TokenStream)>,
    pub(crate) available: Option<syn::Path>,
    pub(crate) run_if_true: Option<syn::Path>,
    pub(crate) output_schema: Option<syn::Expr>,
}

/// What a call does to the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effects {
    None,
    Reads,
    Writes,
    Destructive,
}

impl Effects {
    pub(crate) const NAMES: &'static str = "\"none\", \"reads\", \"writes\" or \"destructive\"";

    pub(crate) fn from_name(name: &str) -> Option<Effects> {
        match name {
            "none" => Some(Effects::None),
            "reads" => Some(Effects::Reads),
            "writes" => Some(Effects::Writes),
            "destructive" => Some(Effects::Destructive),
            _ => None,
        }
    }
}

/// A parameter of the function.
pub(crate) enum Parameter {
    /// Filled by the agent. Boxed: an input carries pieces of syntax, the other case nothing.
    Input(Box<Input>),
    /// `&mut Output`.
    Output,
}

/// An input of a tool, or a field of a struct that is one.
pub(crate) struct Input {
    pub(crate) ident: syn::Ident,
    pub(crate) name: String,
    pub(crate) ty: syn::Type,
    pub(crate) description: String,
    pub(crate) default: Option<syn::Expr>,
    pub(crate) range: Option<Range>,
}

/// Inclusive bounds, as expressions of the input's type.
pub(crate) struct Range {
    pub(crate) minimum: Option<syn::Expr>,
    pub(crate) maximum: Option<syn::Expr>,
}

/// Why a name cannot be a tool's, or `None`.
pub(crate) fn tool_name_problem(name: &str) -> Option<String> {
    let mut characters = name.chars();
    let first = characters.next();
    if !first.is_some_and(|c| c.is_ascii_lowercase()) {
        return Some(format!("the name of a tool begins with a lower-case letter, `{name}` does not"));
    }
    if let Some(bad) = characters.find(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))) {
        return Some(format!("the name of a tool has only a-z, 0-9, `_` and `-`; `{name}` has `{bad}`"));
    }
    (name.len() > 64).then(|| format!("the name of a tool has at most 64 characters, this one has {}", name.len()))
}

/// The lines of doc comments as one text: common indentation gone, lines of a paragraph joined by spaces.
///
/// Lists, headings and indented code keep their lines.
pub(crate) fn description(lines: &[String]) -> String {
    let mut text = String::new();
    let mut fenced = false;
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        let fence = line.trim_start().starts_with("```");
        if line.is_empty() {
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.truncate(text.trim_end().len());
                text.push_str("\n\n");
            }
            continue;
        }
        let own_line = fenced || fence || starts_block(line);
        if !(text.is_empty() || text.ends_with('\n')) {
            text.push(if own_line { '\n' } else { ' ' });
        }
        text.push_str(line);
        if fence {
            fenced = !fenced;
        }
        if fenced || fence || line.starts_with('#') {
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn starts_block(line: &str) -> bool {
    let trimmed = line.trim_start();
    let numbered =
        trimmed.split_once(". ").is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    numbered || ["- ", "* ", "#", "|", ">"].iter().any(|mark| trimmed.starts_with(mark)) || line.starts_with("    ")
}

/// `CamelCase` as `snake_case`, the way the values of an enum are written in JSON.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let characters: Vec<char> = name.chars().collect();
    for (i, &c) in characters.iter().enumerate() {
        if c.is_uppercase() {
            let before = i.checked_sub(1).and_then(|i| characters.get(i));
            let after = characters.get(i + 1);
            let boundary = before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit())
                || (before.is_some_and(|b| b.is_uppercase()) && after.is_some_and(|a| a.is_lowercase()));
            if boundary {
                out.push('_');
            }
            out.extend(c.to_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_as_the_host_checks_them() {
        assert_eq!(tool_name_problem("calculate_two-numbers2"), None);
        for bad in ["", "2x", "Sum", "a b", "ä", "_a", &"a".repeat(65)] {
            assert!(tool_name_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn paragraphs_are_joined_and_lists_are_kept() {
        let lines = [" Adds two", " numbers.", "", "", " - one", " - two", "", " ```", " x", " y", " ```", " End."];
        let lines: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        assert_eq!(description(&lines), "Adds two numbers.\n\n- one\n- two\n\n```\nx\ny\n```\nEnd.");
        assert_eq!(description(&[]), "");
    }

    #[test]
    fn camel_case_becomes_snake_case() {
        for (from, to) in
            [("Sum", "sum"), ("GreaterThan", "greater_than"), ("HTTPGet", "http_get"), ("V2Beta", "v2_beta")]
        {
            assert_eq!(snake_case(from), to);
        }
    }
}
