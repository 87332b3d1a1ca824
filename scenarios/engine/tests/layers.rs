//! The engine's order: which package may import which, that what owns data hides it, and how long a
//! file may be; how long functions may be clippy says. Of every crate: that no circle of files is
//! large, and that no struct has or does too much.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Packages, and those that each may import. Whatever stands above them lends what stands below.
const PACKAGES: [(&str, &[&str]); 10] = [
    ("ids", &[]),
    ("plan", &[]),
    ("layout", &["ids", "plan"]),
    ("integrity", &["ids", "layout"]),
    ("state", &["ids", "plan", "layout", "integrity"]),
    ("path", &["ids", "plan", "layout", "integrity", "state"]),
    (
        "host",
        &["ids", "plan", "layout", "integrity", "state", "path"],
    ),
    (
        "raid",
        &["ids", "plan", "layout", "integrity", "state", "path"],
    ),
    (
        "ssd_cache",
        &[
            "ids",
            "plan",
            "layout",
            "integrity",
            "state",
            "path",
            "raid",
        ],
    ),
    (
        "run",
        &[
            "ids",
            "plan",
            "layout",
            "integrity",
            "state",
            "path",
            "host",
            "raid",
            "ssd_cache",
        ],
    ),
];
/// Files that import each other, at most.
const CIRCLE: usize = 2;
const FILE_LINES: usize = 600;
/// Methods of a struct, over all its files.
const METHODS: usize = 40;
/// Fields of a struct.
const FIELDS: usize = 32;
/// The crates of the workspace, from the engine.
const CRATES: [&str; 9] = [
    ".",
    "../binding",
    "../jobs",
    "../traces",
    "../../devices/io",
    "../../devices/models",
    "../../sim/kernel",
    "../../calibration/collector",
    "../../calibration/fio_bridge",
];
/// Where structs own data that no other file may change.
const OWNERS: [&str; 2] = ["raid/", "path/loads/"];

/// A file of `src`: its module path and its code without comments and tests.
struct Source {
    file: String,
    module: Vec<String>,
    code: String,
    lines: usize,
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources are readable") {
        let path = entry.expect("the sources are readable").path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            into.push(path);
        }
    }
}

/// The engine's own.
fn sources() -> Vec<Source> {
    sources_of(".")
}

/// Those of a crate.
fn sources_of(crate_folder: &str) -> Vec<Source> {
    let root = (Path::new(env!("CARGO_MANIFEST_DIR")).join(crate_folder)).join("src");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a source is text");
        let name = path.strip_prefix(&root).expect("a source lies in src");
        let file = name.to_string_lossy().replace('\\', "/");
        let mut module: Vec<String> = file
            .trim_end_matches(".rs")
            .split('/')
            .map(str::to_owned)
            .collect();
        if module
            .last()
            .is_some_and(|last| ["mod", "lib", "main"].contains(&&last[..]))
        {
            module.pop();
        }
        Source {
            code: code_of(&text),
            lines: text.lines().count(),
            file,
            module,
        }
    };
    paths
        .into_iter()
        .map(read)
        .filter(|source| !source.module.iter().any(|part| part == "tests"))
        .collect()
}

/// A text up to its tests, without comments.
fn code_of(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines();
    let code = lines.map(|line| line.split("//").next().unwrap_or(""));
    code.collect::<Vec<_>>().join("\n")
}

/// Every path that begins with `crate::` or `super::` in a source, as a module path.
fn imports(source: &Source) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for word in source
        .code
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
    {
        let parts: Vec<&str> = word.split("::").collect();
        let mut base = match parts[0] {
            "crate" => Vec::new(),
            // Alone it is a visibility.
            "super" if parts.len() > 1 => source.module.clone(),
            _ => continue,
        };
        for part in parts.iter().skip(usize::from(parts[0] == "crate")) {
            match *part {
                "super" => {
                    base.pop();
                }
                "" => {}
                name => base.push(name.to_owned()),
            }
        }
        found.push(base);
    }
    found
}

