//! The parts that a definition takes along when it moves: its text under its new name, and the imports
//! it needs.

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Import, Mention, Outline, Reach, Role, Shadow, Span};

use super::{
    Opened,
    anchor::{after_imports, package_end},
    change::Edits,
    lookup::unparsed,
    modules::Module,
};

/// A definition on its way.
#[derive(Debug)]
pub(super) struct Carried {
    /// Its source, documentation included.
    pub(super) text: String,
    /// Its name where it goes.
    pub(super) name: String,
    /// Its name where it was.
    pub(super) old: String,
}

impl Carried {
    pub(super) fn find(
        ctx: &Ctx,
        opened: &Opened,
        outline: &Outline,
        index: u32,
        new_name: Option<&str>,
    ) -> Result<Self, Fault> {
        let symbol = &outline.symbols[index as usize];
        let old = symbol.name.slice(opened.text()).to_owned();
        let span = opened.with_doc(symbol);
        let source = opened.quoted(span);
        let name = match new_name.map(str::trim).filter(|name| !name.is_empty()) {
            None => return Ok(Self { text: source.to_owned(), name: old.clone(), old }),
            Some(name) => name.rsplit(['.', ':']).next().unwrap_or(name).to_owned(),
        };
        if !is_name(&name) {
            return Err(Fault::invalid(format!("dest_name is no name: {name}")));
        }
        // Its own name, and what it says about itself inside.
        let shift = span.end as usize - source.len();
        let mut text = source.to_owned();
        let shadows = opened.source.language().shadows(opened.text(), &old, &|| ctx.cancel.is_cancelled());
        let shadows = shadows.map_err(|why| unparsed(&opened.name, why))?;
        // What is bound anew inside means something else.
        let scope = |place: Span| Shadow::over(&shadows, place).map(|shadow| shadow.scope);
        let hidden = |place: Span| scope(place).is_some_and(|bound| scope(symbol.name) != Some(bound));
        let mut places: Vec<Span> = mentions(ctx, opened, opened.text(), &old)?
            .into_iter()
            .filter(|mention| is_plain(mention) && span.holds(mention.span))
            .filter(|mention| !hidden(mention.span))
            .map(|mention| mention.span)
            .collect();
        if !places.contains(&symbol.name) {
            places.push(symbol.name);
        }
        places.sort();
        for place in places.iter().rev() {
            text.replace_range(place.start as usize - shift..place.end as usize - shift, &name);
        }
        Ok(Self { text, name, old })
    }
}

pub(super) fn is_name(name: &str) -> bool {
    let first = |c: char| c == '_' || c == '~' || c == '$' || c.is_alphabetic();
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_alphanumeric() || c == '?' || c == '!')
}

/// True if a word is a name of its own: code, no member, and not the name of an argument.
fn is_plain(mention: &Mention) -> bool {
    mention.role.is_code() && !mention.member && mention.role != Role::Attribute
}

fn mentions(ctx: &Ctx, opened: &Opened, text: &str, word: &str) -> Result<Vec<Mention>, Fault> {
    let found = opened.source.language().mentions(text, word, &|| ctx.cancel.is_cancelled());
    found.map_err(|why| unparsed(&opened.name, why))
}

/// Imports that go along, and what could only be told.
#[derive(Debug, Default)]
pub(super) struct Needs {
    pub(super) edits: Edits,
    pub(super) notes: Vec<String>,
}

