//! General word lists: stop words, months, units, currencies, places, colours. Nothing here is about one tool.

#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "is", "are", "was", "were", "be", "been",
    "being", "am", "it", "its", "this", "that", "these", "those", "i", "me", "my", "we", "us", "our", "you", "your", "he", "she", "they",
    "them", "his", "her", "their", "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "do", "does", "did", "can",
    "could", "would", "should", "will", "shall", "may", "might", "must", "have", "has", "had", "as", "if", "than", "then", "there", "here",
    "so", "such", "some", "any", "each", "every", "into", "about", "over", "under", "between", "during", "please", "also", "just", "not",
    "no", "s", "t", "d", "ll", "re", "ve", "m", "don", "using", "use", "want", "need", "like", "give", "given", "let", "via", "per",
    "within", "without", "up", "out", "off", "both", "only", "own", "too", "very", "much", "many", "more", "most", "get", "got", "help",
    "ll", "etc", "e.g", "eg", "ie", "i.e", "whether", "while", "because", "until", "after", "before", "e", "g",
];

/// Words that carry no meaning of their own in a question or a description.
pub(super) fn is_stop(word: &str) -> bool {
    STOP.contains(&word)
}

#[rustfmt::skip]
const IMPERATIVE: &[&str] = &[
    "find", "get", "show", "calculate", "compute", "determine", "give", "tell", "search", "list", "fetch", "retrieve", "generate", "create",
    "make", "book", "order", "plan", "predict", "analyze", "analyse", "convert", "check", "look", "estimate", "evaluate", "identify",
    "provide", "update", "change", "modify", "add", "remove", "delete", "set", "run", "perform", "solve", "translate", "play", "compose",
    "mix", "draw", "draft", "write", "read", "send", "schedule", "compare", "sort", "filter", "count", "sum", "locate", "recommend",
    "suggest", "discover", "explain", "describe", "summarize", "simulate", "train", "build", "design", "buy", "sell", "purchase", "rent",
    "reserve", "shuffle", "roll", "flip", "use", "apply", "obtain", "display", "return", "lookup", "select", "query", "extract", "verify",
    "print", "open", "move", "start", "stop", "turn", "put", "take", "help", "please", "let", "need", "want", "know", "like", "see", "can",
    "could", "would", "assuming", "suppose", "say", "transfer", "upload", "download", "remind", "call", "begin", "include", "exclude",
    "consider", "assume", "considering", "given", "i'm", "i'd", "i've", "what's", "who's", "where's", "how's", "don't", "it's", "let's",
];

/// Verbs that open a request, which say what to do and are rarely an input themselves.
pub(super) fn is_imperative(word: &str) -> bool {
    IMPERATIVE.contains(&word)
}

pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
pub(super) const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The month of a name or its abbreviation, from 1.
pub(super) fn month(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.');
    let at = MONTHS.iter().position(|m| {
        *m == word || (word.len() == 3 && m.starts_with(word)) || (word == "sept" && *m == "september")
    })?;
    u32::try_from(at + 1).ok()
}

