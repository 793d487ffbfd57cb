//! Tests what a confined worker process cannot do. A child of this program confines itself as workers do, and then tries what an
//! attacker who runs code in it would try. The system call filter must reject each attempt. Attempts that need no special rights are
//! also made without confinement, where they succeed. Another child measures each layer on its own: a layer that the kernel offers must
//! be active and have its effect, even though the filter blocks the same calls.
//!
//! This test is a separate program without the usual test runner, because a process must be confined before it starts a thread.

use std::ffi::CString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use mailmill::engine::render::pixels::{filter_calls, isolate};

const MEMORY_BYTES: u64 = 256 * 1024 * 1024;
/// The name of this test, which a filter on the command line can select.
const NAME: &str = "confinement";

/// The target of an attempt.
struct Target {
    key: CString,
    /// Another process of the same user.
    victim: libc::pid_t,
}

/// An attempt: its name, whether it succeeds without confinement, and a function that returns the kernel's result, which is
/// negative if the attempt failed.
type Attempt = (&'static str, bool, fn(&Target) -> libc::c_long);

// SAFETY of all attempts: each passes numbers, or pointers to values that outlive the call.
const ATTEMPTS: &[Attempt] = &[
    ("socket", true, |_| unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0).into() }),
    ("socket of the machine", true, |_| unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0).into() }),
    ("open the key", true, |target| unsafe { libc::open(target.key.as_ptr(), libc::O_RDONLY).into() }),
    ("openat the key", true, |target| unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, target.key.as_ptr(), 0) }),
    ("openat2 the key", false, |target| unsafe {
        let how = [0_u64; 3];
        libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, target.key.as_ptr(), how.as_ptr(), 24)
    }),
    ("write a file", true, |_| unsafe {
        libc::open(c"/tmp/mailmill-confinement".as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600).into()
    }),
    ("stat the key", true, |target| unsafe { libc::access(target.key.as_ptr(), libc::F_OK).into() }),
    ("kill", true, |target| unsafe { libc::kill(target.victim, 0).into() }),
    ("tgkill", true, |target| unsafe { libc::syscall(libc::SYS_tgkill, target.victim, target.victim, 0) }),
    ("pidfd_open", false, |target| unsafe { libc::syscall(libc::SYS_pidfd_open, target.victim, 0) }),
    ("ptrace", false, |target| unsafe { libc::ptrace(libc::PTRACE_SEIZE, target.victim, 0_usize, 0_usize) }),
    ("process_vm_readv", false, |target| unsafe {
        let (mut byte, here) = (0_u8, 0_u8);
        let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let remote = libc::iovec { iov_base: (&raw const here).cast_mut().cast(), iov_len: 1 };
        let read = libc::process_vm_readv(target.victim, &local, 1, &remote, 1, 0);
        // The attempt also counts as a success if the kernel reports that the other process does not have this address.
        if read == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) { 0 } else { read as libc::c_long }
    }),
    ("fork", true, |_| unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(0);
        }
        child.into()
    }),
    ("run code that was written", true, |_| unsafe {
        let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        if libc::mmap(std::ptr::null_mut(), 4096, rights, kind, -1, 0) == libc::MAP_FAILED { -1 } else { 0 }
    }),
    ("io_uring", false, |_| unsafe {
        let mut parameters = [0_u8; 120];
        libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr())
    }),
    ("unshare", false, |_| unsafe { libc::unshare(libc::CLONE_NEWNS).into() }),
    ("mount", false, |_| unsafe {
        libc::mount(c"none".as_ptr(), c"/tmp".as_ptr(), c"tmpfs".as_ptr(), 0, std::ptr::null()).into()
    }),
    ("prctl", true, |_| unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0).into() }),
    ("raise a limit", false, |_| unsafe {
        let limit = libc::rlimit { rlim_cur: 1 << 40, rlim_max: 1 << 40 };
        libc::setrlimit(libc::RLIMIT_AS, &limit).into()
    }),
    #[cfg(target_arch = "x86_64")]
    ("x32 entry", false, |_| unsafe { libc::syscall(0x4000_0000 | libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0) }),
];

