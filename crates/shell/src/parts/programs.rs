//! Programs that run other commands, or do with one option what their name does not say. A rule
//! for such a program by a pattern was hardly meant for the commands that it can be made to run.

use super::word::Word;

/// Run their arguments or their input, change what a later name means, or set variables.
const RUNNERS: &str = "
    . source eval exec command builtin alias unalias trap bind complete compgen compopt enable hash
    shopt fc jobs export declare typeset local readonly unset read readarray mapfile getopts let
    env sudo doas su runuser pkexec nice ionice chrt taskset numactl nohup setsid setarch linux32
    linux64 timeout stdbuf unbuffer time xargs parallel chroot unshare nsenter fakeroot proot bwrap
    firejail strace ltrace gdb lldb valgrind perf rr watch script scriptreplay flock entr at batch
    crontab systemd-run start-stop-daemon run-parts daemonize screen tmux expect busybox toybox
    prlimit choom sshpass dbus-run-session xvfb-run cgexec dtach socat nc ncat netcat telnet vi vim
    nvim view ex ed emacs dc m4 su-exec gosu setpriv capsh sg newgrp login i386 x86_64
    catchsegv ld.so hyperfine direnv mise asdf nix-shell";

/// Read a program from a file that the first argument names, or from anywhere else.
const INTERPRETERS: &str = "
    sh bash dash zsh ksh mksh ash fish csh tcsh rbash rzsh pwsh python pypy ipython perl raku ruby
    irb jruby node nodejs php lua luajit tclsh wish guile Rscript R julia elixir erl ghci scala groovy osascript";

/// Options with which a program runs another one, or a reader writes. A long option also counts
/// when it is cut short; a letter also among others and with its value behind it.
const OPTIONS: &[(&str, &[&str])] = &[
    ("find", &["-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("fdfind", &["-x", "-X", "--exec", "--exec-batch"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program", "-o", "--output"]),
    ("split", &["--filter"]),
    ("ssh", &["-o", "-F", "-E", "-D", "-L", "-R", "-w", "-W", "-J", "-I", "-S", "-M"]),
    ("scp", &["-o", "-F", "-S", "-J", "-D"]),
    ("sftp", &["-o", "-F", "-S", "-J", "-D", "-b"]),
    ("rsync", &["-e", "--rsh", "--rsync-path", "-M", "--remote-option", "--daemon"]),
    ("zip", &["-T", "--test", "--unzip-command"]),
    ("man", &["-P", "-H", "--pager", "--html", "-C", "--config-file"]),
    ("wget", &["-e", "--execute", "--use-askpass", "--config"]),
    ("curl", &["-K", "--config"]),
    ("tcpdump", &["-z", "-w"]),
    ("cargo", &["--config"]),
    ("make", &["--eval", "SHELL=", ".SHELLFLAGS=", "MAKEFLAGS="]),
    ("gmake", &["--eval", "SHELL=", ".SHELLFLAGS=", "MAKEFLAGS="]),
    ("gcc", &["-wrapper", "-fplugin", "-specs", "@"]),
    ("npm", &["exec", "x", "--script-shell", "--node-options"]),
    ("deno", &["eval", "repl"]),
    ("bun", &["-e", "--eval", "x", "--print"]),
    ("ip", &["netns", "-b", "-batch"]),
    ("printf", &["-v"]),
    ("wait", &["-p"]),
    ("test", &["-v", "-R"]),
    ("[", &["-v", "-R"]),
    ("date", &["-s", "--set"]),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    (
        "git",
        &[
            "--exec-path",
            "--config-env",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--ext-diff",
            "--textconv",
            "--output",
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--open-files-in-pager",
            "--extcmd",
            "ext::",
            "foreach",
            "filter-branch",
            "difftool",
            "mergetool",
            "--config=",
            "--template",
        ],
    ),
];

/// Why a command may run something that its words do not say; `None` for one that may not, as far
/// as is known of its program.
pub(super) fn doubt(words: &[Word]) -> Option<String> {
    let path = words[0].text.as_str();
    let program = path.rsplit('/').next().unwrap_or(path);
    let family = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let args = &words[1..];
    let runs = |what: &str| Some(format!("`{program}` {what}"));
    let listed = |list: &str| list.split_whitespace().any(|name| name == program || name == family);
    if listed(RUNNERS) || program.starts_with("ld-linux") {
        return runs("runs what it is given, or changes what later words mean");
    }
    if listed(INTERPRETERS) {
        return if names_a_script(args) { None } else { runs("runs a program that no file name tells") };
    }
    let open = args.iter().any(|word| word.open && !is_file_glob(word));
    let unknown = "can run other commands, and not all of its arguments are known before";
    let option = match program {
        "git" => git_option(args),
        "tar" | "bsdtar" | "gtar" => tar_option(args),
        "sed" | "gsed" => {
            return (open || !sed_is_plain(args)).then(|| "`sed` may run or write more than is told".into());
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            return (open || !awk_is_plain(args))
                .then(|| format!("`{program}` may run or write more than is told"));
        }
        "set" => {
            let plain = |word: &Word| {
                ["-e", "-u", "-x", "-eu", "-ex", "-eux", "-o", "pipefail", "-euo", "-euxo"]
                    .contains(&word.raw.as_str())
            };
            return if args.iter().all(plain) { None } else { runs("changes how later words are read") };
        }
        _ => None,
    };
    if let Some(option) = option {
        return runs(&format!("with `{option}` runs or writes something else"));
    }
    let (_, hazards) = OPTIONS.iter().find(|(name, _)| *name == program || *name == family)?;
    if open {
        return runs(unknown);
    }
    let word = args.iter().find(|word| hazards.iter().any(|hazard| is_option(&word.text, hazard)))?;
    runs(&format!("with `{}` runs or writes something else", word.raw))
}