/// Unit words: spelling, dimension, factor to the dimension's base unit.
#[rustfmt::skip]
const UNITS: &[(&str, &str, f64)] = &[
    ("m", "length", 1.0), ("meter", "length", 1.0), ("metre", "length", 1.0), ("km", "length", 1e3), ("kilometer", "length", 1e3),
    ("kilometre", "length", 1e3), ("kms", "length", 1e3), ("cm", "length", 0.01), ("centimeter", "length", 0.01), ("centimetre", "length", 0.01),
    ("mm", "length", 1e-3), ("millimeter", "length", 1e-3), ("millimetre", "length", 1e-3), ("mile", "length", 1609.344), ("mi", "length", 1609.344),
    ("foot", "length", 0.3048), ("feet", "length", 0.3048), ("ft", "length", 0.3048), ("inch", "length", 0.0254), ("inches", "length", 0.0254),
    ("yard", "length", 0.9144), ("yd", "length", 0.9144), ("nm", "length", 1e-9), ("nanometer", "length", 1e-9), ("µm", "length", 1e-6), ("micrometer", "length", 1e-6),
    ("kg", "mass", 1.0), ("kilogram", "mass", 1.0), ("kgs", "mass", 1.0), ("kilo", "mass", 1.0), ("g", "mass", 1e-3), ("gram", "mass", 1e-3),
    ("mg", "mass", 1e-6), ("milligram", "mass", 1e-6), ("pound", "mass", 0.453_592_37), ("lb", "mass", 0.453_592_37), ("lbs", "mass", 0.453_592_37),
    ("ounce", "mass", 0.028_349_523), ("oz", "mass", 0.028_349_523), ("ton", "mass", 1e3), ("tonne", "mass", 1e3),
    ("second", "time", 1.0), ("sec", "time", 1.0), ("s", "time", 1.0), ("ms", "time", 1e-3), ("millisecond", "time", 1e-3), ("minute", "time", 60.0),
    ("min", "time", 60.0), ("mins", "time", 60.0), ("hour", "time", 3600.0), ("hr", "time", 3600.0), ("hrs", "time", 3600.0), ("h", "time", 3600.0),
    ("day", "time", 86_400.0), ("night", "time", 86_400.0), ("week", "time", 604_800.0), ("month", "time", 2_629_746.0), ("year", "time", 31_556_952.0), ("yr", "time", 31_556_952.0),
    ("decade", "time", 315_569_520.0), ("°c", "temp", 1.0), ("celsius", "temp", 1.0), ("°f", "temp", 2.0), ("fahrenheit", "temp", 2.0), ("kelvin", "temp", 3.0),
    ("k", "temp", 3.0), ("c", "temp", 1.0), ("f", "temp", 2.0), ("degree", "angle", 1.0), ("°", "angle", 1.0), ("radian", "angle", 57.295_779_513), ("rad", "angle", 57.295_779_513),
    ("dollar", "money", 1.0), ("usd", "money", 1.0), ("euro", "money", 1.0), ("eur", "money", 1.0), ("buck", "money", 1.0), ("yen", "money", 1.0), ("rupee", "money", 1.0), ("cent", "money", 0.01),
    ("gbp", "money", 1.0), ("jpy", "money", 1.0), ("cad", "money", 1.0), ("aud", "money", 1.0), ("inr", "money", 1.0), ("cny", "money", 1.0), ("chf", "money", 1.0), ("franc", "money", 1.0), ("peso", "money", 1.0),
    ("percent", "percent", 1.0), ("percentage", "percent", 1.0), ("pct", "percent", 1.0), ("%", "percent", 1.0),
    ("hz", "frequency", 1.0), ("hertz", "frequency", 1.0), ("khz", "frequency", 1e3), ("mhz", "frequency", 1e6), ("ghz", "frequency", 1e9),
    ("n", "force", 1.0), ("newton", "force", 1.0), ("kn", "force", 1e3), ("j", "energy", 1.0), ("joule", "energy", 1.0), ("kj", "energy", 1e3), ("kwh", "energy", 3.6e6), ("calorie", "energy", 4.184), ("cal", "energy", 4.184), ("kcal", "energy", 4184.0),
    ("w", "power", 1.0), ("watt", "power", 1.0), ("kw", "power", 1e3), ("kilowatt", "power", 1e3), ("mw", "power", 1e6), ("horsepower", "power", 745.7), ("hp", "power", 745.7),
    ("pa", "pressure", 1.0), ("pascal", "pressure", 1.0), ("kpa", "pressure", 1e3), ("atm", "pressure", 101_325.0), ("atmosphere", "pressure", 101_325.0), ("bar", "pressure", 1e5), ("psi", "pressure", 6894.76),
    ("coulomb", "charge", 1.0), ("ampere", "current", 1.0), ("amp", "current", 1.0), ("a", "current", 1.0), ("ma", "current", 1e-3), ("milliampere", "current", 1e-3),
    ("v", "voltage", 1.0), ("volt", "voltage", 1.0), ("kv", "voltage", 1e3), ("mv", "voltage", 1e-3), ("ohm", "resistance", 1.0), ("ω", "resistance", 1.0), ("kω", "resistance", 1e3),
    ("farad", "capacitance", 1.0), ("µf", "capacitance", 1e-6), ("μf", "capacitance", 1e-6), ("uf", "capacitance", 1e-6), ("nf", "capacitance", 1e-9), ("pf", "capacitance", 1e-12), ("microfarad", "capacitance", 1e-6),
    ("henry", "inductance", 1.0), ("henries", "inductance", 1.0), ("mh", "inductance", 1e-3), ("µh", "inductance", 1e-6), ("μh", "inductance", 1e-6), ("millihenry", "inductance", 1e-3), ("tesla", "field", 1.0),
    ("liter", "volume", 1e-3), ("litre", "volume", 1e-3), ("l", "volume", 1e-3), ("ml", "volume", 1e-6), ("milliliter", "volume", 1e-6), ("gallon", "volume", 3.785e-3), ("cup", "volume", 2.366e-4), ("tablespoon", "volume", 1.479e-5), ("teaspoon", "volume", 4.929e-6), ("tbsp", "volume", 1.479e-5), ("tsp", "volume", 4.929e-6), ("pint", "volume", 4.73e-4), ("quart", "volume", 9.46e-4),
    ("acre", "area", 4046.86), ("hectare", "area", 1e4), ("sqft", "area", 0.092_903), ("sq.ft", "area", 0.092_903), ("sq.m", "area", 1.0), ("mph", "speed", 0.447_04), ("kmh", "speed", 0.277_78), ("kph", "speed", 0.277_78), ("knot", "speed", 0.514_44), ("mpg", "efficiency", 1.0),
    ("byte", "data", 1.0), ("kb", "data", 1e3), ("mb", "data", 1e6), ("gb", "data", 1e9), ("tb", "data", 1e12), ("bpm", "tempo", 1.0), ("px", "pixels", 1.0), ("pixel", "pixels", 1.0), ("mole", "amount", 1.0), ("mol", "amount", 1.0), ("decibel", "sound", 1.0), ("db", "sound", 1.0),
];

