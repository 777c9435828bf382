//! Commands in the sandbox of the real guard: what they can do, and every known way out of it.
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, symlink},
    path::{Path, PathBuf},
    process::{Child as Process, Stdio},
    sync::Arc,
};

use tectum::peers::{
    child::{
        ForkServers, Order, SandboxPlan, Through,
        sandbox::{Sandboxed, held},
    },
    spec::{Launch, Secret},
};
use tokio::io::AsyncReadExt as _;

use crate::rig::Rig;

const TECTUM: &str = env!("CARGO_BIN_EXE_tectum");
/// Stands in every file that must not be read.
const SECRET: &str = "not-for-you";

/// A project with a protected file in it, a home with keys, a directory that is neither, and a process
/// outside that has a secret in its environment.
struct Yard {
    rig: Rig,
    servers: Arc<ForkServers>,
    outsider: Process,
    plan: SandboxPlan,
}

impl Yard {
    fn new() -> Self {
        let rig = Rig::with(&[
            ("a.txt", "hello\n"),
            ("sub/.env", SECRET),
            ("sub/keys/k", SECRET),
            (".env", SECRET),
        ]);
        for (path, content) in [("home/.ssh/id", SECRET), ("state/token", SECRET), ("other/note", "kept\n")] {
            let path = rig.outside().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, content).expect("written");
        }
        let servers = Arc::new(ForkServers::default());
        let scratch = servers.scratch().expect("made");
        let outsider = rig
            .command("sleep")
            .arg("1000")
            .env("OUTSIDE", SECRET)
            .stdin(Stdio::null())
            .spawn()
            .expect("starts");
        let outside = rig.outside().canonicalize().expect("there");
        let below = |names: &[&str]| names.iter().map(|name| outside.join(name)).collect::<Vec<_>>();
        let plan = SandboxPlan {
            writable: vec![outside.join("project"), scratch.path().to_owned()],
            closed: below(&["project/.env", "project/sub/.env", "project/sub/keys", "home/.ssh", "state"]),
            network: true,
            unix_sockets: false,
        };
        Self { rig, servers, outsider, plan }
    }

    /// The output of a script on both of its streams, and its exit code.
    async fn run(&self, script: &str) -> (String, Option<i32>) {
        let mut launch = Launch {
            command: "bash".into(),
            args: vec!["-c".into(), format!("exec 2>&1\n{script}")],
            env: Default::default(),
            cwd: None,
        };
        let outside = self.rig.outside().to_str().expect("text").to_owned();
        for (name, value) in [
            ("OUT", outside.clone()),
            ("HOME", format!("{outside}/home")),
            ("PID", self.outsider.id().to_string()),
            ("TMPDIR", self.servers.scratch().expect("made").path().to_str().expect("text").to_owned()),
        ] {
            launch.env.insert(name.into(), Secret::new(value));
        }
        let project = self.rig.project();
        let order = Order { launch: &launch, directory: &project, guard: Some(Path::new(TECTUM)) };
        let mut child = self.servers.start(&order, Some(&self.plan), Through::Pipes).expect("starts");
        let mut said = Vec::new();
        child.stdout.read_to_end(&mut said).await.expect("readable");
        child.stderr.take().expect("a pipe").read_to_end(&mut said).await.expect("readable");
        let code = child.life.ended().await.code();
        (String::from_utf8_lossy(&said).into_owned(), code)
    }

    /// All names outside of what may be written, with modes, times and contents.
    fn around(&self) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
        let mut open = vec![self.rig.outside().to_owned()];
        let mut found = Vec::new();
        while let Some(path) = open.pop() {
            if path == self.rig.project() {
                continue;
            }
            let seen = path.symlink_metadata().expect("there");
            if seen.is_dir() {
                open.extend(fs::read_dir(&path).expect("readable").flatten().map(|entry| entry.path()));
            }
            let content = fs::read(&path).unwrap_or_default();
            found.push((path, seen.mode(), seen.mtime(), content));
        }
        found.sort();
        found
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        let _ = self.outsider.kill();
        let _ = self.outsider.wait();
    }
}

