//! Confines a worker process in layers: resource limits, namespaces, Landlock, and a filter of system calls.
//!
//! The confinement changes the calling process permanently. Afterward, the process needs only memory, its streams, and files that are
//! already open.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};
use libc::{c_int, c_long, c_ulong, rlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use serde::{Deserialize, Serialize};

use crate::vocab::limits::DRAWING_CPU_SECONDS;

/// The newest Landlock version whose access rights this program uses. Older kernels enforce the rights that they support.
const LANDLOCK: ABI = ABI::V6;

/// Whether a layer is required. Layers that containers and older kernels often do not support are optional, because the system call filter
/// alone blocks the same calls.
const REQUIRED: bool = true;
const OPTIONAL: bool = false;

/// The layers of a worker's confinement, active or not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub layers: Vec<Layer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    pub name: String,
    /// Whether a worker refuses to run without this layer, unless `rendering.require_confinement` is false.
    pub is_required: bool,
    /// Why the layer is inactive; `None` if it is active.
    pub off: Option<String>,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.off {
            None => f.write_str(&self.name),
            Some(why) => write!(f, "{} ({why})", self.name),
        }
    }
}

impl Confinement {
    pub fn on(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.off.is_none())
    }

    pub fn off(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.off.is_some())
    }

    /// Returns the first required layer that is inactive.
    pub fn missing(&self) -> Option<&Layer> {
        self.off().find(|layer| layer.is_required)
    }

    fn add(&mut self, name: &str, is_required: bool, done: Result<(), impl fmt::Display>) {
        let off = done.err().map(|why| why.to_string());
        self.layers.push(Layer { name: name.to_owned(), is_required, off });
    }
}

/// Adds the first layers, before the process starts a thread: only a single-threaded process can enter a new user namespace, and later
/// threads inherit the restrictions. The files that the process needs must already be open.
pub fn isolate(memory_bytes: u64) -> Confinement {
    let mut confinement = Confinement::default();
    // Read the size of the address space before Landlock blocks access to the file that contains it.
    let present = address_space();
    confinement.add("no new privileges", REQUIRED, option(libc::PR_SET_NO_NEW_PRIVS, 1));
    confinement.add("user namespace", OPTIONAL, leave(libc::CLONE_NEWUSER));
    confinement.add("network namespace", OPTIONAL, leave(libc::CLONE_NEWNET));
    // If the server is killed, its workers must end too. This step comes after the namespaces, because new credentials would reset the
    // signal.
    confinement.add("end with the server", REQUIRED, option(libc::PR_SET_PDEATHSIG, libc::SIGKILL as c_ulong));
    confinement.add("Landlock", OPTIONAL, refuse_files());
    // This step comes after Landlock, because Landlock needs a file descriptor and the limits allow no new ones.
    confinement.add("resource limits", REQUIRED, present.and_then(|present| limit_resources(present + memory_bytes)));
    confinement
}

/// Adds the last layer, after all threads of the process have started.
pub fn filter_calls(confinement: &mut Confinement) {
    confinement.add("system call filter", REQUIRED, filter());
}

fn limit_resources(addresses: u64) -> io::Result<()> {
    limit(libc::RLIMIT_AS, addresses)?;
    limit(libc::RLIMIT_CPU, DRAWING_CPU_SECONDS)?;
    limit(libc::RLIMIT_CORE, 0)?;
    limit(libc::RLIMIT_FSIZE, 0)?;
    // Open descriptors stay open, but no new ones can be opened.
    limit(libc::RLIMIT_NOFILE, 0)
}

fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let limit = rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the call reads the structure, which outlives it, and touches no other memory of this process.
    done(unsafe { libc::setrlimit(resource, &limit) })
}

fn option(name: c_int, value: c_ulong) -> io::Result<()> {
    let none: c_ulong = 0;
    // SAFETY: these options take only numbers.
    done(unsafe { libc::prctl(name, value, none, none, none) })
}

/// Moves the process into a new namespace of this kind. Many containers and some distributions do not allow this, so the layer is optional.
fn leave(namespace: c_int) -> io::Result<()> {
    // SAFETY: the call takes a number and touches no memory of this process.
    done(unsafe { libc::unshare(namespace) })
}

fn done(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the size of the address space in use, in bytes. The allocator has already reserved much of it without using memory, so the limit
/// applies only to what the process adds later.
fn address_space() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages = text.split_whitespace().next().and_then(|pages| pages.parse::<u64>().ok());
    // SAFETY: the call only returns a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let bytes = pages.zip(u64::try_from(page).ok()).map(|(pages, page)| pages * page);
    bytes.ok_or_else(|| io::Error::other("/proc/self/statm cannot be parsed"))
}

/// Activates Landlock without exceptions: on kernels that support these restrictions, the process cannot use paths or TCP ports, or send
/// signals to other processes. The fonts are already open.
fn refuse_files() -> Result<(), String> {
    let created = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(LANDLOCK)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(LANDLOCK)))
        .and_then(Ruleset::create);
    match created.and_then(|created| created.restrict_self()).map_err(|error| error.to_string())?.ruleset {
        RulesetStatus::NotEnforced => Err("Landlock is not available; use Linux 5.13 or later, and enable Landlock".to_owned()),
        // An older kernel supports fewer access rights. Even the oldest kernel with Landlock supports the rights for files, which are the
        // most important.
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(()),
    }
}

/// The system calls that rendering needs: for memory, open streams and files, locks, signals, time, randomness, and exit. None of them
/// takes a path or a network address, changes another process, or starts a thread: the rendering thread is already running.
const ALLOWED: [c_long; 34] = [
    // Calls for streams and open files.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    // Calls for memory. `mmap` and `mprotect` follow below.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Calls for locks between the two threads, and for scheduling.
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_restart_syscall,
    // A signal handler reports a stack overflow, and returns with `rt_sigreturn`.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    // Calls for the time (if the kernel does not provide it without a system call), for pauses, and for randomness.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_getrandom,
    // Calls for the process's own IDs, which `abort` reads, for its resource usage, and for exit.
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getrusage,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Installs the system call filter in every thread.
///
/// - A call through a different kernel entry, such as `int 0x80` with its 32-bit numbers, ends the process. No compiler emits such a call
///   here, so only an attack makes one, and the filter's numbers would refer to different calls.
/// - A call that is not in the list fails with `ENOSYS`, as on a kernel that does not support it. An attacker gains no more from this error
///   than if the call ended the process. The C library and the allocator try optional calls, which differ between versions, and have a
///   fallback for kernels without these calls. If such a call ended the process, a new C library would make every rendering fail.
fn filter() -> Result<(), String> {
    let not_executable = |argument: u8| {
        let mask = libc::PROT_EXEC as u64;
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), 0)?;
        SeccompRule::new(vec![condition])
    };
    let text = |error: &dyn fmt::Display| error.to_string();
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| text(&error))?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, vec![])).collect();
    // No memory may become executable, so that an attacker cannot run injected code.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![not_executable(2).map_err(|error| text(&error))?]);
    }
    let otherwise = SeccompAction::Errno(libc::ENOSYS as u32);
    let filter = SeccompFilter::new(rules, otherwise, SeccompAction::Allow, architecture).map_err(|error| text(&error))?;
    let program: BpfProgram = filter.try_into().map_err(|error: seccompiler::BackendError| text(&error))?;
    seccompiler::apply_filter_all_threads(&program).map_err(|error| text(&error))
}
