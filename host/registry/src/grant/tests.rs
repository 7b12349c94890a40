//! Grant ∩ wants, the binding to bytes, folders, and what is not available yet.

use super::*;
use crate::manifest::Manifest;

const HASH: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["data", "plugins/data", "plugins/web", "state/inner"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("plugins/web/plugin.wasm"), "x").unwrap();
        std::fs::write(dir.path().join("file.txt"), "x").unwrap();
        Self { dir }
    }

    fn effective(&self, grant: &str, manifest: Option<&str>) -> Effective {
        let grant: Grant = toml::from_str(grant).unwrap();
        let manifest = manifest.map(|m| Manifest::parse(Path::new("m.toml"), m).unwrap()).unwrap_or_default();
        let base = self.dir.path().to_owned();
        let (kept, plugins) = (vec![base.join("state")], vec![base.join("plugins")]);
        let grounds = Grounds { base, kept, plugins };
        Effective::new(&"web".parse().unwrap(), Some(&grant), manifest.wants.as_ref(), HASH, &grounds)
    }

    fn host(&self, folder: &str) -> PathBuf {
        self.dir.path().join(folder).canonicalize().unwrap()
    }
}

#[test]
fn every_key_of_the_contract_parses() {
    let grant: Grant = toml::from_str(
        r#"
        sha256 = "00"
        http = [{ host = "api.example.com", methods = ["GET"], paths = ["/v1/*"] }, { scheme = "http", host = "*.x.org", port = 8080 }]
        files = [{ host = "./data", guest = "/data", access = "read" }]
        env = { TZ = "UTC" }
        secrets = { EXAMPLE_TOKEN = { env = "EXAMPLE_TOKEN", host = "api.example.com", header = "authorization", prefix = "Bearer " } }
        model = { max_tokens = 4000 }
        environment = false
        conversation = false
        private_hosts = ["127.0.0.1:8080"]
        approve = "writes"
        limits = { memory = "256MiB", wall = "60s" }
        "#,
    )
    .unwrap();
    assert_eq!(grant.model, Some(ModelGrant { max_tokens: Some(4000) }));
    assert_eq!(grant.approve, Some(Approve::Writes));
    assert!(toml::from_str::<Grant>("htpp = []").is_err());
    assert!(toml::from_str::<Grant>("approve = \"sometimes\"").is_err());
}

#[test]
fn nothing_granted_is_nothing_given() {
    let given = Effective::new(&"web".parse().unwrap(), None, None, HASH, &Grounds::default());
    assert_eq!(given, Effective::default());
    assert_eq!(given.policy, Policy::default());
}

#[test]
fn without_wants_the_grant_alone_decides() {
    let fixture = Fixture::new();
    let given = fixture.effective("env = { TZ = \"UTC\" }\nfiles = [{ host = \"./data\", guest = \"/data/\" }]", None);
    assert_eq!(given.policy.env, [("TZ".to_owned(), "UTC".to_owned())]);
    assert_eq!(
        given.policy.files,
        [FileGrant { host: fixture.host("data"), guest: "/data".to_owned(), writable: false }]
    );
    assert!(given.warnings.is_empty() && !given.hides_environment, "{:?}", given.warnings);
}

#[test]
fn with_wants_only_what_both_allow_is_given() {
    let fixture = Fixture::new();
    let grant =
        "env = { TZ = \"UTC\", HOME = \"/x\" }\nfiles = [{ host = \"./data\", guest = \"/data\", access = \"write\" }]";
    let given = fixture.effective(grant, Some("[wants]\nenv = [\"TZ\"]\nfiles = [{ guest = \"/data\" }]"));
    assert_eq!(given.policy.env.len(), 1);
    assert!(!given.policy.files[0].writable);
    assert_eq!(given.warnings.len(), 2, "{:?}", given.warnings);
    assert!(given.warnings[0].contains("`env.HOME` is granted, but the manifest does not want it"));
    assert!(given.warnings[1].contains("granted for writing; the manifest wants to read"));
    let given = fixture.effective(grant, Some("[wants]"));
    assert_eq!(given.policy, Policy::default());
    assert_eq!(given.warnings.len(), 3);
}

#[test]
fn a_grant_binds_to_bytes() {
    let fixture = Fixture::new();
    let kept_back = fixture.effective("sha256 = \"ff\"\napprove = \"always\"", None);
    assert_eq!(kept_back.approve, Some(Approve::Always));
    assert_eq!(fixture.effective("sha256 = \"ff\"\napprove = \"never\"", None).approve, None);
    let other = fixture.effective("sha256 = \"ff\"\nenv = { TZ = \"UTC\" }\nlimits = { tools = 99 }", None);
    assert_eq!((other.policy, other.limits), (Policy::default(), LimitSettings::default()));
    assert!(other.warnings[0].contains("[grants.web] was given to other bytes") && other.warnings[0].contains(HASH));
    let same = fixture.effective(&format!("sha256 = \"{}\"\nenv = {{ TZ = \"UTC\" }}", HASH.to_uppercase()), None);
    assert_eq!(same.policy.env.len(), 1);
}

