//! The one integration binary: linking the engine once is enough.

mod tidy;

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = tidy::trials();
    trials.extend(elysia_tests::decision::trials());
    trials.extend(elysia_tests::environment::trials());
    trials.extend(elysia_tests::properties::trials());
    trials.extend(elysia_tests::loader::trials());
    trials.extend(elysia_tests::hostile::trials());
    trials.extend(elysia_tests::provider::trials());
    trials.extend(elysia_tests::cli::trials());
    trials.extend(elysia_tests::session::trials());
    trials.extend(elysia_tests::alike::trials());
    libtest_mimic::run(&arguments, trials).exit();
}
