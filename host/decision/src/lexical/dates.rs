//! Dates as people write them, and the format a schema asks for.

use std::sync::LazyLock;

use regex::Regex;

use super::atoms::pattern;
use super::lexicon;

/// What is known of a date; at least one of year, month and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Date {
    pub(super) year: Option<i32>,
    pub(super) month: Option<u32>,
    pub(super) day: Option<u32>,
    /// `tomorrow`, `next week`: needs the clock.
    pub(super) relative: Option<Relative>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relative {
    Days(i64),
    Months(i32),
    Years(i32),
    /// Next (or this) weekday, from Monday = 0.
    Weekday(u32),
}

const MONTH: &str = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";

static YMD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?)?\b")
});
static XYD: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b"));
static MDY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(&format!(r"(?i)\b{MONTH}\.?\s*(\d{{1,2}})(?:st|nd|rd|th)?\b(?:(?:\s*,\s*|\s+)(?:of\s+)?(\d{{4}})\b)?"))
});
static DMY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(&format!(r"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?\s*(?:of\s+)?{MONTH}\b\.?(?:,?\s*(\d{{4}})\b)?"))
});
static MY: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"(?i)\b{MONTH}\b\.?,?\s*(?:of\s+)?(\d{{4}})\b")));
static RELATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(today|tonight|tomorrow|yesterday)|(next|this|last|coming|upcoming)\s+(day|week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b",
    )
});

/// Places and values of all dates.
pub(super) fn find(query: &str) -> Vec<(usize, usize, Date)> {
    let mut out: Vec<(usize, usize, Date)> = Vec::new();
    let mut add = |regex: &Option<Regex>, read: fn([Option<&str>; 3]) -> Option<Date>| {
        for found in regex.iter().flat_map(|r| r.captures_iter(query)) {
            let Some(whole) = found.get(0) else { continue };
            let parts = [1, 2, 3].map(|i| found.get(i).map(|m| m.as_str()));
            let free = out.iter().all(|o| whole.end() <= o.0 || o.1 <= whole.start());
            if let Some(date) = read(parts).filter(|d| free && d.plausible()) {
                out.push((whole.start(), whole.end(), date));
            }
        }
    };
    add(&YMD, |[y, m, d]| Some(Date { year: int(y)?.try_into().ok(), month: int(m), day: int(d), relative: None }));
    add(&XYD, |[a, b, y]| {
        let (a, b) = (int(a)?, int(b)?);
        let (month, day) = if a > 12 { (b, a) } else { (a, b) };
        Some(Date { year: int(y)?.try_into().ok(), month: Some(month), day: Some(day), relative: None })
    });
    add(&MDY, |[m, d, y]| {
        Some(Date { year: int(y).and_then(|y| y.try_into().ok()), month: month(m), day: int(d), relative: None })
    });
    add(&DMY, |[d, m, y]| {
        Some(Date { year: int(y).and_then(|y| y.try_into().ok()), month: month(m), day: int(d), relative: None })
    });
    add(&MY, |[m, y, _]| Some(Date { year: int(y)?.try_into().ok(), month: month(m), day: None, relative: None }));
    add(&RELATIVE, relative);
    out
}

fn int(text: Option<&str>) -> Option<u32> {
    text?.parse().ok()
}

fn month(text: Option<&str>) -> Option<u32> {
    lexicon::month(&text?.to_lowercase())
}

fn relative([word, which, unit]: [Option<&str>; 3]) -> Option<Date> {
    let relative = if let Some(word) = word {
        match word.to_lowercase().as_str() {
            "tomorrow" => Relative::Days(1),
            "yesterday" => Relative::Days(-1),
            _ => Relative::Days(0),
        }
    } else {
        let step = match which?.to_lowercase().as_str() {
            "last" => -1,
            "this" => 0,
            _ => 1,
        };
        match unit?.to_lowercase().as_str() {
            "day" => Relative::Days(i64::from(step)),
            "week" => Relative::Days(7 * i64::from(step)),
            "weekend" => Relative::Weekday(5),
            "month" => Relative::Months(step),
            "year" => Relative::Years(step),
            day => Relative::Weekday(lexicon::WEEKDAYS.iter().position(|w| *w == day)?.try_into().ok()?),
        }
    };
    Some(Date { relative: Some(relative), ..Date::default() })
}

