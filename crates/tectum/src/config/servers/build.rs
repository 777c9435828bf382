//! From an entry to what the engine takes: variables filled in, paths made whole, bounds set.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use tectum_core::{Judgement, directives::NAMES};
use tectum_peers::spec::{EraChoice, Isolation, Launch, NewTools, Remote, Secret, ServerSpec, Transport};

use super::{
    super::{
        keys::Key,
        place::{Origin, Problem},
        value::Item,
    },
    Entry, address, keys,
    variables::{self, Scope},
};

/// The server an entry describes, or the first thing that keeps it from starting.
pub(super) fn spec(entry: &Entry, scope: Scope<'_>, generation: u64) -> Result<ServerSpec, Problem> {
    let filling = Filling { entry, scope };
    let transport = match entry.kind() {
        "stdio" => Transport::Stdio(filling.launch()?),
        "sse" => Transport::Sse(filling.remote()?),
        _ => Transport::Http(filling.remote()?),
    };
    let values = &entry.values;
    let mut spec = ServerSpec::new(entry.name.clone(), transport);
    let time = |key: &Key, usual: Duration| values.number(key).map_or(usual, Duration::from_millis);
    spec.start_timeout = time(&keys::START_TIMEOUT, spec.start_timeout);
    spec.timeout = time(&keys::TIMEOUT, spec.timeout);
    // Whoever allows a longer silence means that it may last that long.
    spec.most_timeout = time(&keys::MAX_TIMEOUT, spec.most_timeout.max(spec.timeout));
    let count = |key: &Key, usual: usize| {
        values.number(key).map_or(usual, |number| usize::try_from(number).unwrap_or(usize::MAX))
    };
    spec.concurrency = count(&keys::CONCURRENCY, spec.concurrency);
    spec.max_result = count(&keys::MAX_RESULT, spec.max_result);
    spec.rate = values.number(&keys::RATE).and_then(|rate| NonZeroU32::new(u32::try_from(rate).ok()?));
    spec.required = values.flag(&keys::REQUIRED).unwrap_or(false);
    spec.prefix = values.flag(&keys::PREFIX).unwrap_or(true);
    spec.include = texts(values.list(&keys::INCLUDE));
    spec.exclude = texts(values.list(&keys::EXCLUDE));
    spec.era = match values.word(&keys::ERA) {
        Some("legacy") => EraChoice::Legacy,
        Some("modern") => EraChoice::Modern,
        _ => EraChoice::Auto,
    };
    spec.isolation = match values.word(&keys::ISOLATION) {
        Some("per-client") => Isolation::PerClient,
        _ => Isolation::Shared,
    };
    spec.permission = match values.word(&keys::PERMISSION) {
        Some("ask") => Judgement::Ask,
        Some("deny") => Judgement::Deny,
        _ => Judgement::Allow,
    };
    spec.new_tools = match values.word(&keys::NEW_TOOLS) {
        Some("ask") => NewTools::Ask,
        _ => NewTools::Take,
    };
    if entry.values.get(&keys::DIRECTIVES).is_some() {
        spec.directives = filling.directives()?;
    }
    spec.generation = generation;
    Ok(spec)
}

fn texts(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| item.text.clone()).collect()
}

/// An entry while its variables are filled in.
struct Filling<'f> {
    entry: &'f Entry,
    scope: Scope<'f>,
}

