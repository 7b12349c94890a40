//! Which model decides, and why that one.

use std::io::Read as _;
use std::path::Path;

use elysia_host::{ModelChoice, NativeTools, Secret};
use elysia_types::clean_line;

use super::{ConfigFile, Notice, OneOrMany, OpenAiOptions, Options, Switch};
use crate::complaint::Complaint;
use crate::env::{self, Variables};
use crate::printer::reason;

/// The endpoint of `openai:` unless another is set.
const OPENAI_URL: &str = "https://api.openai.com/v1";
/// The model taken when there is nothing but a key.
const OPENAI_MODEL: &str = "gpt-5-mini";
/// Where Ollama listens by default.
const OLLAMA_PORT: u16 = 11434;
/// Longest file of a key.
const LONGEST_KEY: u64 = 16 * 1024;
const FORMS: &str = "write `local`, `openai:NAME`, `ollama:NAME` or `scripted:FILE`";

/// The choice, in words as well.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) choice: ModelChoice,
    /// E.g. `openai:gpt-5-mini, from OPENAI_API_KEY`.
    pub(crate) said: String,
    /// What was set and could not be taken.
    pub(crate) passed_over: Vec<Notice>,
}

/// A flag, else `ELYSIA_MODEL`, else a file's `[models] base`, else the first key there is, else the embedded agent.
///
/// # Errors
/// A model that is not one, or that lacks something.
pub(super) fn choose(
    flag: Option<&str>,
    variables: &Variables,
    options: &Options,
    files: &[ConfigFile],
    here: &Path,
) -> Result<Chosen, Complaint> {
    let openai = options.models.as_ref().and_then(|models| models.openai.clone()).unwrap_or_default();
    let mut passed_over = Vec::new();
    if let Some(model) = flag {
        let choice = read(model, here, variables, &openai)?;
        return Ok(Chosen::new(choice, model, "from `--model`", passed_over));
    }
    if let Some(model) = variables.text(env::ELYSIA_MODEL)? {
        let choice = read(&model, here, variables, &openai)?;
        return Ok(Chosen::new(choice, &model, "from `ELYSIA_MODEL`", passed_over));
    }
    let base_of = |file: &ConfigFile| file.options.models.as_ref().and_then(|models| models.base.clone());
    if let Some((file, base)) = files.iter().find_map(|file| base_of(file).map(|base| (file, base))) {
        let shown = clean_line(&file.path.display().to_string());
        let place = file.place_of("models.base").unwrap_or_else(|| shown.clone());
        let model = first(base, &place, &mut passed_over)?;
        let choice = read(&model, &here.join(file.folder()), variables, &openai)
            .map_err(|complaint| Complaint { message: format!("{place}: {}", complaint.message), ..complaint })?;
        return Ok(Chosen::new(choice, &model, &format!("from {shown}"), passed_over));
    }
    by_key(variables, &openai, passed_over)
}

impl Chosen {
    fn new(choice: ModelChoice, model: &str, why: &str, passed_over: Vec<Notice>) -> Self {
        Self { choice, said: format!("{}, {why}", clean_line(model)), passed_over }
    }
}

fn by_key(variables: &Variables, openai: &OpenAiOptions, mut passed_over: Vec<Notice>) -> Result<Chosen, Complaint> {
    let pass = |name: &str, provider: &str| {
        Notice::new(format!("`{name}` is set, but `{provider}:` is not in this version yet; it is passed over"))
    };
    if variables.is_set(env::ANTHROPIC_API_KEY) {
        passed_over.push(pass(env::ANTHROPIC_API_KEY, "anthropic"));
    }
    if variables.text(env::OPENAI_API_KEY)?.is_some() {
        let choice = at_openai(OPENAI_MODEL, variables, openai)?;
        let model = format!("openai:{OPENAI_MODEL}");
        return Ok(Chosen::new(choice, &model, "because `OPENAI_API_KEY` is set", passed_over));
    }
    if variables.is_set(env::GEMINI_API_KEY) {
        passed_over.push(pass(env::GEMINI_API_KEY, "gemini"));
    }
    let why =
        if passed_over.is_empty() { "because nothing else is configured" } else { "because no other can be taken" };
    Ok(Chosen::new(ModelChoice::Local, "local", why, passed_over))
}

fn first(base: OneOrMany, place: &str, notices: &mut Vec<Notice>) -> Result<String, Complaint> {
    let chain = match base {
        OneOrMany::One(model) => return Ok(model),
        OneOrMany::Many(chain) => chain,
    };
    if chain.len() > 1 {
        notices.push(Notice::new(format!("{place}: of several models only the first is used in this version")));
    }
    let first = chain.into_iter().next();
    first.ok_or_else(|| Complaint::usage(format!("{place}: the list of models is empty")).hint(FORMS))
}