/// Dimension and factor of a unit word, plural or not.
pub(super) fn unit(word: &str) -> Option<(&'static str, f64)> {
    let found = |w: &str| UNITS.iter().find(|u| u.0 == w).map(|u| (u.1, u.2));
    found(word).or_else(|| word.strip_suffix('s').filter(|w| w.len() > 2).and_then(found))
}

/// Nouns that name a quantity, with its dimension.
#[rustfmt::skip]
const QUANTITIES: &[(&str, &str)] = &[
    ("distance", "length"), ("length", "length"), ("height", "length"), ("width", "length"), ("radius", "length"), ("diameter", "length"), ("depth", "length"), ("side", "length"),
    ("altitude", "length"), ("elevation", "length"), ("wavelength", "length"), ("thickness", "length"), ("weight", "mass"), ("mass", "mass"), ("time", "time"), ("duration", "time"), ("period", "time"),
    ("age", "time"), ("temperature", "temp"), ("temp", "temp"), ("price", "money"), ("cost", "money"), ("amount", "money"), ("budget", "money"), ("fee", "money"), ("salary", "money"), ("income", "money"),
    ("investment", "money"), ("invested", "money"), ("principal", "money"), ("deposit", "money"), ("revenue", "money"), ("loan", "money"), ("payment", "money"), ("payout", "money"), ("asset", "money"), ("liability", "money"), ("equity", "money"),
    ("profit", "money"), ("dividend", "money"), ("expense", "money"), ("contribution", "money"), ("balance", "money"), ("earnings", "money"), ("money", "money"), ("wage", "money"), ("rent", "money"), ("tip", "money"),
    ("rate", "percent"), ("percentage", "percent"), ("probability", "percent"), ("interest", "percent"), ("yield", "percent"), ("discount", "percent"), ("tax", "percent"), ("humidity", "percent"), ("confidence", "percent"), ("frequency", "frequency"),
    ("speed", "speed"), ("velocity", "speed"), ("acceleration", "acceleration"), ("gravity", "acceleration"), ("area", "area"), ("volume", "volume"), ("angle", "angle"), ("charge", "charge"), ("current", "current"),
    ("voltage", "voltage"), ("resistance", "resistance"), ("capacitance", "capacitance"), ("inductance", "inductance"), ("force", "force"), ("energy", "energy"), ("power", "power"), ("pressure", "pressure"), ("tempo", "tempo"), ("efficiency", "efficiency"), ("density", "density"),
];

