//! Addresses that fetch_url does not go to: hundreds of notations of inner addresses, alone and behind
//! redirects, against canaries in network namespaces that count who connects.
//!
//! The test starts itself again in a namespace of its own, joined by a pair of devices to a second one in which
//! every address of the world is answered. So an inner address that is connected by mistake is heard, and a
//! public one can be fetched.
#![expect(clippy::print_stdout, reason = "the process in the namespace reports to the test that started it")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::rig::{Rig, Stdin};

/// Says to a process of this test which part is its own.
const ROLE: &str = "TECTUM_TEST_ROLE";
const NAME: &str = "network_places::no_notation_and_no_redirect_leads_inside";
/// Public, and answered by the world.
const PUBLIC: &str = "93.184.216.34";
/// Public, and this machine's own.
const OWN: &str = "93.184.216.99";
const LISTENS: &[&str] = &["[::]:80", "0.0.0.0:80"];

#[test]
fn no_notation_and_no_redirect_leads_inside() {
    match std::env::var(ROLE).as_deref() {
        Ok("inside") => inside(),
        Ok("world") => world(),
        _ if namespaces() => {
            let said = again(&["-Urnm"], "inside").output().expect("runs");
            let text =
                [said.stdout, said.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).join("");
            println!("{text}");
            assert!(said.status.success() && text.contains("ALL PARTS DONE"), "{text}");
        }
        _ => {
            println!("NO USER NAMESPACES HERE: canaries listen on loopback alone, and no redirect is tried");
            let canary = Canary::listen(&["127.0.0.1:0", "[::1]:0"]);
            let mut client = client();
            for ip in ["127.0.0.1", "0.0.0.0", "127.1.2.3"] {
                for port in &canary.ports {
                    refuse_all(&mut client, notations(ip.parse().expect("an address"), *port));
                }
            }
            assert_eq!(canary.count(), 0);
        }
    }
}

