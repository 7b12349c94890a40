//! Types that cannot be inputs.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

#[derive(ToolInput)]
enum Shape {
    Circle(f64),
    Square { side: f64 },
}

#[derive(ToolInput)]
enum Never {}

#[derive(ToolInput)]
struct Pair(i64, i64);

#[derive(ToolInput)]
struct Generic<T> {
    value: T,
}

fn main() {}
