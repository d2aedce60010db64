//! A file system in memory that knows what was synced, so that every disk a power loss may leave can be made.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::traced::Call;

type Id = usize;

#[derive(Debug, Clone)]
enum Node {
    Folder(BTreeMap<String, Id>),
    File(Vec<u8>),
}

/// All files and folders below one, by number; names lead to numbers.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    nodes: HashMap<Id, Node>,
}

/// The folder that everything is below.
const TOP: Id = 0;

/// One change of the disk, or something that makes earlier ones stay.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Write {
        file: Id,
        at: usize,
        bytes: Vec<u8>,
    },
    Cut {
        file: Id,
        size: usize,
    },
    Name {
        folder: Id,
        name: String,
        node: Id,
        is_folder: bool,
    },
    Unname {
        folder: Id,
        name: String,
    },
    Rename {
        from: (Id, String),
        to: (Id, String),
    },
    Sync {
        node: Id,
    },
    /// Everything there is on the file system.
    SyncAll,
    /// The program said something on its standard output.
    Say,
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6469_736b)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (end.max(1) as u64)).unwrap_or(0)
    }
}

const SECTOR: usize = 512;

/// The index of a log is in memory that processes share; a power loss takes it, and it is made anew.
fn is_shared_memory(name: &str) -> bool {
    name.ends_with("-shm")
}

impl Tree {
    /// What is below a folder now.
    pub(crate) fn read(folder: &Path) -> Tree {
        let mut tree = Tree { nodes: HashMap::new() };
        tree.nodes.insert(TOP, Node::Folder(BTreeMap::new()));
        tree.take_in(folder, TOP);
        tree
    }

    fn take_in(&mut self, folder: &Path, id: Id) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let (child, kind) = (self.nodes.len(), path.symlink_metadata().unwrap().file_type());
            if kind.is_dir() {
                self.nodes.insert(child, Node::Folder(BTreeMap::new()));
                self.take_in(&path, child);
            } else if kind.is_file() {
                self.nodes.insert(child, Node::File(std::fs::read(&path).unwrap()));
            } else {
                continue;
            }
            self.names(id).insert(name, child);
        }
    }

    fn names(&mut self, folder: Id) -> &mut BTreeMap<String, Id> {
        let node = self.nodes.entry(folder).or_insert_with(|| Node::Folder(BTreeMap::new()));
        match node {
            Node::Folder(names) => names,
            Node::File(_) => panic!("a file has no names in it"),
        }
    }

    fn content(&mut self, file: Id) -> &mut Vec<u8> {
        match self.nodes.entry(file).or_insert_with(|| Node::File(Vec::new())) {
            Node::File(content) => content,
            Node::Folder(_) => panic!("a folder has no content"),
        }
    }

    fn find(&self, path: &Path) -> Option<Id> {
        let mut id = TOP;
        for part in path {
            match self.nodes.get(&id)? {
                Node::Folder(names) => id = *names.get(part.to_str()?)?,
                Node::File(_) => return None,
            }
        }
        Some(id)
    }

    /// Every file by its path below the top.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        self.walk(TOP, Path::new(""), &mut |path, node| {
            if let Node::File(content) = node {
                found.insert(path.to_owned(), content.clone());
            }
        });
        found
    }

    fn walk(&self, id: Id, path: &Path, visit: &mut dyn FnMut(&Path, &Node)) {
        let Some(node) = self.nodes.get(&id) else { return };
        visit(path, node);
        if let Node::Folder(names) = node {
            for (name, child) in names.iter().filter(|(name, _)| !is_shared_memory(name)) {
                self.walk(*child, &path.join(name), visit);
            }
        }
    }

    /// Puts it all into a folder, which holds nothing else then.
    #[expect(clippy::disallowed_methods, reason = "a disk is made up, as a crash would leave it")]
    pub(crate) fn lay_out(&self, folder: &Path) {
        for left in std::fs::read_dir(folder).unwrap() {
            let left = left.unwrap().path();
            let is_folder = left.symlink_metadata().unwrap().is_dir();
            if is_folder { std::fs::remove_dir_all(left) } else { std::fs::remove_file(left) }
                .unwrap();
        }
        self.walk(TOP, folder, &mut |path, node| match node {
            Node::Folder(_) => {
                let _ = std::fs::create_dir(path);
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
            }
            Node::File(content) => {
                std::fs::write(path, content).unwrap();
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
            }
        });
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Write { file, at, bytes } => {
                let content = self.content(*file);
                content.resize(content.len().max(at + bytes.len()), 0);
                content[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            Step::Cut { file, size } => self.content(*file).resize(*size, 0),
            Step::Name { folder, name, node, is_folder } => {
                if *is_folder {
                    self.names(*node);
                } else {
                    self.content(*node);
                }
                self.names(*folder).insert(name.clone(), *node);
            }
            Step::Unname { folder, name } => {
                self.names(*folder).remove(name);
            }
            Step::Rename { from, to } => {
                if let Some(moved) = self.names(from.0).remove(&from.1) {
                    self.names(to.0).insert(to.1.clone(), moved);
                }
            }
            Step::Sync { .. } | Step::SyncAll | Step::Say => {}
        }
    }

    /// The disk as another process would find it after these steps.
    pub(crate) fn after(&self, steps: &[Step]) -> Tree {
        let mut tree = self.clone();
        steps.iter().for_each(|step| tree.apply(step));
        tree
    }

    /// The disk if the power goes after these steps: what was synced is there, and any part of the rest.
    pub(crate) fn after_power_loss(&self, steps: &[Step], chance: &mut Chance) -> Tree {
        let mut disk = self.clone();
        let mut unsynced: Vec<Step> = Vec::new();
        for step in steps {
            match step {
                Step::Sync { node } => unsynced.retain(|earlier| {
                    let stays = earlier.belongs_to() == Some(*node);
                    if stays {
                        disk.apply(earlier);
                    }
                    !stays
                }),
                Step::SyncAll => unsynced.drain(..).for_each(|earlier| disk.apply(&earlier)),
                other => unsynced.push(other.clone()),
            }
        }
        let kept_of_eight = chance.below(9);
        for step in &unsynced {
            if chance.below(8) < kept_of_eight {
                disk.apply(step);
            } else if let Step::Write { file, at, bytes } = step {
                for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                    if chance.below(4) == 0 {
                        let (at, bytes) = (at + number * SECTOR, sector.to_vec());
                        disk.apply(&Step::Write { file: *file, at, bytes });
                    }
                }
            }
        }
        disk
    }
}