/// Opens a socket through the entry point for 32-bit programs, where system calls have different numbers than those that a filter
/// usually checks.
#[cfg(target_arch = "x86_64")]
fn socket_by_32_bit_entry() -> libc::c_long {
    const SOCKET: u64 = 359;
    let mut result = SOCKET;
    // SAFETY: the call takes only numbers, and `rbx`, which the compiler reserves, is restored.
    unsafe {
        std::arch::asm!("xchg rbx, {domain}", "int 0x80", "xchg rbx, {domain}", domain = inout(reg) 2_u64 => _,
            inout("rax") result, in("rcx") 1_u64, in("rdx") 0_u64, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    i64::from(result as i32)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("attempt") => return attempt(&arguments[1..]),
        Some("layers") => return measure_layers(&arguments[1]),
        _ => {}
    }
    let filter = arguments.iter().find(|word| !word.starts_with('-'));
    if arguments.iter().any(|word| word == "--list") || filter.is_some_and(|filter| !NAME.contains(filter.as_str())) {
        return;
    }
    every_attempt_of_a_confined_process_fails();
    every_layer_that_the_kernel_offers_has_its_effect();
    #[cfg(target_arch = "x86_64")]
    the_32_bit_entry_ends_a_confined_process();
    every_thread_of_a_worker_is_confined();
    a_worker_that_cannot_be_confined_refuses_to_run();
}

/// Runs as the attacked process: confines itself unless told otherwise, makes the attempt, and prints the result and the error's number.
fn attempt(arguments: &[String]) {
    let [confined, name, key, victim] = arguments else { panic!("{arguments:?}") };
    let target = Target { key: CString::new(key.as_str()).expect("a path"), victim: victim.parse().expect("a number") };
    let name = name.clone();
    let mut confinement = (confined == "confined").then(|| isolate(MEMORY_BYTES));
    let (start, started) = std::sync::mpsc::channel::<()>();
    // The attempt runs on a different thread than the one that sets the filter, like rendering.
    let thread = std::thread::Builder::new().name("attempt".to_owned()).spawn(move || {
        started.recv().expect("the other thread is there");
        #[cfg(target_arch = "x86_64")]
        if name == "32-bit entry" {
            return (socket_by_32_bit_entry(), 0);
        }
        let (_, _, attempt) = ATTEMPTS.iter().find(|(other, ..)| *other == name).expect("an attempt");
        (attempt(&target), error_number())
    });
    if let Some(confinement) = &mut confinement {
        filter_calls(confinement);
        assert_eq!(confinement.missing(), None);
    }
    start.send(()).expect("the thread waits");
    let (result, error) = thread.expect("a thread").join().expect("it does not panic");
    if result < 0 {
        return println!("failed {error}");
    }
    println!("worked");
}

fn error_number() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or_default()
}

/// Runs as a process that confines itself. Prints a line for each layer: its name, whether the kernel offers the layer, whether the
/// confinement reports it as active, and whether its effect is present.
fn measure_layers(folder: &str) {
    let namespaces = || ["user", "net"].map(|kind| std::fs::read_link(format!("/proc/self/ns/{kind}")).expect("a link"));
    let before: [PathBuf; 2] = namespaces();
    let offers_users = enters(libc::CLONE_NEWUSER);
    let offers_networks = enters(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) || enters(libc::CLONE_NEWNET);
    // SAFETY: the call takes only numbers, and returns the version of Landlock.
    let offers_landlock = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, 1_usize) } > 0;
    let folder = CString::new(folder).expect("a path");
    let mut confinement = isolate(MEMORY_BYTES);
    let after = namespaces();
    let mut signal: libc::c_int = 0;
    // SAFETY: the calls take numbers, or pointers to values that outlive the call.
    let (privileges, ends, made) = unsafe {
        (
            libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0_usize, 0_usize, 0_usize, 0_usize) == 1,
            libc::prctl(libc::PR_GET_PDEATHSIG, &raw mut signal) == 0 && signal == libc::SIGKILL,
            libc::mkdir(folder.as_ptr(), 0o700),
        )
    };
    // No file descriptor is needed for a folder, so the resource limits do not block this call.
    let is_landlocked = made == -1 && error_number() == libc::EACCES;
    let most = |resource| {
        let mut limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        // SAFETY: the structure outlives the call.
        assert_eq!(unsafe { libc::getrlimit(resource, &raw mut limit) }, 0);
        limit.rlim_max
    };
    let is_limited = [most(libc::RLIMIT_NOFILE), most(libc::RLIMIT_CORE), most(libc::RLIMIT_FSIZE)] == [0; 3]
        && most(libc::RLIMIT_CPU) == 10
        && most(libc::RLIMIT_AS) < libc::RLIM_INFINITY;
    filter_calls(&mut confinement);
    // SAFETY: the call takes only numbers. Without the filter, it fails for lack of a file descriptor.
    let is_filtered = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) } == -1 && error_number() == libc::ENOSYS;
    let found = [
        ("no new privileges", true, privileges),
        ("user namespace", offers_users, before[0] != after[0]),
        ("network namespace", offers_networks, before[1] != after[1]),
        ("end with the server", true, ends),
        ("Landlock", offers_landlock, is_landlocked),
        ("resource limits", true, is_limited),
        ("system call filter", true, is_filtered),
    ];
    assert_eq!(confinement.layers.len(), found.len(), "{confinement:?}");
    for (layer, (name, is_offered, has_effect)) in confinement.layers.iter().zip(found) {
        assert_eq!(layer.name, name);
        println!("{name}: {is_offered} {} {has_effect}", layer.off.is_none());
    }
}

/// Returns whether the kernel lets a process enter new namespaces of these kinds.
fn enters(namespaces: libc::c_int) -> bool {
    // SAFETY: this process has one thread, and the child makes only two calls.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(i32::from(libc::unshare(namespaces) != 0));
        }
        let mut status = 0;
        child > 0 && libc::waitpid(child, &raw mut status, 0) == child && status == 0
    }
}