pub(super) fn quantity(word: &str) -> Option<&'static str> {
    let found = |w: &str| QUANTITIES.iter().find(|q| q.0 == w).map(|q| q.1);
    found(word).or_else(|| word.strip_suffix('s').and_then(found))
}

#[rustfmt::skip]
const CURRENCIES: &[(&str, &str)] = &[
    ("us dollar", "USD"), ("american dollar", "USD"), ("canadian dollar", "CAD"), ("australian dollar", "AUD"), ("new zealand dollar", "NZD"), ("singapore dollar", "SGD"),
    ("hong kong dollar", "HKD"), ("british pound", "GBP"), ("pound sterling", "GBP"), ("japanese yen", "JPY"), ("indian rupee", "INR"), ("swiss franc", "CHF"), ("chinese yuan", "CNY"),
    ("mexican peso", "MXN"), ("brazilian real", "BRL"), ("south korean won", "KRW"), ("russian ruble", "RUB"), ("turkish lira", "TRY"), ("swedish krona", "SEK"), ("norwegian krone", "NOK"), ("danish krone", "DKK"),
    ("polish zloty", "PLN"), ("dollar", "USD"), ("euro", "EUR"), ("pound", "GBP"), ("yen", "JPY"), ("rupee", "INR"), ("franc", "CHF"), ("yuan", "CNY"), ("peso", "MXN"), ("bitcoin", "BTC"),
];
#[rustfmt::skip]
const CURRENCY_CODES: &[&str] = &[
    "USD", "EUR", "GBP", "JPY", "CAD", "AUD", "NZD", "INR", "CHF", "CNY", "MXN", "BRL", "KRW", "RUB", "TRY", "SEK", "NOK", "DKK", "PLN", "SGD", "HKD", "ZAR", "BTC", "ETH", "THB", "CZK", "HUF", "ILS", "AED",
];

/// The ISO code of a currency's name (lower case, singular or plural) or of the code itself.
pub(super) fn currency(name: &str) -> Option<&'static str> {
    let upper = name.to_uppercase();
    if let Some(code) = CURRENCY_CODES.iter().find(|c| **c == upper) {
        return Some(code);
    }
    let found = |n: &str| CURRENCIES.iter().find(|c| c.0 == n).map(|c| c.1);
    found(name).or_else(|| name.strip_suffix('s').and_then(found))
}