#[test]
fn folders_that_may_not_be_opened_are_not() {
    let fixture = Fixture::new();
    for (host, guest, access, why) in [
        ("./missing", "/a", "read", "it does not exist"),
        ("./file.txt", "/a", "read", "not a folder"),
        ("/", "/a", "read", "not given"),
        ("./plugins", "/a", "read", "kept from plugins"),
        ("./plugins/web", "/a", "read", "closed to plugins"),
        ("./plugins/data", "/a", "write", "kept from plugins"),
        ("./state", "/a", "read", "not given"),
        ("./state/inner", "/a", "read", "not given"),
        (".", "/a", "read", "not given"),
        ("./data/..", "/a", "write", "not given"),
        ("./data", "a", "read", "absolute"),
        ("./data", "/a/../b", "read", "absolute"),
        ("./data", "", "read", "absolute"),
    ] {
        let given = fixture
            .effective(&format!("files = [{{ host = {host:?}, guest = {guest:?}, access = {access:?} }}]"), None);
        assert!(given.policy.files.is_empty(), "{host} {guest}");
        assert!(given.warnings[0].contains(why), "{host} {guest}: {:?}", given.warnings);
    }
}

#[test]
fn data_beside_plugins_may_be_read() {
    let fixture = Fixture::new();
    let given = fixture.effective("files = [{ host = \"./plugins/data\", guest = \"/d\" }]", None);
    assert_eq!(given.policy.files.len(), 1, "{:?}", given.warnings);
}

#[test]
fn a_base_that_holds_nothing_kept_is_readable_but_not_writable() {
    let fixture = Fixture::new();
    let (name, base) = ("web".parse().unwrap(), fixture.dir.path().to_owned());
    let given = |access: &str| {
        let grant: Grant =
            toml::from_str(&format!("files = [{{ host = \".\", guest = \"/p\", access = {access:?} }}]")).unwrap();
        Effective::new(
            &name,
            Some(&grant),
            None,
            HASH,
            &Grounds { base: base.clone(), kept: vec![], plugins: Vec::new() },
        )
    };
    assert_eq!(given("read").policy.files.len(), 1);
    assert!(given("write").warnings[0].contains("change the configuration"));
}

#[test]
fn a_guest_path_is_given_once() {
    let fixture = Fixture::new();
    let twice =
        "files = [{ host = \"./data\", guest = \"/d\" }, { host = \"./data\", guest = \"/d/\", access = \"write\" }]";
    let given = fixture.effective(twice, None);
    assert_eq!(given.policy.files.len(), 1);
    assert!(!given.policy.files[0].writable && given.warnings[0].contains("twice"));
}

#[test]
fn who_can_send_data_out_sees_only_its_own() {
    let fixture = Fixture::new();
    let write = "files = [{ host = \"./data\", guest = \"/d\", access = \"write\" }]";
    let given = fixture.effective(write, None);
    assert!(given.hides_environment && given.hides_conversation);
    let open = format!("{write}\nenvironment = true");
    let given = fixture.effective(&open, None);
    assert!(!given.hides_environment && given.hides_conversation);
    let wants = "[wants]\nfiles = [{ guest = \"/d\", access = \"write\" }]";
    let given = fixture.effective(&open, Some(wants));
    assert!(given.hides_environment && given.warnings[0].contains("`environment` is granted"), "{:?}", given.warnings);
    assert_eq!(given.to_json()["environment"], false);
}

#[test]
fn what_is_not_available_yet_is_said() {
    let fixture = Fixture::new();
    let all = "http = [{ host = \"a.b\" }]\nsecrets = { T = { env = \"T\", host = \"a.b\", header = \"h\" } }\n\
               model = {}\nprivate_hosts = [\"127.0.0.1:1\"]";
    let given = fixture.effective(all, None);
    assert_eq!(given.warnings.len(), 4);
    assert!(given.warnings.iter().all(|w| w.contains("not available in this version") && w.contains("[grants.web]")));
    assert!(fixture.effective("approve = \"always\"\nenvironment = false", None).warnings.is_empty());
}

#[test]
fn impossible_variables_are_not_given() {
    let fixture = Fixture::new();
    let given = fixture.effective("env = { \"A=B\" = \"x\", \"\" = \"y\", C = \"\\u0000\" }", None);
    assert!(given.policy.env.is_empty());
    assert_eq!(given.warnings.len(), 3);
}
