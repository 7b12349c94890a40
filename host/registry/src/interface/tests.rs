//! Worlds, imports and what is refused before any code runs.

use super::*;

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

fn read(text: &str) -> Interface {
    Interface::read(&component(text)).unwrap()
}

fn refusal(text: &str) -> Refusal {
    read(text).refusal().unwrap()
}

#[test]
fn what_is_no_component_is_named() {
    let core = component("(module)");
    let good = component(r#"(component (instance (export "elysia:plugin/tools@0.1.0")))"#);
    for (bytes, expected) in [
        (&b""[..], "it is empty"),
        (b"\0asm", "it is cut short"),
        (b"\0asm\x09\0\0\0", "unknown version"),
        (b"#!/bin/sh\nrm -rf /\n", "it is text"),
        (b"  (component)", "WebAssembly text"),
        (b"\x7fELF\x02", "a native program"),
        (b"PK\x03\x04\xff", "an archive"),
        (b"\xff\xfe\x00", "it is not WebAssembly"),
        (&core, "a core WebAssembly module"),
        (&good[..good.len() - 3], "cut short"),
    ] {
        let refused = Interface::read(bytes).unwrap_err();
        assert!(refused.reason.contains(expected), "{expected}: {}", refused.reason);
        assert!(!refused.hint.is_empty());
    }
    let mut broken = good;
    broken[8] = 0x7f;
    assert!(Interface::read(&broken).unwrap_err().reason.contains("unknown"));
}

#[test]
fn worlds_are_told_apart() {
    let tools = |version: &str| format!(r#"(component (instance (export "elysia:plugin/tools@{version}")))"#);
    for version in ["0.1.0", "0.1.7"] {
        let interface = read(&tools(version));
        assert_eq!(interface.world, World::Plugin(version.to_owned()));
        assert_eq!(interface.refusal(), None);
    }
    assert!(refusal(&tools("0.2.0")).reason.contains("built for `elysia:plugin` 0.2.0; this host serves 0.1.x"));
    assert_eq!(read("(component)").world, World::Empty);
    let command = refusal(r#"(component (instance (export "wasi:cli/run@0.2.6")))"#);
    assert!(command.reason.contains("a program"));
    let typed =
        refusal(r#"(component (instance $i) (export "math:ops/add" (instance $i)) (export "exports" (instance $i)))"#);
    assert!(typed.reason.contains("plain exports are not served yet") && typed.reason.contains("`math:ops/add`"));
    assert!(!typed.reason.contains("`exports`"));
}

#[test]
fn imports_are_served_inert_or_refused() {
    let interface = read(
        r#"(component
            (import "elysia:plugin/log@0.1.0" (instance))
            (import "elysia:plugin/http@0.1.0" (instance))
            (import "wasi:clocks/wall-clock@0.2.3" (instance))
            (import "wasi:filesystem/types@0.2.3" (instance))
            (import "wasi:cli/environment@0.2.3" (instance))
            (import "wasi:cli/stdin@0.2.3" (instance))
            (import "wasi:keyvalue/store@0.2.0" (instance))
            (instance (export "elysia:plugin/tools@0.1.0")))"#,
    );
    let standings = |policy: &Policy| interface.import_uses(policy).into_iter().map(|i| i.standing).collect::<Vec<_>>();
    use Standing::{Inert, Refused, Served};
    assert_eq!(standings(&Policy::default()), [Served, Inert, Served, Inert, Inert, Inert, Refused]);
    let env = Policy { env: vec![("A".to_owned(), "b".to_owned())], ..Policy::default() };
    assert_eq!(standings(&env)[4], Served);
    assert!(interface.refusal().unwrap().reason.contains("imports `wasi:keyvalue/store@0.2.0`"));
}

#[test]
fn sockets_new_wasi_and_async_are_refused_with_a_way_out() {
    let with = |import: &str| {
        refusal(&format!(
            r#"(component (import "{import}" (instance)) (instance (export "elysia:plugin/tools@0.1.0")))"#
        ))
    };
    assert!(with("wasi:sockets/tcp@0.2.3").reason.contains("never get sockets"));
    let new = with("wasi:cli/stdout@0.3.0");
    assert!(new.reason.contains("WASI 0.3") && new.hint.contains("--sync") && new.hint.contains("wasm32-wasip2"));
    let is_async = refusal(
        r#"(component
            (core module $m (func (export "f") (result i32) i32.const 0) (func (export "cb") (param i32 i32 i32) (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            (func $f async (canon lift (core func $i "f") async (callback (core func $i "cb"))))
            (instance (export "elysia:plugin/tools@0.1.0") (export "f" (func $f))))"#,
    );
    assert!(is_async.reason.contains("async ABI") && is_async.hint.contains("--sync"));
}

#[test]
fn memories_are_summed() {
    let interface = read("(component (core module (memory 2)) (component (core module (memory 3))))");
    assert_eq!(interface.declared_memory, 5 * PAGE);
}