#[test]
fn packages_import_what_stands_below_them() {
    let order: BTreeMap<&str, &[&str]> = PACKAGES.into();
    let mut breaches = Vec::new();
    for source in sources() {
        let Some(own) = source.module.first() else {
            continue;
        };
        let Some(allowed) = order.get(own.as_str()) else {
            breaches.push(format!("{} belongs to no package", source.file));
            continue;
        };
        for import in imports(&source) {
            let Some(package) = import.first() else {
                continue;
            };
            let known = order.contains_key(package.as_str());
            if known && package != own && !allowed.contains(&package.as_str()) {
                breaches.push(format!("{} imports {}", source.file, import.join("::")));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn no_circle_of_files_is_large() {
    for folder in CRATES {
        check_circles(&sources_of(folder));
    }
}

fn check_circles(sources: &[Source]) {
    let by_module: BTreeMap<&[String], usize> = (sources.iter().enumerate())
        .map(|(index, source)| (&source.module[..], index))
        .collect();
    // The file of the longest known beginning of a path.
    let file_of = |path: &[String]| {
        let mut lengths = (1..=path.len()).rev();
        lengths.find_map(|length| by_module.get(&path[..length]).copied())
    };
    let reached: Vec<BTreeSet<usize>> = (0..sources.len())
        .map(|start| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(at) = open.pop() {
                for import in imports(&sources[at]) {
                    if let Some(next) = file_of(&import)
                        && next != at
                        && seen.insert(next)
                    {
                        open.push(next);
                    }
                }
            }
            seen
        })
        .collect();
    for (index, source) in sources.iter().enumerate() {
        let circle: Vec<&str> = (0..sources.len())
            .filter(|other| reached[index].contains(other) && reached[*other].contains(&index))
            .map(|other| sources[other].file.as_str())
            .collect();
        assert!(
            circle.len() <= CIRCLE,
            "{} is in a circle: {circle:?}",
            source.file
        );
    }
}

#[test]
fn only_run_knows_all_owners() {
    for source in sources() {
        let in_run = source.module.first().is_some_and(|first| first == "run");
        assert!(
            in_run || !source.code.contains("impl System"),
            "{}",
            source.file
        );
    }
}

/// The type that a line begins to implement, if it does.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generic) => generic.split_once('>')?.1,
        None => rest,
    };
    let rest = rest.split_once(" for ").map_or(rest, |(_, own)| own);
    rest.trim()
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
}

/// Methods of each type of these sources.
fn methods<'a>(sources: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut count = BTreeMap::new();
    for code in sources {
        let mut own = None;
        for line in code.lines() {
            if line.starts_with("impl") {
                own = implemented(line);
            } else if line.starts_with('}') {
                own = None;
            }
            let words = line.strip_prefix("    ").unwrap_or("").split(' ');
            let is_method = words
                .take_while(|word| !word.is_empty())
                .take(3)
                .any(|word| word == "fn");
            if let (Some(own), true) = (own, is_method) {
                *count.entry(own).or_default() += 1;
            }
        }
    }
    count
}

/// Fields of each struct of a text.
fn fields(code: &str) -> BTreeMap<&str, usize> {
    let mut count = BTreeMap::new();
    let mut own = None;
    for line in code.lines() {
        let declared = line.split_once("struct ").map(|(_, rest)| rest);
        if let Some(rest) = declared.filter(|_| !line.starts_with(' ') && line.ends_with('{')) {
            own = rest.split([' ', '<']).next();
        } else if line.starts_with('}') {
            own = None;
        } else if let (Some(own), Some(field)) = (own, line.strip_prefix("    "))
            && !field.starts_with([' ', '#', ')'])
            && field.contains(':')
        {
            *count.entry(own).or_default() += 1;
        }
    }
    count
}

#[test]
fn no_struct_has_or_does_too_much() {
    let text =
        "pub struct Two<T> {\n    #[serde(rename = \"::\")]\n    one: T,\n    pub two: u32,\n}\n";
    assert_eq!(fields(text), [("Two", 2)].into());
    for folder in CRATES {
        let sources = sources_of(folder);
        let methods = methods(sources.iter().map(|source| &source.code[..]));
        if folder == "." {
            assert!(methods["Raid"] > 30 && methods["Layout"] > 30, "they count");
        }
        let large = methods.iter().filter(|(_, count)| **count > METHODS);
        let large: Vec<_> = large.collect();
        assert!(large.is_empty(), "{folder}: {large:?}");
        for source in &sources {
            let fields = fields(&source.code);
            let wide = fields.iter().find(|(_, count)| **count > FIELDS);
            assert!(wide.is_none(), "{folder}/{}: {wide:?}", source.file);
        }
    }
}

/// Structs of a text with a field that the whole crate sees; what is copied is a value, and owns
/// nothing.
fn open_structs(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut own, mut derives) = (None, "");
    for line in code.lines() {
        if line.starts_with("#[derive") {
            derives = line;
        } else if line.contains("struct ") && line.ends_with('{') && !line.starts_with(' ') {
            own = line
                .split("struct ")
                .nth(1)
                .filter(|_| !derives.contains("Copy"));
            derives = "";
        } else if line.starts_with('}') {
            own = None;
        }
        let field = line.strip_prefix("    pub ");
        let field = field.or_else(|| line.strip_prefix("    pub(crate) "));
        if let (Some(own), Some(field)) = (own, field) {
            found.push(format!("{own} {field}"));
        }
    }
    found
}

#[test]
fn what_owns_data_hides_it() {
    let open = "pub struct Open {\n    pub data: Vec<u32>,\n}\n#[derive(Clone, Copy)]\n\
                struct Value {\n    pub number: u32,\n}\n";
    assert_eq!(open_structs(open), ["Open { data: Vec<u32>,"]);
    let sources = sources();
    let owners = sources
        .iter()
        .filter(|source| OWNERS.iter().any(|owner| source.file.starts_with(owner)));
    for source in owners {
        let open = open_structs(&source.code);
        assert!(open.is_empty(), "{}: {open:?}", source.file);
    }
}

#[test]
fn files_are_short() {
    let sources = sources();
    let long = sources.iter().filter(|source| source.lines > FILE_LINES);
    let long = long.map(|source| format!("{}: {} lines", source.file, source.lines));
    let long: Vec<String> = long.collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