/// The imports that the moved code needs in its new file.
pub(super) fn needs(
    ctx: &Ctx,
    source: &Opened,
    outline: &Outline,
    index: u32,
    target: &Opened,
    there: &Outline,
    moved: &Carried,
) -> Result<Needs, Fault> {
    let mut needs = Needs::default();
    let uses = |word: &str| -> Result<bool, Fault> {
        if memchr::memmem::find(moved.text.as_bytes(), word.as_bytes()).is_none() {
            return Ok(false);
        }
        let found = mentions(ctx, source, &moved.text, word)?;
        let hides = source.source.language().shadows(&moved.text, word, &|| ctx.cancel.is_cancelled());
        let hides = hides.map_err(|why| unparsed(&source.name, why))?;
        let hidden = |place: Span| Shadow::over(&hides, place).is_some_and(|shadow| shadow.sure);
        Ok(found.iter().any(|mention| is_plain(mention) && !hidden(mention.span)))
    };
    let stop = || ctx.cancel.is_cancelled();
    let imports = |opened: &Opened| {
        opened.source.language().imports(opened.text(), &stop).map_err(|why| unparsed(&opened.name, why))
    };
    let known = imports(target)?;
    let mut statements: Vec<String> = Vec::new();
    for import in imports(source)? {
        let Some(local) = &import.local else { continue };
        let same = |other: &Import| {
            (&other.module, &other.name, &other.local) == (&import.module, &import.name, &import.local)
        };
        let itself = *local == moved.old || *local == moved.name;
        if itself || known.iter().any(same) {
            continue;
        }
        if source.source.language().pack().style.pragmas.contains(&import.module.as_str()) {
            // It must come first; in a file that has code already that is not for us to do.
            match statement(source, target, &import) {
                Some(line) if target.text().trim().is_empty() => statements.insert(0, line),
                _ => needs.notes.push(format!(
                    "Not fixed: {} imports {local} from {}, which changes how code is read; {} does not",
                    source.name, import.module, target.name
                )),
            }
            continue;
        }
        if !uses(local)? {
            continue;
        }
        if is_target(source, target, &import) {
            let defined =
                |name: &str| there.children(None).any(|(_, symbol)| symbol.name.slice(target.text()) == name);
            if !import.name.as_deref().is_some_and(|name| name == local && defined(name)) {
                needs.notes.push(format!(
                    "Not fixed: the moved code uses {local}, which {} imports from {}, where it is now; write there what it means",
                    source.name, target.name
                ));
            }
            continue;
        }
        let taken = known.iter().any(|other| other.local.as_ref() == Some(local))
            || there.children(None).any(|(_, symbol)| symbol.name.slice(target.text()) == local);
        match statement(source, target, &import) {
            Some(line) if !taken => {
                if !statements.contains(&line) {
                    needs.notes.push(format!("Import added to {}: {line}", target.name));
                    statements.push(line);
                }
            }
            _ => needs.notes.push(format!(
                "Not fixed: the moved code uses {local}, which {} takes from {}; import it in {} yourself",
                source.name, import.module, target.name
            )),
        }
    }
    let own = outline.symbols[index as usize];
    let mut told: Vec<&str> = Vec::new();
    for (at, symbol) in outline.children(None) {
        let name = symbol.name.slice(source.text());
        let itself = at == index || symbol.whole.holds(own.whole) || neighbours(source, &target.name);
        if itself || name.is_empty() || told.contains(&name) || name == moved.old || !uses(name)? {
            continue;
        }
        told.push(name);
        if known.iter().all(|import| import.local.as_deref() != Some(name))
            && there.children(None).all(|(_, other)| other.name.slice(target.text()) != name)
        {
            needs.notes.push(format!(
                "Not fixed: the moved code uses {name}, which is defined in {}; import it in {}",
                source.name, target.name
            ));
        }
    }
    if let Some(package) = package(source, target) {
        let clause = format!("{package}\n\n");
        needs.notes.push(format!("Begun {} with: {package}", target.name));
        let rest = statements.drain(..).map(|line| format!("{line}\n")).collect::<String>();
        needs.edits.push((0..0, format!("{clause}{rest}")));
    }
    if !statements.is_empty() {
        let offset = after_imports(ctx, target, there)?;
        let starts_line =
            target.text()[..offset].is_empty() || target.text()[..offset].ends_with(['\n', '\r']);
        let lead = if starts_line { "" } else { "\n" };
        needs.edits.push((offset..offset, format!("{lead}{}\n", statements.join("\n"))));
    }
    Ok(needs)
}

/// True if an import takes the target file, or something from it.
fn is_target(source: &Opened, target: &Opened, import: &Import) -> bool {
    let reach = source.source.language().pack().style.reach;
    let is = |module: Module| reach == Reach::Imported && module.is(&target.name, &source.name, reach);
    is(Module::read(&import.module, &source.name)) || is(Module::bound(import, &source.name, &[]))
}

/// The clause a new file of the same folder must begin with.
fn package<'s>(source: &'s Opened, target: &Opened) -> Option<&'s str> {
    if !target.text().trim().is_empty() || folder(source) != folder(target) {
        return None;
    }
    let end = package_end(source)?;
    let start = source.line_start(end - 1);
    Some(source.text()[start..end].trim_end())
}

fn folder(opened: &Opened) -> &str {
    opened.name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// True if the two files know each other's names without imports.
pub(super) fn neighbours(source: &Opened, target: &str) -> bool {
    let near = folder(source) == target.rsplit_once('/').map_or("", |(folder, _)| folder);
    source.source.language().pack().style.reach == Reach::Folder && near
}

/// The import as one statement for the target; none if it cannot be said there.
fn statement(source: &Opened, target: &Opened, import: &Import) -> Option<String> {
    let folder =
        |opened: &Opened| opened.name.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    // A relative import means another module from another folder.
    let relative = import.module.starts_with('.') || import.module.starts_with('"');
    if relative && folder(source) != folder(target) {
        return None;
    }
    if let Some(make) = source.source.language().pack().front.import_statement {
        return make(import);
    }
    // A statement of one name can be taken over as it stands.
    let written = import.span.slice(source.text()).trim();
    (!written.contains([',', '{', '\n'])).then(|| written.to_owned())
}