/// True for a word that is this option, with or without a value.
fn is_option(word: &str, hazard: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if hazard.starts_with("--") {
        return name.len() > 3 && hazard.starts_with(name) || name == hazard;
    }
    if hazard.starts_with('-') && hazard.len() == 2 {
        return word.starts_with('-') && !word.starts_with("--") && word.contains(&hazard[1..]);
    }
    if hazard.starts_with('-') || hazard.ends_with(['=', ':']) || hazard == "@" {
        return word.starts_with(hazard);
    }
    word == hazard
}

/// A word that can become names of files, and neither an option nor a word of one's choice:
/// something plain stands before its first sign.
fn is_file_glob(word: &Word) -> bool {
    let raw = &word.raw;
    let several = raw.contains('{') && (raw.contains(',') || raw.contains(".."));
    !several && !raw.contains(['$', '`']) && !raw.starts_with(['-', '*', '?', '[', '{', '\'', '"', '\\'])
}

/// `python3 tools/x.py …`, `python -m module …`, `bash --version`.
fn names_a_script(args: &[Word]) -> bool {
    match args {
        [first, ..] if first.open => false,
        [first] if matches!(first.text.as_str(), "--version" | "-V" | "--help") => true,
        [first, module, ..] if first.text == "-m" => !module.open && !module.text.starts_with('-'),
        [first, ..] => {
            !first.text.is_empty()
                && !first.text.starts_with(['-', '+'])
                && !["/dev/", "/proc/"].iter().any(|place| first.text.contains(place))
        }
        [] => false,
    }
}

/// Options that mean something else before git's command than behind it, and a few of commands.
fn git_option(args: &[Word]) -> Option<&str> {
    let mut args = args.iter();
    let command = loop {
        let word = args.next()?;
        match word.text.as_str() {
            "-C" => drop(args.next()),
            text if text.starts_with("-c") => return Some(&word.raw),
            text if !text.starts_with('-') => break text,
            _ => {}
        }
    };
    let hazards: &[&str] = match command {
        "clone" => &["-c", "-u"],
        "rebase" => &["-x"],
        "grep" => &["-O"],
        "bisect" => &["run"],
        _ => &[],
    };
    args.find(|word| hazards.iter().any(|hazard| is_option(&word.text, hazard))).map(|word| word.raw.as_str())
}

/// `-I` and `-F` of tar, alone or among other letters, with or without the dash.
fn tar_option(args: &[Word]) -> Option<&str> {
    let letters = |(at, word): &(usize, &Word)| {
        let short = word.text.starts_with('-') && !word.text.starts_with("--");
        (short || (*at == 0 && !word.text.starts_with('-'))) && word.text.contains(['I', 'F'])
    };
    args.iter().enumerate().find(letters).map(|(_, word)| word.raw.as_str())
}

/// True for awk programs that cannot start or write anything: no pipe, no redirection, no call of
/// the system, no further program files.
fn awk_is_plain(args: &[Word]) -> bool {
    let mut rest = args.iter().map(|word| word.text.as_str());
    while let Some(word) = rest.next() {
        match word {
            "-F" | "-v" => drop(rest.next()),
            word if word.starts_with("-F") => {}
            word if word.starts_with('-') => return false,
            program => {
                let runs = ["system", "getline", "|", ">", "@"].iter().any(|sign| program.contains(sign));
                // An option behind the program is one of gawk's.
                return !runs && !rest.any(|word| word.starts_with('-'));
            }
        }
    }
    false
}

/// True for `sed` with printing, deleting and plain replacing only.
fn sed_is_plain(args: &[Word]) -> bool {
    let (mut scripts, mut given, mut files) = (Vec::new(), false, Vec::new());
    let mut rest = args.iter().map(|word| word.text.as_str());
    while let Some(word) = rest.next() {
        match word {
            "-n" | "-E" | "-r" | "-i" | "-s" | "-u" | "-z" => {}
            "-e" | "-ne" => {
                given = true;
                scripts.extend(rest.next());
            }
            word if word.starts_with('-') => return false,
            word => files.push(word),
        }
    }
    if !given {
        scripts.extend(files.first());
    }
    !scripts.is_empty() && scripts.iter().all(|script| plain_script(script))
}

/// `5,10p`, `/from/,/to/d`, `s/a/b/g`.
fn plain_script(script: &str) -> bool {
    if script.contains(['\n', '{', '}']) {
        return false;
    }
    if let Some(body) = script.strip_prefix('s') {
        let Some(mark) = body.chars().next().filter(|c| "/|,#@:!".contains(*c)) else { return false };
        let (mut marks, mut escaped, mut flags) = (0, false, String::new());
        for c in body.chars() {
            match c {
                _ if marks == 3 => flags.push(c),
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == mark => marks += 1,
                _ => {}
            }
        }
        return marks == 3 && flags.chars().all(|c| "gpiI0123456789".contains(c));
    }
    script.split(';').all(|command| {
        let Some(addresses) = command.trim().strip_suffix(['p', 'd', 'q', '=']) else { return false };
        addresses.split(',').all(|address| {
            let text = address.trim_end_matches(['!', ' ']);
            let inner = text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
            text.chars().all(|c| c.is_ascii_digit() || c == '$')
                || inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['/', '\\']))
        })
    })
}