#[rustfmt::skip]
const COUNTRIES: &[&str] = &[
    "afghanistan", "albania", "algeria", "argentina", "armenia", "australia", "austria", "bangladesh", "belarus", "belgium", "bolivia", "bosnia", "brazil", "bulgaria", "cambodia", "cameroon", "canada", "chile",
    "china", "colombia", "costa rica", "croatia", "cuba", "cyprus", "czech republic", "czechia", "denmark", "ecuador", "egypt", "england", "estonia", "ethiopia", "finland", "france", "georgia", "germany", "ghana", "greece",
    "guatemala", "hungary", "iceland", "india", "indonesia", "iran", "iraq", "ireland", "israel", "italy", "jamaica", "japan", "jordan", "kazakhstan", "kenya", "kuwait", "latvia", "lebanon", "libya", "lithuania",
    "luxembourg", "malaysia", "malta", "mexico", "mongolia", "morocco", "nepal", "netherlands", "new zealand", "nigeria", "north korea", "norway", "oman", "pakistan", "panama", "paraguay", "peru", "philippines", "poland",
    "portugal", "qatar", "romania", "russia", "saudi arabia", "scotland", "senegal", "serbia", "singapore", "slovakia", "slovenia", "south africa", "south korea", "spain", "sri lanka", "sudan", "sweden", "switzerland",
    "syria", "taiwan", "tanzania", "thailand", "tunisia", "turkey", "uganda", "uk", "ukraine", "united arab emirates", "united kingdom", "united states", "united states of america", "uruguay", "us", "usa", "u.s", "u.s.", "u.s.a.", "venezuela", "vietnam",
    "wales", "zambia", "zimbabwe",
];
#[rustfmt::skip]
const STATES: &[(&str, &str)] = &[
    ("alabama", "al"), ("alaska", "ak"), ("arizona", "az"), ("arkansas", "ar"), ("california", "ca"), ("colorado", "co"), ("connecticut", "ct"), ("delaware", "de"), ("florida", "fl"), ("georgia", "ga"), ("hawaii", "hi"),
    ("idaho", "id"), ("illinois", "il"), ("indiana", "in"), ("iowa", "ia"), ("kansas", "ks"), ("kentucky", "ky"), ("louisiana", "la"), ("maine", "me"), ("maryland", "md"), ("massachusetts", "ma"), ("michigan", "mi"),
    ("minnesota", "mn"), ("mississippi", "ms"), ("missouri", "mo"), ("montana", "mt"), ("nebraska", "ne"), ("nevada", "nv"), ("new hampshire", "nh"), ("new jersey", "nj"), ("new mexico", "nm"), ("new york", "ny"),
    ("north carolina", "nc"), ("north dakota", "nd"), ("ohio", "oh"), ("oklahoma", "ok"), ("oregon", "or"), ("pennsylvania", "pa"), ("rhode island", "ri"), ("south carolina", "sc"), ("south dakota", "sd"),
    ("tennessee", "tn"), ("texas", "tx"), ("utah", "ut"), ("vermont", "vt"), ("virginia", "va"), ("washington", "wa"), ("west virginia", "wv"), ("wisconsin", "wi"), ("wyoming", "wy"), ("d.c.", "dc"), ("ontario", "on"), ("quebec", "qc"),
];

pub(super) fn is_country(name: &str) -> bool {
    COUNTRIES.contains(&name)
}

/// A state's name, or its two letters in capitals.
pub(super) fn is_state(name: &str) -> bool {
    let low = name.to_lowercase();
    STATES.iter().any(|s| s.0 == low || (s.1 == low && name.chars().all(char::is_uppercase)))
}

#[rustfmt::skip]
const LANGUAGES: &[&str] = &[
    "english", "french", "spanish", "german", "italian", "portuguese", "dutch", "russian", "chinese", "mandarin", "cantonese", "japanese", "korean", "arabic", "hindi", "bengali", "urdu", "turkish", "polish", "swedish",
    "norwegian", "danish", "finnish", "greek", "hebrew", "latin", "thai", "vietnamese", "czech", "hungarian", "romanian", "ukrainian", "persian", "swahili", "indonesian", "malay",
];

pub(super) fn is_language(word: &str) -> bool {
    LANGUAGES.contains(&word)
}

#[rustfmt::skip]
const COLOURS: &[&str] = &[
    "red", "green", "blue", "yellow", "orange", "purple", "pink", "brown", "black", "white", "gray", "grey", "cyan", "magenta", "violet", "indigo", "turquoise", "teal", "gold", "silver", "beige", "maroon", "navy", "lime",
];

pub(super) fn is_colour(word: &str) -> bool {
    COLOURS.contains(&word)
}

