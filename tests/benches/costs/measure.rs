//! Measuring two ways of doing the same thing in turns, so that what else the machine does hits both alike.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// What one way cost, over all rounds.
pub(crate) struct Cost {
    wall: Vec<Duration>,
    cpu: Duration,
    times: u32,
}

/// Rounds of `a` and `b`, taken in turns, `batch` times each per round; the first tenth is warm-up and not counted.
pub(crate) fn paired(rounds: u32, batch: u32, mut a: impl FnMut(), mut b: impl FnMut()) -> (Cost, Cost) {
    let (mut of_a, mut of_b) = (Cost::new(), Cost::new());
    for round in 0..rounds + rounds.div_ceil(10) {
        let counts = round >= rounds.div_ceil(10);
        // Whoever goes second finds warmer caches: swap each round.
        if round % 2 == 0 {
            of_a.take(counts, batch, &mut a);
            of_b.take(counts, batch, &mut b);
        } else {
            of_b.take(counts, batch, &mut b);
            of_a.take(counts, batch, &mut a);
        }
    }
    (of_a, of_b)
}

/// Rounds of one thing alone.
pub(crate) fn alone(rounds: u32, batch: u32, mut a: impl FnMut()) -> Cost {
    let mut cost = Cost::new();
    for round in 0..rounds + rounds.div_ceil(10) {
        cost.take(round >= rounds.div_ceil(10), batch, &mut a);
    }
    cost
}

impl Cost {
    fn new() -> Self {
        Self { wall: Vec::new(), cpu: Duration::ZERO, times: 0 }
    }

    fn take(&mut self, counts: bool, batch: u32, what: &mut impl FnMut()) {
        let (cpu, start) = (process_cpu(), Instant::now());
        (0..batch).for_each(|_| what());
        let (wall, cpu) = (start.elapsed(), process_cpu().saturating_sub(cpu));
        if counts {
            self.wall.push(wall / batch.max(1));
            self.cpu += cpu;
            self.times += batch;
        }
    }

    /// The wall time that `percent` of the rounds stayed below.
    pub(crate) fn wall(&self, percent: usize) -> Duration {
        let mut sorted = self.wall.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).copied().unwrap_or_default()
    }

    /// CPU time of the whole process per time done, other threads included.
    pub(crate) fn cpu(&self) -> Duration {
        self.cpu / self.times.max(1)
    }

    /// `p50 61.0 µs, p90 80.2 µs, CPU 70.1 µs`.
    pub(crate) fn shown(&self) -> String {
        format!("p50 {}, p90 {}, CPU {}", time(self.wall(50)), time(self.wall(90)), time(self.cpu()))
    }
}

/// CPU time this process has used.
pub(crate) fn process_cpu() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(spent.tv_sec).unwrap_or_default(), u32::try_from(spent.tv_nsec).unwrap_or_default())
}

/// A field of `/proc/self/status` in KiB, e.g. `VmRSS`.
pub(crate) fn memory_kib(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// How many times `b` goes into `a`.
pub(crate) fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64().max(1e-9)
}

/// A duration in the unit that reads best.
pub(crate) fn time(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    match micros {
        m if m < 1e3 => format!("{m:.1} µs"),
        m if m < 1e6 => format!("{:.2} ms", m / 1e3),
        m => format!("{:.2} s", m / 1e6),
    }
}