#[tokio::test]
async fn work_in_the_project_goes_on_as_usual() {
    let yard = Yard::new();
    assert_eq!(held(Some(&yard.plan)).expect("this kernel can"), Sandboxed::Enforced { network: true });
    let script = "set -e
        cat a.txt; echo b > b.txt; mkdir -p d/e; mv b.txt d/e/c; cat d/e/c; ln d/e/c hard; ln -s a.txt soft
        cat soft; rm -r d; : > a.txt; echo t > $TMPDIR/t; cat $TMPDIR/t; f=$(mktemp); echo m > $f; cat $f
        head -c 5 /etc/passwd > /dev/null; echo x > /dev/null; head -c 4 /dev/urandom | wc -c
        ls sub $OUT/home > /dev/null; git init -q g; cat <<< here; diff <(echo p) <(echo p) && echo same
        printf '#!/bin/sh\\necho ran\\n' > run.sh; chmod +x run.sh; ./run.sh; kill -0 $$; (sleep 100 & kill $!)
        python3 -c 'import multiprocessing as m; m.Lock(); print(m.Value(\"i\", 3).value)'
        python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"s\"); print(b.recv(1).decode())'";
    let (said, code) = yard.run(script).await;
    assert_eq!(said, "hello\nb\nhello\nt\nm\n4\nhere\nsame\nran\n3\ns\n");
    assert_eq!(code, Some(0));
    assert_eq!(yard.run("exit 7").await, (String::new(), Some(7)), "the code is the command's own");
    assert_eq!(yard.rig.read("a.txt"), "");
}