/// Ways to say what an enum names with one of the words on the right.
#[rustfmt::skip]
const SYNONYMS: &[(&str, &[&str])] = &[
    ("average", &["mean", "avg"]), ("avg", &["mean", "average"]), ("mean", &["average", "avg"]), ("total", &["sum"]), ("sum", &["total"]), ("how many", &["count"]), ("number of", &["count"]),
    ("highest", &["max", "maximum", "desc", "descending"]), ("largest", &["max", "maximum", "desc", "descending"]), ("biggest", &["max", "maximum"]), ("maximum", &["max"]), ("max", &["maximum"]), ("lowest", &["min", "minimum", "asc", "ascending"]),
    ("smallest", &["min", "minimum", "asc", "ascending"]), ("minimum", &["min"]), ("min", &["minimum"]), ("cheapest", &["min", "minimum"]), ("most expensive", &["max", "maximum"]), ("oldest", &["asc", "ascending"]), ("newest", &["desc", "descending"]), ("latest", &["desc", "descending"]),
    ("ascending", &["asc"]), ("descending", &["desc"]), ("increasing", &["asc", "ascending"]), ("decreasing", &["desc", "descending"]), ("alphabetical", &["asc", "ascending"]), ("annual", &["yearly", "annually"]), ("annually", &["yearly", "annual"]), ("yearly", &["annually", "annual"]),
    ("each month", &["monthly"]), ("per month", &["monthly"]), ("each year", &["yearly", "annually"]), ("per year", &["yearly", "annually"]), ("each day", &["daily"]), ("per day", &["daily"]), ("each week", &["weekly"]), ("every week", &["weekly"]),
    ("every day", &["daily"]), ("every month", &["monthly"]), ("weekend", &["weekend"]), ("man", &["male"]), ("woman", &["female"]), ("men", &["male"]), ("women", &["female"]), ("boy", &["male"]), ("girl", &["female"]), ("most", &["sum", "total"]), ("carbs", &["carbohydrates"]),
    ("greater than", &[">", "gt"]), ("more than", &[">", "gt"]), ("less than", &["<", "lt"]), ("plus", &["add", "addition"]), ("minus", &["subtract"]), ("times", &["multiply"]), ("divided by", &["divide"]), ("bike", &["bicycling", "cycling", "bicycle"]), ("car", &["driving"]), ("foot", &["walking"]), ("celsius", &["metric", "c"]), ("fahrenheit", &["imperial", "f"]),
];

pub(super) fn synonym_phrases() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    SYNONYMS.iter().copied()
}

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: [&str; 13] = [
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
];

/// The value of a small number word: `seven`, `forty`, `dozen`, `couple`.
pub(super) fn number_word(word: &str) -> Option<u32> {
    if let Some(at) = ONES.iter().position(|o| *o == word) {
        return u32::try_from(at).ok();
    }
    if let Some(at) = TENS.iter().position(|t| *t == word) {
        return u32::try_from(at * 10 + 20).ok();
    }
    if let Some((tens, ones)) = word.split_once('-') {
        let tens = TENS.iter().position(|t| *t == tens)?;
        let ones = ONES.iter().take(10).position(|o| *o == ones)?;
        return u32::try_from(tens * 10 + 20 + ones).ok();
    }
    match word {
        "dozen" => Some(12),
        "couple" => Some(2),
        "twice" => Some(2),
        _ => None,
    }
}

pub(super) fn ordinal_word(word: &str) -> Option<u32> {
    ORDINALS.iter().position(|o| *o == word).and_then(|at| u32::try_from(at).ok())
}

/// What a magnitude word multiplies by.
pub(super) fn magnitude(word: &str) -> Option<f64> {
    match word {
        "hundred" => Some(1e2),
        "thousand" => Some(1e3),
        "million" | "mln" | "mn" => Some(1e6),
        "billion" | "bn" => Some(1e9),
        "trillion" => Some(1e12),
        _ => None,
    }
}