impl Date {
    fn plausible(&self) -> bool {
        self.month.is_none_or(|m| (1..=12).contains(&m)) && self.day.is_none_or(|d| (1..=31).contains(&d))
    }

    /// Fills in what the clock knows.
    pub(super) fn resolve(self, now: Option<&str>) -> Option<Self> {
        let Some(relative) = self.relative else {
            return Some(self);
        };
        let (year, month, day) = read_now(now?)?;
        let today = days_from_civil(year, month, day);
        Some(match relative {
            Relative::Days(n) => from_days(today + n),
            Relative::Weekday(w) => {
                let weekday = (today + 3).rem_euclid(7);
                from_days(today + (i64::from(w) - weekday + 6).rem_euclid(7) + 1)
            }
            Relative::Months(n) => {
                let months = year * 12 + i32::try_from(month).ok()? - 1 + n;
                Self {
                    year: Some(months.div_euclid(12)),
                    month: u32::try_from(months.rem_euclid(12) + 1).ok(),
                    day: None,
                    relative: None,
                }
            }
            Relative::Years(n) => Self { year: Some(year + n), ..Self::default() },
        })
    }

    /// As the description or `format` wants it; ISO otherwise. Missing parts come from the clock, else nothing.
    pub(super) fn render(self, wanted: &str, date_time: bool, now: Option<&str>) -> Option<String> {
        let date = self.resolve(now)?;
        let this_year = now.and_then(read_now).map(|n| n.0);
        let shape = shape(wanted);
        match (date.year.or(this_year), date.month, date.day) {
            (Some(y), Some(m), _) if shape == Some("my") => Some(format!("{m:02}-{y:04}")),
            (Some(y), Some(m), Some(d)) if date_time => Some(format!("{y:04}-{m:02}-{d:02}T00:00:00Z")),
            (Some(y), Some(m), Some(d)) => Some(match shape {
                Some("mdy-") => format!("{m:02}-{d:02}-{y:04}"),
                Some("mdy/") => format!("{m:02}/{d:02}/{y:04}"),
                Some("dmy-") => format!("{d:02}-{m:02}-{y:04}"),
                Some("dmy/") => format!("{d:02}/{m:02}/{y:04}"),
                Some("dmy.") => format!("{d:02}.{m:02}.{y:04}"),
                Some("ymd/") => format!("{y:04}/{m:02}/{d:02}"),
                Some("ymd") => format!("{y:04}{m:02}{d:02}"),
                _ => format!("{y:04}-{m:02}-{d:02}"),
            }),
            (Some(y), Some(m), None) => Some(format!("{y:04}-{m:02}")),
            (Some(y), None, None) => Some(format!("{y:04}")),
            _ => None,
        }
    }
}

/// Which order and separator a text like `MM-DD-YYYY` or `(month-day-year)` names.
fn shape(wanted: &str) -> Option<&'static str> {
    let low = wanted.to_lowercase();
    let low = low.replace("month", "mm").replace("year", "yyyy").replace("day", "dd");
    for (mark, shape) in [
        ("mm-dd-yyy", "mdy-"),
        ("mm/dd/yyy", "mdy/"),
        ("dd-mm-yyy", "dmy-"),
        ("dd/mm/yyy", "dmy/"),
        ("dd.mm.yyy", "dmy."),
        ("yyyy/mm/dd", "ymd/"),
        ("yyyy-mm-dd", "ymd-"),
        ("yyyymmdd", "ymd"),
        ("mm-yyyy", "my"),
        ("%m-%d-%y", "mdy-"),
        ("%m/%d/%y", "mdy/"),
        ("%d/%m/%y", "dmy/"),
    ] {
        if low.contains(mark) {
            return Some(shape);
        }
    }
    None
}

fn read_now(now: &str) -> Option<(i32, u32, u32)> {
    let mut parts = now.get(..10)?.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Days since 1970-01-01 of the proleptic Gregorian calendar.
fn days_from_civil(year: i32, month: u32, day: u32) -> i64 {
    let (y, m) = (i64::from(year) - i64::from(month <= 2), i64::from(month));
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((m + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn from_days(days: i64) -> Date {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * of_year + 2) / 153;
    let day = of_year - (153 * m + 2) / 5 + 1;
    let month = if m < 10 { m + 3 } else { m - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Date {
        year: i32::try_from(year).ok(),
        month: u32::try_from(month).ok(),
        day: u32::try_from(day).ok(),
        relative: None,
    }
}