fn namespaces() -> bool {
    let tries = "ip link set lo up && ip link add v0 type veth peer name v1";
    let tried = Command::new("unshare").args(["-Urnm", "sh", "-c", tries]).output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// This test once more, beneath `unshare`.
fn again(flags: &[&str], role: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(flags).arg(std::env::current_exe().expect("a program"));
    command.args(["--exact", NAME, "--nocapture"]).env(ROLE, role);
    command
}

fn sh(script: &str) {
    let said = Command::new("sh").args(["-ec", script]).output().expect("runs");
    assert!(said.status.success(), "{script}: {}", String::from_utf8_lossy(&said.stderr));
}

/// Listeners that count.
struct Canary {
    ports: Vec<u16>,
    count: Arc<AtomicUsize>,
}

impl Canary {
    fn listen(addresses: &[&str]) -> Self {
        let count = Arc::<AtomicUsize>::default();
        let mut ports = Vec::new();
        for address in addresses {
            // The second of a pair for both families may already be taken by the first.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            ports.push(listener.local_addr().expect("an address").port());
            let count = count.clone();
            std::thread::spawn(move || {
                listener.incoming().for_each(|_| _ = count.fetch_add(1, Ordering::SeqCst))
            });
        }
        assert!(!ports.is_empty());
        Self { ports, count }
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

/// The other namespace, as its process tells about it.
struct World {
    child: Child,
    orders: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl World {
    fn start() -> Self {
        let mut command = again(&["-n"], "world");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
        let orders = child.stdin.take().expect("piped");
        let said = BufReader::new(child.stdout.take().expect("piped"));
        let mut world = Self { child, orders, said };
        world.hear("UNSHARED");
        sh(&format!("ip link set v1 netns {}", world.child.id()));
        world.order("listen", "LISTENING");
        world
    }

    fn order(&mut self, word: &str, answer: &str) -> String {
        writeln!(self.orders, "{word}").expect("written");
        self.hear(answer)
    }

    fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.said.read_line(&mut line).expect("readable"), 0, "the world ended before {word}");
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Connections so far: to the public address, and to any other.
    fn counts(&mut self) -> (usize, usize) {
        let said = self.order("count", "COUNTS");
        let mut numbers = said.split(' ').map(|number| number.parse().expect("a number"));
        (numbers.next().expect("public"), numbers.next().expect("others"))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers at every address there is.
fn world() {
    println!("UNSHARED");
    let (public, others) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    for order in std::io::stdin().lines() {
        match order.expect("readable").as_str() {
            "listen" => {
                sh(
                    "ip link set lo up; ip addr add 198.18.0.2/30 dev v1; ip -6 addr add fd00:18::2/126 dev v1 nodad; \
                    ip link set v1 up; ip route add local default dev lo table main; \
                    ip -6 route add local default dev lo table main",
                );
                for address in LISTENS {
                    let Ok(listener) = TcpListener::bind(address) else { continue };
                    let (public, others) = (public.clone(), others.clone());
                    std::thread::spawn(move || {
                        for stream in listener.incoming().map_while(Result::ok) {
                            let mut at = stream.local_addr().expect("an address").ip();
                            if let IpAddr::V6(ip) = at {
                                at = ip.to_ipv4_mapped().map_or(at, IpAddr::V4);
                            }
                            let count = if at.to_string() == PUBLIC { &public } else { &others };
                            count.fetch_add(1, Ordering::SeqCst);
                            std::thread::spawn(move || answer(stream));
                        }
                    });
                }
                println!("LISTENING");
            }
            _ => println!("COUNTS {} {}", public.load(Ordering::SeqCst), others.load(Ordering::SeqCst)),
        }
    }
}

/// `/page`; `/to?URL` redirects there; `/step?URL` redirects to `/to?URL` first.
fn answer(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let target = request.split(' ').nth(1).unwrap_or_default();
    let (path, url) = target.split_once('?').unwrap_or((target, ""));
    let (head, body) = match path {
        "/to" => (format!("302 Found\r\nLocation: {url}"), String::new()),
        "/step" => (format!("307 Temporary Redirect\r\nLocation: /to?{url}"), String::new()),
        _ => ("200 OK\r\nContent-Type: text/html".to_owned(), "<h1>Public words</h1>".to_owned()),
    };
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
}

fn client() -> Stdin {
    let rig = Box::leak(Box::new(Rig::new()));
    rig.configure("[permissions]\nallow = [\"fetch_url\"]\n");
    rig.stdio()
}

fn fetch(client: &mut Stdin, url: &str) -> (bool, String) {
    let said: Value = client.call("fetch_url", json!({ "url": url, "format": "text" }));
    (said["isError"] == true, said["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

#[track_caller]
fn refuse_all(client: &mut Stdin, urls: Vec<String>) -> usize {
    for url in &urls {
        let (refused, text) = fetch(client, url);
        assert!(refused, "{url}: {text}");
    }
    urls.len()
}

/// One address in every notation that some program takes for it.
fn notations(ip: Ipv4Addr, port: u16) -> Vec<String> {
    let [a, b, c, d] = ip.octets();
    let number = u32::from(ip);
    let (low, high) = (number & 0xffff, number >> 16);
    let hosts = [
        ip.to_string(),
        format!("{ip}."),
        number.to_string(),
        format!("0x{number:x}"),
        format!("0X{number:08X}"),
        format!("0{number:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.{b}.{c}.0x{d:x}"),
        format!("{a}.{}", number & 0x00ff_ffff),
        format!("{a}.{b}.{low}"),
        format!("0x{a:x}.{}", number & 0x00ff_ffff),
        format!("{}%2e{b}.{c}.{d}", format!("{a}").replace('1', "%31")),
        format!("{a}。{b}．{c}｡{d}"),
        ip.to_string()
            .chars()
            .map(|c| char::from_u32(c as u32 + 0xfee0).filter(|_| c != '.').unwrap_or(c))
            .collect(),
        format!("[::ffff:{ip}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:FFFF:{high:X}:{low:X}]"),
        format!("[::{ip}]"),
        format!("[::ffff:0:{ip}]"),
        format!("[64:ff9b::{ip}]"),
        format!("[64:ff9b:1::{high:x}:{low:x}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:{high:x}:{low:x}::{:x}:{:x}]", !high & 0xffff, !low & 0xffff),
        format!("[2600:1::5efe:{high:x}:{low:x}]"),
        format!("user:word@{ip}"),
        format!("{PUBLIC}@{ip}"),
    ];
    hosts.iter().map(|host| format!("http://{host}:{port}/page")).collect()
}

fn inside() {
    let names = "127.0.0.1 localhost\n93.184.216.34 public.test\n10.1.2.3 inner.test\n169.254.169.254 metadata.test\n\
                 127.0.0.1 loop.test\n::1 loop6.test\nfd12::1 unique.test\n93.184.216.99 own.test\n\
                 64:ff9b::a01:203 nat.test\n10.1.2.3 mixed.test\n93.184.216.34 mixed.test\n";
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), names).expect("written");
    sh(&format!(
        "mount --bind {} /etc/hosts; ip link set lo up; ip addr add {OWN}/32 dev lo; \
         ip link add v0 type veth peer name v1; ip addr add 198.18.0.1/30 dev v0; \
         ip -6 addr add fd00:18::1/126 dev v0 nodad; ip link set v0 up",
        file.path().display()
    ));
    let mut world = World::start();
    sh("ip route add default via 198.18.0.2; ip -6 route add default via fd00:18::2");
    let near = Canary::listen(LISTENS);
    // The canaries hear: what is refused below could be connected.
    let targets = ["10.1.2.3", "169.254.169.254", "100.64.0.9", "192.168.7.7", "172.16.5.4", PUBLIC];
    for target in targets.iter().copied().chain(["fd12::1", "2002:a01:203::1", "64:ff9b::a01:203"]) {
        let address = SocketAddr::new(target.parse().expect("an address"), 80);
        TcpStream::connect_timeout(&address, Duration::from_secs(20))
            .unwrap_or_else(|error| panic!("{target}: {error}"));
    }
    for target in ["127.0.0.1", "::1", OWN, "198.18.0.1"] {
        TcpStream::connect((target, 80)).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
    while near.count() < 4 {
        std::thread::yield_now();
    }
    // A connection stands before it is accepted and counted.
    let (public_before, others_before) = (1, 8);
    while world.counts() != (public_before, others_before) {
        std::thread::yield_now();
    }

    let mut client = client();
    for url in
        [format!("http://{PUBLIC}/page"), "http://public.test/page".into(), "http://mixed.test/".into()]
    {
        let (refused, text) = fetch(&mut client, &url);
        assert!(!refused && text.contains("Public words"), "{url}: {text}");
        assert!(text.starts_with(&format!("[{url}, text/html, characters 1-")), "{text}");
    }
    let (public_pages, others) = world.counts();
    assert_eq!((public_pages, others), (public_before + 3, others_before));

    let inner = [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.1.2.3",
        "10.255.0.1",
        "172.16.5.4",
        "172.31.255.255",
        "192.168.7.7",
        "169.254.169.254",
        "169.254.1.1",
        "100.64.0.9",
        "100.100.100.200",
        "192.0.0.192",
        "198.18.0.1",
        "198.18.0.2",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        OWN,
    ];
    let inner: Vec<String> =
        inner.iter().flat_map(|ip| notations(ip.parse().expect("an address"), 80)).collect();
    let names = ["inner", "metadata", "loop", "loop6", "unique", "own", "nat"]
        .map(|name| format!("http://{name}.test/"));
    let further = [
        "http://localhost/",
        "http://LOCALHOST./",
        "http://[::1]/",
        "http://[::]/",
        "http://[fd12::1]/",
        "http://[fe80::1]/",
        "http://[fe80::1%25v0]/",
        "http://[ff02::1]/",
        "http://[fec0::1]/",
        "http://[fd00:ec2::254]/",
        "http://[::1%250]/",
        "https://127.0.0.1:80/",
        "https://10.1.2.3:80/",
        "ftp://10.1.2.3/",
        "file:///etc/passwd",
        "gopher://10.1.2.3:80/_",
        "http:10.1.2.3",
        "http:/10.1.2.3",
        "http:\\\\10.1.2.3",
        "//10.1.2.3/",
        "http://10.1.2.3\u{0}.test/",
        "http://93.184.216.34\r\nHost: x/",
        "dict://127.0.0.1:80/x",
        "unix:/run/x",
        "http://1.2.3.4.5.6/",
    ];
    let all: Vec<String> = inner.iter().cloned().chain(names).chain(further.map(str::to_owned)).collect();
    let refused = refuse_all(&mut client, all.clone());
    assert!(refused >= 500, "only {refused} notations");
    assert_eq!((world.counts(), near.count()), ((public_pages, others), 4), "somebody connected");

    // The same behind a public page: one step away, and two.
    let mut behind = 0;
    let sendable =
        |url: &&String| url.contains("://") && url.is_ascii() && !url.contains(|c: char| c.is_control());
    for url in all.iter().filter(sendable) {
        for step in ["to", "step"] {
            let (refused, text) = fetch(&mut client, &format!("http://{PUBLIC}/{step}?{url}"));
            // Another host is named and not asked, so what its name means is judged when somebody asks.
            assert!(refused || text.contains("redirects to another host"), "{url}: {text}");
            behind += 1;
        }
    }
    let (pages, others_now) = world.counts();
    assert_eq!((others_now, near.count()), (others, 4), "somebody connected");
    assert!(pages > public_pages + behind, "the redirects were followed: {pages}");
    println!("{refused} notations and {behind} redirects: 0 connections; {pages} to the public address");
    println!("ALL PARTS DONE");
}
