//! Words as a search for tools compares them: split, without endings, and with others that mean the same.

use std::{collections::HashMap, sync::LazyLock};

/// Words of a question that say nothing about a tool.
const COMMON: &str = "a about all also an and any are as at be been but by can could did do does for from had has \
    have he her here him his how i if in into is it its just me may might more most much must my no not of off \
    on one only or other our out own please she should so some such than that the their them then there these \
    they this those to too up us very was we were what when where which who whose why will with would you your \
    take let want need use using help try again now every each everything";

/// Words that a question about something begins with: whoever asks wants to read, not to change.
const ASKING: &str = "who what which when where why how did do does is are was were has have can";
/// The words after `how` and `can` that begin a wish instead.
const WISHING: &str = "do can to could i you we";
/// Verbs of tools that change something. In a question they tell what happened: who *changed* it.
const CHANGING: &str = "create make new add insert build generate register write post open start begin delete \
    remove drop update edit change modify set alter adjust patch replace move send";

/// Words that people and tools use for the same thing, one group a line. A word may be in several.
const GROUPS: &[&str] = &[
    "create make new add insert build generate register write post",
    "create open start begin launch provision",
    "delete remove drop erase forget clear discard destroy purge",
    "uninstall remove delete",
    "get read show view display see retrieve fetch print list",
    "list show enumerate browse",
    "search find look query locate lookup discover",
    "update edit change modify set alter adjust patch replace",
    "move rename relocate",
    "copy duplicate clone fork",
    "send post tell notify write message",
    "reply answer respond",
    "run execute start launch trigger invoke exec perform",
    "stop end cancel abort terminate kill close quit",
    "rerun retry restart",
    "undo revert rollback restore reset back previous",
    "approve accept allow permit grant",
    "forbid deny restrict protect block prevent",
    "mute silence pause snooze",
    "resume continue unpause",
    "upload attach attachment add",
    "download export save",
    "import load ingest",
    "compare diff difference change",
    "count many number amount total",
    "check verify validate inspect scan audit lint",
    "status state check result pass fail health",
    "explain analyze cause reason why diagnose",
    "schedule plan cron recurring",
    "assign give owner assignee responsible",
    "resolve close finish complete done transition",
    "progress status state transition",
    "watch follow monitor subscribe track",
    "alert notify alarm warning",
    "reaction react emoji",
    "navigate go visit open browse",
    "summary summarize short overview outline",
    "merge combine join",
    "split divide break sub",
    "deploy publish release ship",
    "think reason thought reflect",
    "translate language convert",
    "convert transform turn",
    "calculate compute evaluate",
    "invite add member",
    "install setup",
    "connect login authenticate signin",
    "archive store backup",
    "enable activate",
    "disable deactivate",
    "toggle switch flag",
    "sort order rank",
    "filter match condition",
    "scale replica resize",
    "wait depend dependency",
    "folder directory path",
    "file document",
    "image picture photo screenshot",
    "video movie clip",
    "audio sound voice speech",
    "ticket issue bug task story card todo",
    "subtask child sub",
    "repository repo project codebase",
    "pull merge pr mr",
    "review approve feedback",
    "ci pipeline build workflow job check",
    "commit push change",
    "branch fork",
    "user person people member account",
    "team group organization",
    "contact customer client lead",
    "company organization business",
    "message chat text",
    "channel room conversation",
    "comment note remark annotation",
    "tag label category",
    "web website site internet online url",
    "url link address href",
    "page tab",
    "news article headline",
    "database db",
    "sql query select",
    "row record entry item",
    "document record entity",
    "column field property attribute",
    "sheet spreadsheet workbook tab",
    "formula calculate",
    "chart graph plot diagram",
    "error exception crash failure problem fail issue break",
    "incident outage downtime maintenance",
    "log output console trace",
    "metric usage performance statistic",
    "slow performance latency fast speed",
    "cpu memory metric usage",
    "container pod docker",
    "server host machine node instance",
    "cluster node kubernetes",
    "cloud hosted atlas",
    "place location map coordinate position",
    "address location street geocode",
    "route direction distance travel drive journey",
    "near nearby local around",
    "restaurant shop business place",
    "time clock date hour",
    "timezone zone",
    "documentation docs manual guide reference",
    "library package module dependency",
    "version release tag",
    "history log activity past",
    "audit history log",
    "blame author",
    "permission access right restriction role",
    "click press tap button",
    "type enter fill input",
    "form fill input field",
    "mobile phone device",
    "size big large length",
    "remember memory knowledge store",
    "entity person thing object",
    "relation relationship link connection",
    "fact observation knowledge",
    "paragraph block content section",
    "paper article publication research",
    "scientific research academic",
    "quote cite citation reference",
    "wiki confluence knowledge",
    "schema structure mapping field",
    "index mapping",
    "email mail inbox",
    "meeting event calendar appointment",
    "event occurrence error",
    "invoice bill payment",
    "pay payment charge refund",
    "price cost amount",
    "product item article",
    "order purchase",
    "subscription plan",
    "bucket storage object",
    "key value secret",
    "secret password credential token",
    "domain dns zone",
    "queue message topic",
    "color format style",
    "highlight format color",
    "test case spec",
    "flaky sometimes unstable intermittent",
    "template boilerplate",
    "request http network call",
    "javascript script js code",
    "script code program",
    "function method symbol",
    "design figma layout",
    "weather forecast temperature",
    "elevation height altitude",
    "associate link relate association",
];

