//! Understanding names the way people use them: any case, singular or plural, a few words for the same thing.

/// Words that stand for columns many tables have.
const SYNONYMS: [(&[&str], &[&str]); 7] = [
    (
        &["revenue", "sale", "turnover", "income", "earning", "money", "value", "total"],
        &["amount", "revenue", "total", "sales"],
    ),
    (&["unit", "piece", "item", "number", "copy", "volume"], &["quantity", "units", "count"]),
    (&["shop", "branch", "location", "outlet"], &["store", "shop", "location"]),
    (&["article", "item", "good", "drink"], &["product", "item"]),
    (&["type", "kind", "group"], &["category", "type", "kind"]),
    (&["day", "time", "when"], &["date", "day", "time"]),
    (&["cost", "price"], &["price", "cost"]),
];

/// The name among `names` that `wanted` means.
pub(crate) fn find<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let key = normal(wanted);
    if key.is_empty() {
        return None;
    }
    let exact =
        names.iter().find(|name| name.as_str() == wanted).or_else(|| names.iter().find(|name| normal(name) == key));
    let part = || {
        let mut parts = names.iter().filter(|name| words(name).contains(&key));
        // Only if it is not ambiguous: `id` in `store_id` and `product_id` is neither.
        parts.next().filter(|_| parts.next().is_none())
    };
    let meant = || synonyms(&key).find_map(|synonym| names.iter().find(|name| normal(name) == normal(synonym)));
    exact.or_else(part).or_else(meant).map(String::as_str)
}

fn synonyms(key: &str) -> impl Iterator<Item = &'static str> {
    let meant =
        SYNONYMS.iter().filter(move |(words, _)| words.contains(&key)).flat_map(|(_, columns)| columns.iter().copied());
    meant.collect::<Vec<_>>().into_iter()
}

/// Lower case, in the singular, without anything but letters and digits.
pub(crate) fn normal(name: &str) -> String {
    let words = words(name);
    words.concat()
}

/// The words of a text, lower case and in the singular.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| singular(&word.to_lowercase()))
        .collect()
}

fn singular(word: &str) -> String {
    let cut = |end: &str, with: &str| {
        word.strip_suffix(end).filter(|stem| stem.len() > 2).map(|stem| format!("{stem}{with}"))
    };
    if word.ends_with("ss") || word.ends_with("us") {
        return word.to_owned();
    }
    let shes =
        ["shes", "ches", "xes", "sses"].iter().find_map(|end| word.ends_with(end).then(|| cut("es", "")).flatten());
    cut("ies", "y").or(shes).or_else(|| cut("s", "")).unwrap_or_else(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_people_write_them() {
        let names: Vec<String> =
            ["Store Name", "categories", "amount", "quantity", "order_date"].map(str::to_owned).to_vec();
        for (wanted, found) in [
            ("store_name", Some("Store Name")),
            ("Category", Some("categories")),
            ("AMOUNT", Some("amount")),
            ("revenue", Some("amount")),
            ("units", Some("quantity")),
            ("date", Some("order_date")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(find(wanted, &names), found, "{wanted}");
        }
    }

    #[test]
    fn plurals_lose_their_ending() {
        for (plural, wanted) in
            [("stores", "store"), ("categories", "category"), ("boxes", "box"), ("glass", "glass"), ("bus", "bus")]
        {
            assert_eq!(singular(plural), wanted);
        }
    }
}
