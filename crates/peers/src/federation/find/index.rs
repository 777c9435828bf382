//! The index behind `find_tools`: the words of each tool with their weights, and a ranking by BM25F.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use tectum_core::ToolInfo;

use super::words::{QueryWord, stems, wanted};

/// The parts of a definition: its name, title and first sentence, the other sentences, the names of its
/// arguments, and what is said about these.
const PARTS: usize = 5;
/// The weight of a word in each part.
const WEIGHTS: [f64; PARTS] = [4.0, 2.0, 0.6, 0.7, 0.25];
/// The speed at which repeating a word stops counting (BM25's k1).
const SATURATION: f64 = 1.2;
/// The degree to which long parts are marked down (BM25's b).
const LENGTH: f64 = 0.5;
/// The weight of a word that begins with the wanted one, and of a word that means the same.
const LONGER: f64 = 0.5;
const RELATED: f64 = 0.4;
/// The levels of a schema that are read.
const DEEPEST: usize = 6;

/// Words, and the tools they are in with the weight they have there.
#[derive(Debug, Default)]
pub(super) struct Index {
    tools: usize,
    words: BTreeMap<String, Vec<(usize, f64)>>,
}

impl Index {
    pub(super) fn new<'t>(tools: impl Iterator<Item = &'t ToolInfo>) -> Self {
        let tools: Vec<[Vec<String>; PARTS]> = tools.map(parts).collect();
        let mut index = Self { tools: tools.len(), words: BTreeMap::new() };
        let mean = |part: usize| {
            let words: usize = tools.iter().map(|parts| parts[part].len()).sum();
            (words as f64 / tools.len() as f64).max(1.0)
        };
        let means: [f64; PARTS] = std::array::from_fn(mean);
        for (tool, parts) in tools.iter().enumerate() {
            let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
            for (part, words) in parts.iter().enumerate() {
                let length = 1.0 - LENGTH + LENGTH * words.len() as f64 / means[part];
                for word in words {
                    *weights.entry(word).or_default() += WEIGHTS[part] / length;
                }
            }
            for (word, weight) in weights {
                index.words.entry(word.to_owned()).or_default().push((tool, weight));
            }
        }
        index
    }

    /// The numbers of the best tools for a query; of equal ones the first.
    pub(super) fn search(&self, query: &str, limit: usize) -> Vec<usize> {
        let count = self.tools as f64;
        let (mut scores, mut whole): (HashMap<usize, (f64, f64)>, f64) = (HashMap::new(), 0.0);
        for wanted in wanted(query) {
            let places = self.places(&wanted);
            if places.is_empty() {
                continue;
            }
            let known = self.words.get(&wanted.word).map_or(places.len(), Vec::len) as f64;
            let rarity = wanted.share * (1.0 + (count - known + 0.5) / (known + 0.5)).ln();
            whole += rarity;
            for (tool, weight) in places {
                let (score, covered) = scores.entry(tool).or_default();
                *score += rarity * weight * (SATURATION + 1.0) / (weight + SATURATION);
                *covered += rarity;
            }
        }
        // A tool with something of every word is better than one with much of a single word.
        let score = |(score, covered): (f64, f64)| score * (covered / whole).sqrt();
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().map(|(tool, of)| (tool, score(of))).collect();
        ranked.sort_by(|(one, first), (other, second)| second.total_cmp(first).then(one.cmp(other)));
        ranked.into_iter().take(limit).map(|(tool, _)| tool).collect()
    }

    /// The tools with a word, a longer one or a related one, with the sum of their weights.
    fn places(&self, wanted: &QueryWord) -> BTreeMap<usize, f64> {
        let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
        for word in wanted.related {
            shares.insert(word, RELATED);
        }
        if wanted.word.len() >= 3 {
            let from = self.words.range(wanted.word.clone()..);
            for (longer, _) in from.take_while(|(known, _)| known.starts_with(&wanted.word)) {
                shares.insert(longer, LONGER);
            }
        }
        shares.insert(&wanted.word, 1.0);
        let mut places = BTreeMap::new();
        for (word, share) in shares {
            for (tool, weight) in self.words.get(word).into_iter().flatten() {
                *places.entry(*tool).or_default() += share * weight;
            }
        }
        places
    }
}

