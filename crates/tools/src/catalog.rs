//! Every native tool, once.

use std::sync::Arc;
use tectum_native::NativeTool;

use tectum_syntax::Packs;

use crate::{
    Settings,
    analysis::{CreateSlice, GetGitDiff, ResolveSlice},
    beads::{BdCreate, BdList, BdReady, BdUpdate, Beads},
    code::{self, Code},
    diagnostics::{CheckErrors, Diagnostics, Servers},
    edit::{ApplyEdits, DeleteFile, EditFile, MoveFile, Pen, SetFileSlice, UndoEdit, WriteFile},
    files::{GetFileSlice, GetTree, ListDirectory, ReadFile, SearchContent, SearchFiles},
    network::{FetchUrl, Network, WebSearch},
    runtime::GetUiPerformance,
    shell::{RunPowershell, RunShell, ShellKill, ShellList, ShellPoll, ShellWrite, Shells},
    todo::{Handoff, TodoWrite, Todos},
};

/// The native tools, in the order clients see them.
pub fn catalog(settings: &Settings) -> Vec<NativeTool> {
    let threads = settings.threads;
    let pen = Arc::new(Pen::new(settings));
    let code = Arc::new(Code::new(settings, pen.clone(), Packs::all()));
    let mut tools = vec![
        NativeTool::new(ReadFile),
        NativeTool::new(GetFileSlice),
        NativeTool::new(ListDirectory),
        NativeTool::new(GetTree { threads }),
        NativeTool::new(SearchFiles { threads }),
        NativeTool::new(SearchContent::new(settings)),
        NativeTool::new(CreateSlice::new(settings)),
        NativeTool::new(ResolveSlice::new(settings)),
        NativeTool::new(GetGitDiff::new(settings.git.clone())),
        NativeTool::new(EditFile::new(pen.clone())),
        NativeTool::new(SetFileSlice::new(pen.clone())),
        NativeTool::new(WriteFile::new(pen.clone())),
        NativeTool::new(ApplyEdits::new(pen.clone())),
        NativeTool::new(MoveFile::new(pen.clone())),
        NativeTool::new(DeleteFile::new(pen.clone())),
        NativeTool::new(UndoEdit::new(pen.clone())),
    ];
    tools.extend(code::rows(&code));
    let servers = Arc::new(Servers::new(settings, pen.known.clone()));
    tools.push(NativeTool::new(Diagnostics::new(servers.clone())));
    tools.push(NativeTool::new(CheckErrors::new(servers)));
    let beads = Arc::new(Beads::new(settings));
    let bead_tools = [
        NativeTool::new(BdList::new(beads.clone())),
        NativeTool::new(BdCreate::new(beads.clone())),
        NativeTool::new(BdUpdate::new(beads.clone())),
        NativeTool::new(BdReady::new(beads.clone())),
    ];
    tools.extend(bead_tools.map(|tool| {
        let beads = beads.clone();
        tool.reaching(move || beads.world())
    }));
    tools.push(NativeTool::new(GetUiPerformance::new(settings.runtime.clone(), move || code.cache())));
    let network = Arc::new(Network::new(&settings.network));
    tools.push(NativeTool::new(FetchUrl::new(network.clone())));
    tools.push(NativeTool::new(WebSearch::new(network)));
    let shells = Arc::new(Shells::new(settings));
    tools.push(NativeTool::new(RunShell::new(shells.clone())));
    tools.push(NativeTool::new(ShellPoll::new(shells.clone())));
    tools.push(NativeTool::new(ShellWrite::new(shells.clone())));
    tools.push(NativeTool::new(ShellList::new(shells.clone())));
    tools.push(NativeTool::new(ShellKill::new(shells.clone())));
    tools.push(NativeTool::new(RunPowershell::new(shells)));
    let todos = Arc::new(Todos::default());
    tools.push(NativeTool::new(TodoWrite::new(todos.clone())));
    if !settings.tiers.is_empty() {
        tools.push(NativeTool::new(Handoff::new(todos, &settings.tiers)));
    }
    tools.into_iter().map(|tool| tool.capped(settings.max_output)).collect()
}