/// For each word, without its ending, the others of its groups.
static RELATED: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut related: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS {
        let group: Vec<String> = group.split(' ').map(stem).collect();
        for word in &group {
            let known = related.entry(word.clone()).or_default();
            known.extend(group.iter().filter(|other| *other != word).cloned());
        }
    }
    for known in related.values_mut() {
        known.sort_unstable();
        known.dedup();
    }
    related
});

/// A word of a query, without its ending.
pub(super) struct QueryWord {
    pub(super) word: String,
    /// Its importance beside the others.
    pub(super) share: f64,
    /// Words that count for less than the word itself.
    pub(super) related: &'static [String],
}

/// The words of a query that tell something about a tool. A question also wants a tool that reads.
pub(super) fn wanted(query: &str) -> Vec<QueryWord> {
    /// The importance of reading in a question, small beside what it is about.
    const READING: f64 = 0.3;
    let is_in = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    let words = split(query);
    let second = words.get(1).map_or("", String::as_str);
    let asks = words.first().is_some_and(|first| {
        is_in(ASKING, first) && !(matches!(first.as_str(), "how" | "can") && is_in(WISHING, second))
    });
    let mut wanted: Vec<QueryWord> = Vec::new();
    for word in words.iter().filter(|word| !is_in(COMMON, word)) {
        let plain = stem(word);
        if wanted.iter().any(|known| known.word == plain) {
            continue;
        }
        let told = asks && CHANGING.split_ascii_whitespace().any(|verb| stem(verb) == plain);
        wanted.push(QueryWord { share: 1.0, related: if told { &[] } else { related(&plain) }, word: plain });
    }
    if asks && !wanted.is_empty() {
        wanted.push(QueryWord { word: stem("get"), share: READING, related: related(&stem("get")) });
    }
    wanted
}

fn related(word: &str) -> &'static [String] {
    RELATED.get(word).map_or(&[], Vec::as_slice)
}

/// The words of a text without their endings.
pub(super) fn stems(text: &str) -> Vec<String> {
    split(text).iter().map(|word| stem(word)).collect()
}

/// The words of a text in lower case: split at everything that is no letter or digit and inside of
/// camelCase. A single letter is no word.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut before_was_lower) = (Vec::new(), String::new(), false);
    for c in text.chars().chain([' ']) {
        if !c.is_alphanumeric() || (c.is_uppercase() && before_was_lower) {
            if word.chars().count() > 1 {
                words.push(std::mem::take(&mut word));
            }
            word.clear();
        }
        before_was_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// An English word without its ending, so that `staged`, `staging` and `stages` are one. The result need not
/// be a word; it only has to be the same for all forms.
fn stem(word: &str) -> String {
    const ENDINGS: [(&str, &str); 9] = [
        ("ization", "iz"),
        ("ation", "at"),
        ("ition", "it"),
        ("ment", ""),
        ("ness", ""),
        ("er", ""),
        ("or", ""),
        ("ion", ""),
        ("ly", ""),
    ];
    let mut word = word.to_owned();
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return word;
    }
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ["sses", "shes", "ches", "xes"].iter().any(|plural| word.ends_with(plural)) {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|singular| word.ends_with(singular)) {
        word.truncate(word.len() - 1);
    }
    let verb = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")).map(str::to_owned);
    if let Some(mut verb) = verb.filter(|verb| verb.len() >= 3 && verb.contains(is_vowel)) {
        // `stopped`, but not `called`.
        let mut last = verb.bytes().rev();
        let (last, before) = (last.next(), last.next());
        if verb.len() > 3 && last == before && !matches!(last, Some(b'l' | b's' | b'z')) {
            verb.pop();
        }
        word = verb;
    }
    for (ending, instead) in ENDINGS {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.len() >= 4) {
            word = format!("{rest}{instead}");
            break;
        }
    }
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    }
    if word.len() > 3 && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
    word
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_programmers_write_them() {
        assert_eq!(
            split("runQuery get_users HTTP2-class a"),
            ["run", "query", "get", "users", "http2", "class"]
        );
    }

    #[test]
    fn forms_of_a_word_are_one() {
        for forms in [
            &["stage", "staged", "staging", "stages"][..],
            &["directory", "directories"],
            &["stop", "stopped", "stopping"],
            &["create", "creates", "created", "creation"],
            &["branch", "branches"],
            &["status"],
            &["größe"],
        ] {
            for form in forms {
                assert_eq!(stem(form), stem(forms[0]), "{form}");
            }
        }
        assert_ne!(stem("status"), stem("state"));
    }

    #[test]
    fn a_question_wants_to_read_and_a_wish_does_not() {
        let words = |query| wanted(query).into_iter().map(|wanted| wanted.word).collect::<Vec<_>>();
        assert_eq!(words("who changed the file"), ["chang", "fil", "get"]);
        assert_eq!(words("how can I change a file"), ["chang", "fil"]);
        assert!(wanted("who changed the file")[0].related.is_empty());
        assert!(wanted("change the file")[0].related.contains(&stem("edit")));
        assert!(words("what is it").is_empty());
    }
}