fn parts(info: &ToolInfo) -> [Vec<String>; PARTS] {
    let description = info.description.trim();
    let end = description.find(['\n']).unwrap_or(description.len());
    let sentence = [". ", "! ", "? "].iter().filter_map(|mark| description.find(mark)).min();
    let (first, others) = description.split_at(sentence.unwrap_or(end).min(end));
    let (mut names, mut said) = (Vec::new(), Vec::new());
    arguments(&info.input_schema, 0, &mut names, &mut said);
    // A server's name is often in the names of its tools too, and counts once.
    let name: BTreeSet<String> = stems(&info.name).into_iter().collect();
    let mut purpose = stems(&info.title);
    purpose.extend(stems(first));
    [name.into_iter().collect(), purpose, stems(others), names, said]
}

/// The words of a schema: names of arguments, and their descriptions and possible values.
fn arguments(schema: &Value, depth: usize, names: &mut Vec<String>, said: &mut Vec<String>) {
    if depth > DEEPEST {
        return;
    }
    let description = schema["description"].as_str().filter(|_| depth > 0);
    let values = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for text in description.into_iter().chain(values) {
        said.extend(stems(text));
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        names.extend(stems(name));
        arguments(inner, depth + 1, names, said);
    }
    for inner in ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema[*key].as_array()).flatten() {
        arguments(inner, depth + 1, names, said);
    }
    if schema["items"].is_object() {
        arguments(&schema["items"], depth + 1, names, said);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tectum_core::{Effect, ToolRole, World};

    use super::*;

    fn info(name: &str, description: &str, input_schema: Value) -> ToolInfo {
        ToolInfo {
            name: name.into(),
            title: String::new(),
            description: description.into(),
            input_schema: Arc::new(input_schema),
            output_schema: None,
            effect: Effect::Read,
            world: World::Project,
            idempotent: true,
            primary: String::new(),
            role: ToolRole::Usual,
            server: None,
            listed: false,
            observed: true,
        }
    }

    #[test]
    fn a_tool_is_found_by_its_words_and_by_others_that_mean_the_same() {
        let action = json!({"properties": {"action": {"enum": ["pause", "resume"]}}});
        let tools = [
            info("gh__create_issue", "Open a new issue in a repository", Value::Null),
            info("gh__list_issues", "List the issues of a repository", Value::Null),
            info("gh__get_user", "Facts about a person", Value::Null),
            info("db__runQuery", "Run SQL against the database of this repository", Value::Null),
            info("db__cluster", "Manages a cluster.\nIt may take minutes.", action),
            info("fs__delete_directory", "Deletes a directory. Lists nothing.", Value::Null),
        ];
        let index = Index::new(tools.iter());
        for (query, expect) in [
            ("create an issue", "gh__create_issue"),
            ("list issues", "gh__list_issues"),
            ("which issues are there", "gh__list_issues"),
            ("file a new bug", "gh__create_issue"),
            ("sql query", "db__runQuery"),
            ("who is this person", "gh__get_user"),
            ("the people and what they are: a person", "gh__get_user"),
            ("repo sql", "db__runQuery"),
            ("pausing", "db__cluster"),
            ("remove the folders", "fs__delete_directory"),
        ] {
            assert_eq!(&*tools[index.search(query, 1)[0]].name, expect, "{query}");
        }
        assert!(index.search("weather", 5).is_empty());
        assert!(index.search("", 5).is_empty());
        assert!(Index::new([].into_iter()).search("issue", 5).is_empty());
    }
}
