//! The live transport: one reqwest client per endpoint, with timeouts and one clear cause per kind of failure.

use std::error::Error;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use reqwest::{Client, Url, redirect};

use crate::error::{Phase, ProviderError, one_line};
use crate::secret::Secret;
use crate::transport::{Body, Incoming, Outgoing, Transport};

/// How long to wait for a server, the query's deadline apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// For the head of the answer. Long, since without streaming it comes when the whole reply is done.
    pub first_byte: Duration,
    /// Between two parts of the answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), first_byte: Duration::from_secs(120), idle: Duration::from_secs(60) }
    }
}

/// A checked base URL.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    url: Url,
    /// As it stands in errors: no trailing slash.
    pub(crate) label: String,
}

impl Endpoint {
    /// Checks `base_url`. With `has_key`, plain HTTP is for loopback only: a key must not cross a network in the clear.
    pub(crate) fn parse(base_url: &str, has_key: bool) -> Result<Self, ProviderError> {
        let bad = |what: &str, hint: &str| ProviderError::Config {
            what: format!("`base_url` {what}"),
            hint: hint.to_owned(),
        };
        let example = "give an address such as `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`";
        // The text itself is not repeated: it may hold a password.
        let url = Url::parse(base_url.trim()).map_err(|e| bad(&format!("is not a URL: {e}"), example))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(&format!("begins with `{}:` instead of `https://` or `http://`", url.scheme()), example));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("holds a user or password", "give the key through the provider's variable instead"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("has a `?` or `#` part", example));
        }
        let label = url.as_str().trim_end_matches('/').to_owned();
        let endpoint = Self { url, label };
        if has_key && endpoint.url.scheme() == "http" && !endpoint.is_loopback() {
            let what = format!("`{}` would send the API key in the clear", endpoint.label);
            return Err(bad(&what, "use `https://`, or remove the key if that server needs none"));
        }
        Ok(endpoint)
    }

    pub(crate) fn is_loopback(&self) -> bool {
        let Some(host) = self.url.host_str() else { return false };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    fn join(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", self.url.path().trim_end_matches('/')));
        url
    }
}

/// Sends to a server.
pub(crate) struct LiveTransport {
    client: Client,
    endpoint: Endpoint,
    key: Option<Secret>,
    timeouts: Timeouts,
}

impl LiveTransport {
    pub(crate) fn new(endpoint: Endpoint, key: Option<Secret>, timeouts: Timeouts) -> Result<Self, ProviderError> {
        // Fails when one is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent("elysia-host")
            .redirect(redirect::Policy::none())
            .connect_timeout(timeouts.connect)
            .pool_idle_timeout(Duration::from_secs(30));
        if endpoint.is_loopback() {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|e| ProviderError::Config {
            what: format!("no HTTP client: {}", one_line(&chain(&e))),
            hint: "install root certificates (`ca-certificates`) or set `SSL_CERT_FILE`".to_owned(),
        })?;
        Ok(Self { client, endpoint, key, timeouts })
    }

    fn scrub(&self, text: &str) -> String {
        let line = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        one_line(&line)
    }

    fn connect_error(&self, error: &reqwest::Error, began: Instant) -> ProviderError {
        let endpoint = self.endpoint.label.clone();
        let text = chain(error);
        let reason = self.scrub(innermost(error).as_str());
        if error.is_timeout() {
            let (phase, waited) = (Phase::Connect, began.elapsed());
            return ProviderError::Timeout { endpoint, phase, waited, partial: None };
        }
        if text.contains("dns error") || text.contains("invalid dns name") {
            return ProviderError::Dns { endpoint, reason };
        }
        if is_tls(error) {
            return ProviderError::Tls { endpoint, reason };
        }
        if error.is_connect() {
            let refused = io_kind(error) == Some(std::io::ErrorKind::ConnectionRefused);
            return ProviderError::Unreachable { endpoint, reason, refused };
        }
        if error.is_builder() {
            let what = "the API key holds characters that no HTTP header can carry".to_owned();
            return ProviderError::Config { what, hint: "look at the variable or file the key comes from".to_owned() };
        }
        ProviderError::Cut { endpoint, reason, partial: None }
    }
}

#[async_trait]
impl Transport for LiveTransport {
    async fn send(&self, request: &Outgoing, deadline: Instant) -> Result<Incoming, ProviderError> {
        let began = Instant::now();
        let mut post = self
            .client
            .post(self.endpoint.join(&request.path))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(request.body.to_string());
        if let Some(key) = &self.key {
            post = post.bearer_auth(key.expose());
        }
        let limit = began.checked_add(self.timeouts.first_byte).unwrap_or(deadline);
        let response = match tokio::time::timeout_at(limit.min(deadline).into(), post.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.connect_error(&error, began)),
            Err(_) => {
                let phase = if limit < deadline { Phase::FirstByte } else { Phase::Deadline };
                let (endpoint, waited) = (self.endpoint.label.clone(), began.elapsed());
                return Err(ProviderError::Timeout { endpoint, phase, waited, partial: None });
            }
        };
        let headers = response.headers().iter().filter_map(|(name, value)| {
            // Only what is needed: the rest may hold cookies.
            let name = name.as_str();
            let wanted = matches!(name, "content-type" | "content-encoding" | "retry-after" | "location");
            wanted.then(|| Some((name.to_owned(), value.to_str().ok()?.to_owned())))?
        });
        Ok(Incoming {
            status: response.status().as_u16(),
            headers: headers.collect(),
            body: Box::new(LiveBody {
                endpoint: self.endpoint.label.clone(),
                idle: self.timeouts.idle,
                key: self.key.clone(),
                response,
            }),
        })
    }
}

/// The body of a server's answer.
struct LiveBody {
    endpoint: String,
    idle: Duration,
    key: Option<Secret>,
    response: reqwest::Response,
}

#[async_trait]
impl Body for LiveBody {
    async fn chunk(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, ProviderError> {
        let began = Instant::now();
        let limit = began.checked_add(self.idle).unwrap_or(deadline);
        match tokio::time::timeout_at(limit.min(deadline).into(), self.response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk.map(|bytes| bytes.to_vec())),
            Ok(Err(error)) => {
                let reason = innermost(&error);
                let reason = one_line(&self.key.as_ref().map_or_else(|| reason.clone(), |key| key.scrub(&reason)));
                Err(ProviderError::Cut { endpoint: self.endpoint.clone(), reason, partial: None })
            }
            Err(_) => {
                let phase = if limit < deadline { Phase::Idle } else { Phase::Deadline };
                let (endpoint, waited) = (self.endpoint.clone(), began.elapsed());
                Err(ProviderError::Timeout { endpoint, phase, waited, partial: None })
            }
        }
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |e: &&'a (dyn Error + 'static)| (*e).source())
}

fn chain(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<std::io::ErrorKind> {
    causes(error).find_map(|e| e.downcast_ref::<std::io::Error>()).map(std::io::Error::kind)
}

fn is_tls(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|e| {
        let wrapped = e.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        e.is::<rustls::Error>() || wrapped.is_some_and(|w| w.is::<rustls::Error>())
    })
}