impl Filling<'_> {
    fn launch(&self) -> Result<Launch, Problem> {
        let values = &self.entry.values;
        let items = values.list(&keys::COMMAND).iter().chain(values.list(&keys::ARGS));
        let mut argv = items.map(|item| self.item(item)).collect::<Result<Vec<String>, Problem>>()?;
        let origin = values.origin(&keys::COMMAND).unwrap_or(&self.entry.origin);
        if argv.first().is_none_or(|command| command.trim().is_empty()) {
            return Err(self.wrong(origin, "its command is empty", "name a program"));
        }
        let command = argv.remove(0);
        let command = if command.contains('/') {
            self.path(&command, &self.entry.source.base, origin)?
        } else {
            command
        };
        let mut env = self.table(&keys::ENV)?;
        for name in &self.entry.forward {
            if let Some(value) =
                self.scope.environment.get(&std::ffi::OsString::from(name)).and_then(|v| v.to_str())
            {
                env.entry(name.clone()).or_insert_with(|| Secret::new(value));
            }
        }
        let cwd = match values.get(&keys::CWD) {
            None => None,
            Some((_, origin)) => {
                let cwd = self.fill(values.word(&keys::CWD).unwrap_or_default(), origin)?;
                Some(PathBuf::from(self.path(&cwd, self.scope.directory, origin)?))
            }
        };
        Ok(Launch { command, args: argv, env, cwd })
    }

    fn directives(&self) -> Result<Vec<String>, Problem> {
        let items = self.entry.values.list(&keys::DIRECTIVES);
        if let Some(item) = items.iter().find(|item| !NAMES.contains(&item.text.as_str())) {
            let message = format!("`{}` is not a directive", item.text);
            return Err(self.wrong(&item.origin, &message, &format!("known: {}", NAMES.join(", "))));
        }
        Ok(texts(items))
    }

    fn remote(&self) -> Result<Remote, Problem> {
        let values = &self.entry.values;
        let origin = values.origin(&keys::URL).unwrap_or(&self.entry.origin);
        let url = self.fill(values.word(&keys::URL).unwrap_or_default(), origin)?;
        if !address::is_address(&url) {
            let hint = "write it as http://host/path or https://host/path";
            return Err(self.wrong(origin, "its `url` is not a URL", hint));
        }
        let headers = self.table(&keys::HEADERS)?;
        for (name, value) in &headers {
            if value.reveal().chars().any(|c| c.is_control() && c != '\t') {
                let message =
                    format!("the value of its header {name} holds a line break or a control character");
                return Err(self.wrong(
                    origin,
                    &message,
                    "remove it there, or from the variable it comes from",
                ));
            }
        }
        let client_secret = values.word(&keys::CLIENT_SECRET_ENV).map(|name| {
            let origin = values.origin(&keys::CLIENT_SECRET_ENV).unwrap_or(&self.entry.origin);
            self.fill(&format!("${{env:{name}}}"), origin).map(Secret::new)
        });
        let client_secret = client_secret.transpose()?;
        Ok(Remote {
            url,
            headers,
            scopes: texts(values.list(&keys::SCOPES)),
            client_id: values.word(&keys::CLIENT_ID).map(str::to_owned),
            client_secret,
        })
    }

    fn table(&self, key: &Key) -> Result<BTreeMap<String, Secret>, Problem> {
        let fields = self.entry.values.table(key).iter();
        fields.map(|(name, item)| Ok((name.clone(), Secret::new(self.item(item)?)))).collect()
    }

    fn item(&self, item: &Item) -> Result<String, Problem> {
        self.fill(&item.text, &item.origin)
    }

    fn fill(&self, text: &str, origin: &Origin) -> Result<String, Problem> {
        let filled = variables::fill(text, self.entry.source.dialect, self.scope)
            .map_err(|why| self.wrong(origin, &why.message, &why.hint))?;
        if filled.contains('\0') {
            return Err(self.wrong(origin, "a value contains a zero byte", "remove it"));
        }
        Ok(filled)
    }

    /// A path made whole: below home with `~/`, else from where the file's paths start.
    fn path(&self, text: &str, base: &Path, origin: &Origin) -> Result<String, Problem> {
        let path = match (text.strip_prefix("~/"), self.scope.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) => {
                return Err(self.wrong(
                    origin,
                    "a path begins with `~/` and HOME is not set",
                    "write an absolute path",
                ));
            }
            (None, _) => base.join(text),
        };
        let path: PathBuf = path.components().collect();
        path.into_os_string()
            .into_string()
            .map_err(|_| self.wrong(origin, "a path is not UTF-8", "use a directory with a name in UTF-8"))
    }

    fn wrong(&self, origin: &Origin, message: &str, hint: &str) -> Problem {
        Problem::new(origin.clone(), format!("server `{}`: {message}", self.entry.name)).hint(hint)
    }
}