/// Ways to read what is closed.
const READS: &[&str] = &[
    "cat .env sub/.env sub/keys/k ~/.ssh/id $OUT/state/token",
    "cat < .env; head -c 100 sub/.env; dd if=.env; base64 .env; xxd .env; tac .env",
    "cp .env copy; cat copy; cp -r sub sub2; cat sub2/.env sub2/keys/k",
    "tar cf - . ~ 2>&1 | strings; grep -r for . ~ $OUT",
    "ln .env copy; cat copy; ln ~/.ssh/id key; cat key; ln -s .env l; cat l",
    "ln -s ~/.ssh dir; cat dir/id; ln -s $OUT up; cat up/state/token up/home/.ssh/id",
    "mv .env moved; cat moved; mv sub away; cat away/.env away/keys/k; mv away/keys k2; cat k2/k",
    "rm -f .env; cat .env; rm -rf sub; cat sub/.env",
    "cat /proc/self/root$PWD/.env /proc/self/cwd/.env /proc/self/root$HOME/.ssh/id",
    "cat /proc/$PID/environ; cat /proc/$PID/root$PWD/.env /proc/$PID/root$HOME/.ssh/id; cat /proc/$PID/cwd/.env",
    "cat /proc/$PPID/environ /proc/$PPID/root$PWD/.env; ls -l /proc/$PPID/fd; cat /proc/[0-9]*/environ",
    "umount .env; umount -l sub/.env; umount -f sub/keys; cat .env sub/.env sub/keys/k",
    "unshare -m sh -c 'umount .env; cat .env'; unshare -rm sh -c 'umount .env; cat .env'",
    "unshare -Urm --map-root-user sh -c 'mkdir -p m; mount --bind . m; cat m/.env; mount -o remount,dev .env; cat .env'",
    "nsenter -t $PID -m cat $PWD/.env; nsenter -t $PPID -m cat $PWD/.env; nsenter -t 1 -m cat $PWD/.env",
    "mount --bind $HOME sub; cat sub/.ssh/id; mount -t tmpfs none sub; chroot / cat $PWD/.env",
    "mknod disk b 254 0; head -c 100 disk; cat /dev/vda /dev/sda | head -c 100 | strings",
    "gdb -p $PID -batch 2>&1; strace -p $PID -o t sleep 0; cat t",
    "python3 - <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid = int(os.environ['PID'])
print('seize', libc.ptrace(0x4206, pid, 0, 0))
local = ctypes.create_string_buffer(4096)
class Iov(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
start = int(open(f'/proc/{pid}/stat').read().split()[-2] or 0)
print('vm', libc.process_vm_readv(pid, ctypes.byref(Iov(ctypes.addressof(local), 4096)), 1, ctypes.byref(Iov(start, 4096)), 1, 0), local.raw[:64])
class Handle(ctypes.Structure): _fields_ = [('bytes', ctypes.c_uint), ('type', ctypes.c_int), ('data', ctypes.c_ubyte * 128)]
for name in ('sub/.env', os.environ['HOME'] + '/.ssh/id'):
    handle, mount = Handle(bytes=128), ctypes.c_int()
    libc.name_to_handle_at(-100, name.encode(), ctypes.byref(handle), ctypes.byref(mount), 0)
    fd = libc.open_by_handle_at(os.open('.', os.O_RDONLY), ctypes.byref(handle), os.O_RDONLY)
    print('handle', fd, os.read(fd, 100) if fd >= 0 else '')
pidfd = os.pidfd_open(pid)
print('setns', libc.setns(pidfd, 0x20000), libc.syscall(438, pidfd, 0, 0))
END",
    "kill -STOP $PID && echo stopped; kill -9 $PID && echo killed; kill -9 -1",
];

#[tokio::test]
async fn no_way_leads_to_what_is_closed() {
    for script in READS {
        let yard = Yard::new();
        let before = yard.around();
        let (said, _) = yard.run(script).await;
        assert!(!said.contains(SECRET), "{script}\n{said}");
        assert!(!said.contains("killed") && !said.contains("stopped"), "{said}");
        assert_eq!(yard.around(), before, "{script}");
        for path in [".env", "sub/.env", "sub/keys/k"] {
            // A folder above it may have been renamed, with it inside.
            let there =
                [path.to_owned(), path.replace("sub", "away")].map(|path| yard.rig.project().join(path));
            assert!(there.iter().any(|path| path.exists()), "{path} is gone: {script}\n{said}");
        }
        let state = fs::read_to_string(format!("/proc/{}/stat", yard.outsider.id())).expect("it lives");
        assert!(state.contains(") S "), "{script}: {state}");
    }
}

/// Ways to change what is outside.
const WRITES: &[&str] = &[
    "echo x > $OUT/other/note; echo x >> $OUT/other/note; echo x > $OUT/new; echo x > ~/new; echo x > $OUT/home/.bashrc",
    "truncate -s 0 $OUT/other/note; cp a.txt $OUT/other/note; tee $OUT/other/note < a.txt; dd if=a.txt of=$OUT/other/note",
    "chmod -R 777 $OUT ~ $OUT/other; chmod 000 $OUT/other/note; touch -d 2001-01-01 $OUT/other/note ~; chown -R 1:1 $OUT",
    "rm -rf $OUT/other $OUT/home; rm $OUT/other/note; rmdir $OUT/other; mv $OUT/other/note .; mv $OUT/other .",
    "mkdir $OUT/d; ln -s x $OUT/l; ln a.txt $OUT/h; mkfifo $OUT/f; mv a.txt $OUT/a; mv sub $OUT/sub",
    "ln -s $OUT up; echo x > up/new; echo x > up/other/note; rm up/other/note; ln $OUT/other/note n; echo x > n",
    "echo x > /proc/self/root$OUT/other/note; cd $OUT/other; echo x > note; echo x > /proc/self/cwd/note",
    "echo x > /proc/$PID/root$OUT/new; echo x > /proc/$PID/cwd/../new; echo x > /proc/$PID/oom_score_adj && echo escaped",
    "mv ../project ../moved; mkdir ../project2; rm -rf ../project/../other",
    "echo x > /etc/tectum-new && echo escaped; echo x > /usr/tectum-new && echo escaped; echo x > /dev/shm/tectum-new",
    "for g in $(find /sys/fs/cgroup -name cgroup.procs | head -50); do echo $$ > $g && echo escaped; done",
    "echo 1 > /proc/sys/kernel/panic && echo escaped; echo c > /proc/sysrq-trigger && echo escaped",
    "mount --bind $OUT sub; echo x > sub/new; mount -t tmpfs none $OUT/other; mount -o remount,rw / && echo escaped",
    "unshare -Urm --map-root-user sh -c 'mount -t tmpfs none $OUT/other; echo x > $OUT/new' && echo escaped",
    "mknod disk b 254 0 && echo escaped; mknod null c 1 3 && echo escaped",
    "setsid sh -c 'echo x > $OUT/new; (echo x > $OUT/new2 &)'; nohup sh -c 'echo x > $OUT/new3'; wait",
    "for t in /dev/pts/[0-9]*; do echo x > $t && echo escaped; done",
];

#[tokio::test]
async fn no_way_leads_to_a_change_outside() {
    for script in WRITES {
        let yard = Yard::new();
        let before = yard.around();
        let (said, _) = yard.run(script).await;
        assert!(!said.contains("escaped"), "{script}\n{said}");
        assert!(!Path::new("/dev/shm/tectum-new").exists());
        assert_eq!(yard.around(), before, "{script}\n{said}");
    }
}

/// Tries sockets of all kinds, and says which could be used.
const SOCKETS: &str = "python3 - <<'END'
import ctypes, os, socket
def can(what, deed):
    try:
        deed(); print(what)
    except OSError: pass
out = os.environ['OUT']
def tcp(family, host):
    socket.create_connection((host, int(open('port').read())), 2)
can('tcp', lambda: tcp(socket.AF_INET, '127.0.0.1'))
def listening():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
can('listen', listening)
can('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9)))
can('udp6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
can('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
can('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
can('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
can('alg', lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET))
can('mptcp', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
can('audit', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9))
can('named', lambda: socket.socket(socket.AF_UNIX).connect(out + '/named'))
can('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0' + out))
def turned():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.connect(out + '/datagrams')
can('turned', turned)
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 1, ctypes.create_string_buffer(256)) >= 0: print('ring')
if libc.syscall(0x40000000 + 41, 2, 2, 0) >= 0: print('x32')
if libc.syscall(250, 0, -3, 0) >= 0: print('keys')
END";

#[tokio::test]
async fn sockets_are_those_of_the_plan() {
    use std::os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram, UnixListener},
    };
    let mut yard = Yard::new();
    let outside = yard.rig.outside().to_owned();
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    yard.rig.write("port", tcp.local_addr().expect("bound").port().to_string());
    let _named = UnixListener::bind(outside.join("named")).expect("bound");
    let _datagrams = UnixDatagram::bind(outside.join("datagrams")).expect("bound");
    let address = SocketAddr::from_abstract_name(outside.to_str().expect("text")).expect("a name");
    let _abstract = UnixListener::bind_addr(&address).expect("bound");
    for (network, unix_sockets, expect) in [
        (true, false, "tcp\nlisten\nudp\nudp6\nmptcp\n"),
        (false, false, ""),
        (false, true, "named\nturned\n"),
        (true, true, "tcp\nlisten\nudp\nudp6\nmptcp\nnamed\nturned\n"),
    ] {
        (yard.plan.network, yard.plan.unix_sockets) = (network, unix_sockets);
        let (said, _) = yard.run(SOCKETS).await;
        let said = said.lines().filter(|line| network || *line != "mptcp").map(|line| format!("{line}\n"));
        let said: String = said.collect();
        // A kernel without it refuses it in any case.
        let expect = if said.contains("mptcp") { expect.to_owned() } else { expect.replace("mptcp\n", "") };
        assert_eq!(said, expect, "network {network}, named sockets {unix_sockets}");
    }
}

#[tokio::test]
async fn a_tree_in_the_sandbox_ends_whole() {
    let yard = Yard::new();
    let script = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$ > p1; exec sleep 1000' &)
        env -i setsid /bin/sleep 1000 & echo $! > p2; while ! test -s p1; do sleep 0.01; done; exit 3";
    let (_, code) = yard.run(script).await;
    assert_eq!(code, Some(3));
    for file in ["p1", "p2"] {
        let pid = yard.rig.read(file);
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{pid} survived");
    }
}

#[tokio::test]
async fn a_closed_link_closes_what_it_leads_to() {
    let mut yard = Yard::new();
    let outside = yard.rig.outside().canonicalize().expect("there");
    symlink(outside.join("home/.ssh"), outside.join("linked")).expect("linked");
    yard.plan.closed = vec![outside.join("linked"), outside.join("not/there/yet")];
    let (said, _) = yard.run("cat ~/.ssh/id $OUT/linked/id; cat $OUT/other/note").await;
    assert!(!said.contains(SECRET) && said.contains("kept"), "{said}");
}

/// A command of a person who is no administrator, for whom covering needs a user namespace.
#[tokio::test]
async fn an_ordinary_user_is_held_the_same_way() {
    let yard = Yard::new();
    let outside = yard.rig.outside().to_str().expect("text").to_owned();
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let config = "[permissions]\nallow = [\"run_shell\"]\n";
    fs::write(yard.rig.outside().join("own.toml"), config).expect("written");
    let tried = "id -u; echo made > made; cat made a.txt; cat .env ~/.ssh/id; echo x > ../other/note; cat .env; \
                 umount .env; cat .env; echo done";
    let script = format!(
        "chmod -R a+rwX {outside}; chmod go-rwx {outside}/own.toml; chown 65534 {outside}/own.toml
        cp {TECTUM} {outside}/tectum; chmod a+rx {outside}/tectum
        export HOME={outside}/home XDG_STATE_HOME={outside}/home/state XDG_CONFIG_HOME={outside}/home/config
        exec setpriv --reuid 65534 --regid 65534 --clear-groups {outside}/tectum -C {outside}/project \
            -c {outside}/own.toml call run_shell 'command={tried}'"
    );
    let output = yard.rig.command("sh").args(["-c", &script]).output().expect("runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("65534\nmade\nhello\ndone\n") && !said.contains(SECRET), "{said}{why}");
    assert_eq!(fs::read_to_string(yard.rig.outside().join("other/note")).expect("read"), "kept\n");
}