fn read(model: &str, start: &Path, variables: &Variables, openai: &OpenAiOptions) -> Result<ModelChoice, Complaint> {
    let shown = clean_line(model);
    let (provider, name) = model.trim().split_once(':').unwrap_or((model.trim(), ""));
    match (provider, name.trim()) {
        ("local", "") => Ok(ModelChoice::Local),
        ("scripted" | "openai" | "ollama", "") => Err(Complaint::usage(format!("the model `{shown}` names no model"))
            .hint(if provider == "scripted" {
                "write `scripted:FILE`".to_owned()
            } else {
                format!("write `{provider}:NAME`")
            })),
        ("scripted", file) => Ok(ModelChoice::Scripted(start.join(file))),
        ("openai", name) => at_openai(name, variables, openai),
        ("ollama", name) => at_ollama(name, variables),
        ("anthropic" | "gemini" | "gguf", _) => {
            Err(Complaint::usage(format!("`{provider}:` is not in this version yet")).hint(FORMS))
        }
        _ => Err(Complaint::usage(format!("`{shown}` is not a model")).hint(FORMS)),
    }
}

fn at_openai(model: &str, variables: &Variables, options: &OpenAiOptions) -> Result<ModelChoice, Complaint> {
    let base_url = variables.text(env::OPENAI_BASE_URL)?.or_else(|| options.base_url.clone());
    let api_key = key(variables, options)?;
    if api_key.is_none() && base_url.is_none() {
        return Err(Complaint::usage(format!("`openai:{}` needs a key", clean_line(model)))
            .hint("set `OPENAI_API_KEY`, or `api_key_file` under [models.openai], or take `--model local`"));
    }
    Ok(ModelChoice::OpenAi {
        provider_label: "openai".to_owned(),
        base_url: base_url.unwrap_or_else(|| OPENAI_URL.to_owned()),
        model: model.to_owned(),
        api_key,
        native_tools: match options.native_tools {
            Some(Switch::Fixed(true)) => NativeTools::On,
            Some(Switch::Fixed(false)) => NativeTools::Off,
            Some(Switch::Word(_)) | None => NativeTools::Auto,
        },
    })
}

fn key(variables: &Variables, options: &OpenAiOptions) -> Result<Option<Secret>, Complaint> {
    let text = if let Some(name) = &options.api_key_env {
        let shown = clean_line(name);
        Some(variables.text(name)?.ok_or_else(|| {
            Complaint::usage(format!("`api_key_env` names `{shown}`, which is not set"))
                .hint(format!("set `{shown}`, or take another name under [models.openai]"))
        })?)
    } else if let Some(file) = &options.api_key_file {
        Some(key_file(file)?)
    } else {
        variables.text(env::OPENAI_API_KEY)?
    };
    Ok(text.as_deref().and_then(Secret::new))
}

fn key_file(path: &Path) -> Result<String, Complaint> {
    let wrong = |why: &str| {
        Complaint::usage(format!("the key file `{}` cannot be used: {why}", clean_line(&path.display().to_string())))
            .hint("write the key, and nothing else, into it")
    };
    let about = path.metadata().map_err(|e| wrong(&reason(&e)))?;
    if !about.is_file() {
        return Err(wrong("it is not a file"));
    }
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST_KEY).read_to_string(&mut text));
    read.map_err(|e| wrong(&reason(&e)))?;
    let key = text.trim();
    if key.is_empty() || key.contains(char::is_whitespace) {
        return Err(wrong("it does not hold one key"));
    }
    Ok(key.to_owned())
}

fn at_ollama(model: &str, variables: &Variables) -> Result<ModelChoice, Complaint> {
    let host = variables.text(env::OLLAMA_HOST)?.unwrap_or_else(|| "127.0.0.1".to_owned());
    Ok(ModelChoice::OpenAi {
        provider_label: "ollama".to_owned(),
        base_url: ollama_url(&host),
        model: model.to_owned(),
        api_key: None,
        // Ollama ignores a forced tool choice; a reply schema it enforces.
        native_tools: NativeTools::Off,
    })
}

/// `HOST`, `HOST:PORT` or a URL, as Ollama reads it, to the root of its OpenAI-compatible interface.
fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let after_address = authority.rsplit(']').next().unwrap_or(authority);
    let (name, port) = match after_address.rsplit_once(':') {
        Some((_, port)) => (authority.strip_suffix(&format!(":{port}")).unwrap_or(authority), port.to_owned()),
        None if scheme == "https" => (authority, "443".to_owned()),
        None if host.contains("://") => (authority, "80".to_owned()),
        None => (authority, OLLAMA_PORT.to_string()),
    };
    // An address to listen on everywhere is no address to call.
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    let end = if path.ends_with("/v1") { "" } else { "/v1" };
    format!("{scheme}://{name}:{port}{path}{end}")
}

#[cfg(test)]
mod tests {
    use super::ollama_url;

    #[test]
    fn ollama_hosts_become_addresses() {
        for (host, url) in [
            ("127.0.0.1", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0:1234", "http://127.0.0.1:1234/v1"),
            ("http://box:8080/", "http://box:8080/v1"),
            ("https://ollama.example", "https://ollama.example:443/v1"),
            ("[::1]:5", "http://[::1]:5/v1"),
            ("[::1]", "http://[::1]:11434/v1"),
            (":7", "http://127.0.0.1:7/v1"),
            ("http://box", "http://box:80/v1"),
        ] {
            assert_eq!(ollama_url(host), url, "{host}");
        }
    }
}