impl Step {
    /// What must be synced for the step to stay.
    fn belongs_to(&self) -> Option<Id> {
        match self {
            Step::Write { file, .. } | Step::Cut { file, .. } => Some(*file),
            Step::Name { folder, .. } | Step::Unname { folder, .. } => Some(*folder),
            Step::Rename { to, .. } => Some(to.0),
            Step::Sync { .. } | Step::SyncAll | Step::Say => None,
        }
    }
}

/// An open file.
#[derive(Debug, Clone, Copy)]
struct Open {
    node: Id,
    at: usize,
    appends: bool,
}

/// Calls of the system as steps.
pub(crate) struct Steps<'a> {
    top: &'a Path,
    now: Tree,
    open: HashMap<i64, Open>,
    next: Id,
    steps: Vec<Step>,
}

impl<'a> Steps<'a> {
    /// What the calls did to the files below a folder, which were these before.
    pub(crate) fn of(calls: &[Call], top: &'a Path, before: &Tree) -> Vec<Step> {
        let next = before.nodes.len() + 1;
        let open = HashMap::new();
        let mut steps = Steps { top, now: before.clone(), open, next, steps: Vec::new() };
        calls.iter().for_each(|call| steps.take(call));
        let (made, real) = (steps.now.files(), Tree::read(top).files());
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&made), names(&real), "the calls were not understood");
        for (path, content) in &made {
            assert!(
                real[path] == *content,
                "what was written to {} was not understood",
                path.display()
            );
        }
        steps.steps
    }

    fn add(&mut self, step: Step) {
        self.now.apply(&step);
        self.steps.push(step);
    }

    /// The folder of a path with the name in it, if it is below the top.
    fn place(&self, path: &Path) -> Option<(Id, String)> {
        let inside = path.strip_prefix(self.top).ok()?;
        let name = inside.file_name()?.to_str()?.to_owned();
        Some((self.now.find(inside.parent()?)?, name))
    }

    fn find(&self, path: &Path) -> Option<Id> {
        self.now.find(path.strip_prefix(self.top).ok()?)
    }

    fn make(&mut self, path: &Path, is_folder: bool) -> Option<Id> {
        let (folder, name) = self.place(path)?;
        let node = self.next;
        self.next += 1;
        self.add(Step::Name { folder, name, node, is_folder });
        Some(node)
    }

    fn take(&mut self, call: &Call) {
        match call.name.as_str() {
            "openat" => self.opened(call, &call.path(1, Some(0))),
            "open" => self.opened(call, &call.path(0, None)),
            "creat" => panic!("nobody calls creat"),
            "mkdir" => drop(self.make(&call.path(0, None), true)),
            "mkdirat" => drop(self.make(&call.path(1, Some(0)), true)),
            "unlink" | "rmdir" => self.removed(&call.path(0, None)),
            "unlinkat" => self.removed(&call.path(1, Some(0))),
            "rename" => self.renamed(&call.path(0, None), &call.path(1, None)),
            "renameat" | "renameat2" => {
                self.renamed(&call.path(1, Some(0)), &call.path(3, Some(2)));
            }
            "link" => self.linked(&call.path(0, None), &call.path(1, None)),
            "linkat" => self.linked(&call.path(1, Some(0)), &call.path(3, Some(2))),
            "symlink" | "symlinkat" | "truncate" => panic!("{} is not understood", call.name),
            "sync" | "syncfs" => self.add(Step::SyncAll),
            _ => self.on_descriptor(call),
        }
    }

    fn on_descriptor(&mut self, call: &Call) {
        let descriptor = call.descriptor(0);
        match call.name.as_str() {
            "write" if descriptor == 1 => self.add(Step::Say),
            "write" | "writev" => self.written(descriptor, call),
            "pwrite64" => {
                let (at, bytes) = (call.number(3), call.texts());
                if let Some(open) = self.open.get(&descriptor) {
                    self.add(Step::Write { file: open.node, at, bytes });
                }
            }
            "ftruncate" => {
                if let Some(open) = self.open.get(&descriptor) {
                    self.add(Step::Cut { file: open.node, size: call.number(1) });
                }
            }
            "fsync" | "fdatasync" => {
                if let Some(open) = self.open.get(&descriptor) {
                    self.add(Step::Sync { node: open.node });
                }
            }
            "lseek" => {
                if let Some(open) = self.open.get_mut(&descriptor) {
                    open.at = usize::try_from(call.result).unwrap_or(0);
                }
            }
            "dup" | "dup2" | "dup3" => self.copied_descriptor(descriptor, call.result),
            "fcntl" if call.argument(1).starts_with("F_DUPFD") => {
                self.copied_descriptor(descriptor, call.result);
            }
            "close" => drop(self.open.remove(&descriptor)),
            "copy_file_range" => self.copied(descriptor, call.descriptor(2), call.result),
            "sendfile" => self.copied(call.descriptor(1), descriptor, call.result),
            "fallocate" | "pwritev" => panic!("{} is not understood", call.name),
            _ => {}
        }
    }

    fn copied_descriptor(&mut self, from: i64, to: i64) {
        if let Some(open) = self.open.get(&from).copied() {
            self.open.insert(to, open);
        }
    }

    fn opened(&mut self, call: &Call, path: &Path) {
        self.open.remove(&call.result);
        let mut found = self.find(path);
        if call.has("O_TMPFILE") && found.is_some() {
            found = Some(self.next);
            self.next += 1;
            self.now.content(self.next - 1);
        } else if call.has("O_CREAT") && found.is_none() {
            found = self.make(path, false);
        } else if let (true, Some(file)) = (call.has("O_TRUNC"), found) {
            self.add(Step::Cut { file, size: 0 });
        }
        if let Some(node) = found {
            self.open.insert(call.result, Open { node, at: 0, appends: call.has("O_APPEND") });
        }
    }

    fn written(&mut self, descriptor: i64, call: &Call) {
        let Some(open) = self.open.get(&descriptor).copied() else { return };
        let mut bytes = call.texts();
        bytes.truncate(usize::try_from(call.result).unwrap_or(0));
        let at = if open.appends { self.now.content(open.node).len() } else { open.at };
        if let Some(open) = self.open.get_mut(&descriptor) {
            open.at = at + bytes.len();
        }
        self.add(Step::Write { file: open.node, at, bytes });
    }

    fn copied(&mut self, from: i64, to: i64, length: i64) {
        let (Some(source), Some(target)) =
            (self.open.get(&from).copied(), self.open.get(&to).copied())
        else {
            return;
        };
        let length = usize::try_from(length).unwrap_or(0);
        let bytes = self.now.content(source.node)[source.at..source.at + length].to_vec();
        for (descriptor, at) in [(from, source.at + length), (to, target.at + length)] {
            if let Some(open) = self.open.get_mut(&descriptor) {
                open.at = at;
            }
        }
        if length > 0 {
            self.add(Step::Write { file: target.node, at: target.at, bytes });
        }
    }

    fn removed(&mut self, path: &Path) {
        if let Some((folder, name)) = self.place(path) {
            self.add(Step::Unname { folder, name });
        }
    }

    fn renamed(&mut self, from: &Path, to: &Path) {
        match (self.place(from), self.place(to)) {
            (Some(from), Some(to)) => self.add(Step::Rename { from, to }),
            (None, None) => {}
            _ => panic!("{} went out of the sandbox", from.display()),
        }
    }

    fn linked(&mut self, from: &Path, to: &Path) {
        if let (Some(node), Some((folder, name))) = (self.find(from), self.place(to)) {
            self.add(Step::Name { folder, name, node, is_folder: false });
        }
    }
}
