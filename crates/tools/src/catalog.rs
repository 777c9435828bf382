//! Every native tool, once.

use std::sync::Arc;
use tectum_native::NativeTool;

use tectum_syntax::Packs;

use crate::{
    Settings,
    analysis::{create_slice, get_git_diff, resolve_slice},
    attention::{
        AdjustCoherenceTarget, AdjustTemperature, FocusAttention, GetAttention, InjectSomaticSignal,
        ResetHomeostasis, TriggerConsolidation,
    },
    beads::{Beads, bd_create, bd_list, bd_ready, bd_update},
    code::{self, Code},
    diagnostics::{CheckErrors, Diagnostics, Servers},
    edit::{Pen, apply_edits, delete_file, edit_file, move_file, set_file_slice, undo_edit, write_file},
    files::{GetFileSlice, ListDirectory, ReadFile, get_tree, search_content, search_files},
    history::SearchHistory,
    network::{FetchUrl, Network, WebSearch},
    runtime::GetUiPerformance,
    shell::{RunPowershell, RunShell, ShellKill, ShellList, ShellPoll, ShellWrite, Shells},
    todo::{Handoff, TodoWrite, Todos},
};

/// The native tools, in the order clients see them.
pub fn catalog(settings: &Settings) -> Vec<NativeTool> {
    let pen = Arc::new(Pen::new(settings));
    let code = Arc::new(Code::new(settings, pen.clone(), Packs::all()));
    let mut tools = vec![
        NativeTool::new(ReadFile),
        NativeTool::new(GetFileSlice),
        NativeTool::new(ListDirectory),
        get_tree(settings.threads),
        search_files(settings.threads),
        search_content(settings),
        create_slice(settings.max_file),
        resolve_slice(settings.max_file),
        get_git_diff(settings.git.clone()),
        edit_file(pen.clone()),
        set_file_slice(pen.clone()),
        write_file(pen.clone()),
        apply_edits(pen.clone()),
        move_file(pen.clone()),
        delete_file(pen.clone()),
        undo_edit(pen.clone()),
    ];
    tools.extend(code::rows(&code));
    let servers = Arc::new(Servers::new(settings, pen.known.clone()));
    tools.push(NativeTool::new(Diagnostics(servers.clone())));
    tools.push(NativeTool::new(CheckErrors(servers)));
    let beads = Arc::new(Beads::new(settings));
    tools.extend([bd_list, bd_create, bd_update, bd_ready].map(|tool| {
        let beads = beads.clone();
        tool(beads.clone()).reaching(move || beads.world())
    }));
    let (runtime, cache) = (settings.runtime.clone(), move || code.cache());
    tools.push(NativeTool::new(GetUiPerformance { runtime, cache }));
    let network = Arc::new(Network::new(&settings.network));
    tools.push(NativeTool::new(FetchUrl::new(network.clone())));
    tools.push(NativeTool::new(WebSearch(network)));
    let shells = Arc::new(Shells::new(settings));
    tools.push(NativeTool::new(RunShell::new(shells.clone())));
    tools.push(NativeTool::new(ShellPoll::new(shells.clone())));
    tools.push(NativeTool::new(ShellWrite::new(shells.clone())));
    tools.push(NativeTool::new(ShellList::new(shells.clone())));
    tools.push(NativeTool::new(ShellKill::new(shells.clone())));
    tools.push(NativeTool::new(RunPowershell::new(shells)));
    if let Some(history) = &settings.history {
        tools.push(NativeTool::new(SearchHistory::new(history.clone())));
    }
    let todos = Arc::new(Todos::default());
    tools.push(NativeTool::new(TodoWrite(todos.clone())));
    if let Some(attention) = &settings.attention {
        tools.push(NativeTool::new(GetAttention(attention.clone())));
        tools.push(NativeTool::new(FocusAttention(attention.clone())));
        if attention.has_dynamics() {
            tools.push(NativeTool::new(AdjustTemperature(attention.clone())));
            tools.push(NativeTool::new(AdjustCoherenceTarget(attention.clone())));
            tools.push(NativeTool::new(ResetHomeostasis(attention.clone())));
            tools.push(NativeTool::new(InjectSomaticSignal(attention.clone())));
            tools.push(NativeTool::new(TriggerConsolidation(attention.clone())));
        }
    }
    if !settings.tiers.is_empty() {
        tools.push(NativeTool::new(Handoff { todos, tiers: settings.tiers.clone() }));
    }
    tools.into_iter().map(|tool| tool.capped(settings.max_output)).collect()
}