fn tried(confined: &str, name: &str, key: &str, victim: &Child) -> Output {
    let program = std::env::current_exe().expect("this program");
    let arguments = ["attempt", confined, name, key, &victim.id().to_string()];
    Command::new(program).args(arguments).output().expect("it starts")
}

/// Provides a key and another process of the same user while `test` runs.
fn with_targets(test: impl FnOnce(&str, &Child)) {
    let key = std::env::temp_dir().join(format!("mailmill-confinement-{}.key", std::process::id()));
    std::fs::write(&key, "secret").expect("written");
    let mut victim = Command::new("sleep").arg("60").spawn().expect("it starts");
    test(key.to_str().expect("plain"), &victim);
    victim.kill().expect("it runs");
    victim.wait().expect("it ends");
    std::fs::remove_file(key).expect("it is there");
    let _ = std::fs::remove_file("/tmp/mailmill-confinement");
}

fn every_layer_that_the_kernel_offers_has_its_effect() {
    let folder = std::env::temp_dir().join(format!("mailmill-confinement-{}", std::process::id()));
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).arg("layers").arg(&folder).output().expect("it starts");
    // Without Landlock, the process has created the folder.
    let _ = std::fs::remove_dir(&folder);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.lines().count() == 7, "{output:?}");
    for line in text.lines() {
        assert!(line.ends_with(": true true true") || line.ends_with(": false false false"), "{line}");
    }
    println!("every layer that the kernel offers has its effect:\n{text}");
}

fn every_attempt_of_a_confined_process_fails() {
    with_targets(|key, victim| {
        for (name, works_elsewhere, _) in ATTEMPTS {
            let output = tried("confined", name, key, victim);
            let refused = format!("failed {}\n", libc::ENOSYS);
            assert_eq!(String::from_utf8_lossy(&output.stdout), refused, "{name}: not refused by the filter: {output:?}");
            if *works_elsewhere {
                let output = tried("unconfined", name, key, victim);
                assert_eq!(String::from_utf8_lossy(&output.stdout), "worked\n", "{name}, unconfined: {output:?}");
            }
        }
    });
    println!("{} attempts fail in a confined process", ATTEMPTS.len());
}

#[cfg(target_arch = "x86_64")]
fn the_32_bit_entry_ends_a_confined_process() {
    with_targets(|key, victim| {
        let free = tried("unconfined", "32-bit entry", key, victim);
        let output = tried("confined", "32-bit entry", key, victim);
        // A kernel without this entry point ends the process with a different signal.
        let expected = if free.stdout == b"worked\n" { libc::SIGSYS } else { libc::SIGSEGV };
        assert_eq!((output.status.signal(), output.stdout.as_slice()), (Some(expected), b"".as_slice()), "{free:?}");
    });
    println!("the 32-bit entry ends a confined process");
}

fn worker() -> Command {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_mailmill"));
    worker.arg("render-worker").env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
    worker
}

/// Checks the worker program itself, before it has read any input.
fn every_thread_of_a_worker_is_confined() {
    let mut worker = worker().spawn().expect("it starts");
    let tasks = format!("/proc/{}/task", worker.id());
    let statuses = || -> Vec<String> {
        let tasks = std::fs::read_dir(&tasks).expect("it runs").flatten();
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok()).collect()
    };
    let is_confined = |status: &String| status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1");
    let mut found = Vec::new();
    for _ in 0..500 {
        found = statuses();
        if found.len() == 2 && found.iter().all(is_confined) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(found.len() == 2 && found.iter().all(is_confined), "{found:#?}");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", worker.id())).expect("it runs");
    let limit = |name: &str| limits.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_whitespace().nth(3));
    assert_eq!((limit("Max open files"), limit("Max cpu time")), (Some("0"), Some("10")), "{limits}");
    drop(worker.stdin.take());
    assert!(worker.wait().expect("it ends").success());
    println!("both threads of a worker are confined");
}

/// A container may forbid filters. The worker then reports this and reads no input, unless an option allows it to run without
/// confinement.
fn a_worker_that_cannot_be_confined_refuses_to_run() {
    let refused = |mut worker: Command| {
        // SAFETY: between fork and exec, the child only installs a filter that was created before.
        unsafe {
            worker
                .pre_exec(|| seccompiler::apply_filter(&without_filters()).map_err(|error| io::Error::other(error.to_string())));
        }
        let output = worker.stdin(Stdio::null()).output().expect("it starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = refused(worker());
    assert!(said.contains("the worker process cannot be confined: system call filter"), "{said}");
    let mut unconfined = worker();
    unconfined.arg("--unconfined");
    let said = refused(unconfined);
    assert!(!said.contains("cannot be confined") && said.contains("communication with the rendering process failed"), "{said}");
    println!("a worker that cannot be confined refuses to run");
}

/// Returns a filter that allows every call except installing another filter.
fn without_filters() -> seccompiler::BpfProgram {
    use seccompiler::{SeccompAction, SeccompFilter};
    let rules = [(libc::SYS_seccomp, vec![])].into_iter().collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let architecture = std::env::consts::ARCH.try_into().expect("a known one");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).expect("right");
    filter.try_into().expect("right")
}
