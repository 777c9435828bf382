//! `tectum completions SHELL`: what the generators know of the command line, and before it, for the
//! shells most people have, a question to `tectum names`, since servers come and go. The program of
//! the path is asked, never the one that is being typed: a key that is pressed runs nothing strange.

use clap::{Args, Command, builder::PossibleValuesParser};
use clap_complete::Shell;
use tectum::config::servers::clients::CLIENTS;

use super::{failure::Failure, screen::Screen};

/// In bash the generated function goes first, and names of servers take the place of its offer.
const BASH: &str = r#"_tectum_servers() {
    _tectum "$@"
    local names
    names="$(command tectum names -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
    if [[ -n "${names}" ]]; then
        compopt +o bashdefault +o default 2>/dev/null
        COMPREPLY=( $(compgen -W "${names}" -- "$2") )
    fi
}

"#;

/// In zsh a file of completions is the function of its own name, so ours takes the name of the
/// generated one, which is called where no server's name is wanted.
const ZSH: &str = r#"
_tectum() {
    local -a names
    names=("${(@f)$(command tectum names -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${names[1]}" ]]; then
        compadd -a names
    else
        _tectum_generated "$@"
    fi
}

if [ "$funcstack[1]" = "_tectum" ]; then
    _tectum "$@"
else
    compdef _tectum tectum
fi
"#;

/// In fish every rule that holds adds to the offer.
const FISH: &str = r#"
function __fish_tectum_servers
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    test -n "$current"; or set current ''
    command tectum names -- $before[2..] "$current" 2>/dev/null
end

complete -c tectum -n "string length -q -- (__fish_tectum_servers)" -f -a "(__fish_tectum_servers)"
complete -c tectum -n "__fish_tectum_using_subcommand trust" -l revoke -r -f -a "(__fish_tectum_servers)"
"#;

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
bash: put `source <(tectum completions bash)` into ~/.bashrc
zsh:  tectum completions zsh > DIR/_tectum, where DIR is a directory of $fpath
fish: tectum completions fish > ~/.config/fish/completions/tectum.fish")]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// `all` is the whole command line.
    pub(crate) fn run(self, all: Command, screen: &Screen) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut offered(&all), "tectum", &mut script);
        let script = String::from_utf8_lossy(&script);
        screen.print(&match self.shell {
            Shell::Bash => {
                format!("{BASH}{}", script.replace("complete -F _tectum ", "complete -F _tectum_servers "))
            }
            Shell::Zsh => {
                let script = script.split("\nif [ \"$funcstack[1]\"").next().unwrap_or_default();
                format!("{}{ZSH}", script.replacen("\n_tectum() {", "\n_tectum_generated() {", 1))
            }
            Shell::Fish => format!("{script}{FISH}"),
            _ => script.into_owned(),
        })
    }
}

/// The command line without what help hides; the generators would offer that too.
fn offered(all: &Command) -> Command {
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let offered = Command::new("tectum").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let offered = offered.args(all.get_arguments().cloned()).subcommands(shown);
    // Anything may be a file; the clients are what is worth offering.
    let clients = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name));
    let offered = offered.mut_subcommand("connect", |connect| {
        connect.mut_arg("client", |client| client.value_parser(clients.clone()))
    });
    offered.mut_subcommand("import", |import| import.mut_arg("from", |from| from.value_parser(clients)))
}
