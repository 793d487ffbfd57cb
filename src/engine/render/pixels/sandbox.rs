//! Giving up rights: limits on memory, time and files, and a filter that refuses sockets and other programs.
//!
//! It changes the process it is called in, for good. It does not know what the process does afterwards.

use std::io;

use libc::{c_int, c_ulong, rlimit, sock_filter, sock_fprog};

use crate::vocab::limits::{DRAWING_CPU_SECONDS, DRAWING_MEMORY_BYTES};

/// Standard streams, fonts one at a time, and some.
const FILES_MAX: u64 = 16;

/// Give up everything that drawing does not need.
pub fn enter() -> io::Result<()> {
    // The allocator has set addresses aside already, which cost nothing: the limit is on what comes on top.
    let present = address_space().unwrap_or_default();
    limit(libc::RLIMIT_AS, present + DRAWING_MEMORY_BYTES)?;
    limit(libc::RLIMIT_CPU, DRAWING_CPU_SECONDS)?;
    limit(libc::RLIMIT_NOFILE, FILES_MAX)?;
    limit(libc::RLIMIT_CORE, 0)?;
    option(libc::PR_SET_NO_NEW_PRIVS, 1)?;
    // A server that is killed must leave no worker behind.
    option(libc::PR_SET_PDEATHSIG, libc::SIGKILL as c_ulong)?;
    // Drawing needs none of what the filter refuses, so a kernel without filters is no reason not to draw.
    let _ = refuse_calls();
    Ok(())
}

fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let limit = rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the call reads the structure, which outlives it, and touches no memory of ours.
    done(unsafe { libc::setrlimit(resource, &limit) })
}

fn option(name: c_int, value: c_ulong) -> io::Result<()> {
    let none: c_ulong = 0;
    // SAFETY: these options take numbers only.
    done(unsafe { libc::prctl(name, value, none, none, none) })
}

fn done(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Addresses in use, in bytes.
fn address_space() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().next()?.parse().ok()?;
    // SAFETY: the call only returns a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

/// Calls that fail from now on: ways to other machines, other programs and other processes.
const REFUSED: [libc::c_long; 12] = [
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_io_uring_setup,
    libc::SYS_bpf,
    libc::SYS_unshare,
];

/// Places of the fields in what the kernel shows a filter.
const CALL_NUMBER: u32 = 0;

fn refuse_calls() -> io::Result<()> {
    let step = |code: u32, jump_true: u8, jump_false: u8, operand: u32| sock_filter {
        code: code as u16,
        jt: jump_true,
        jf: jump_false,
        k: operand,
    };
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, CALL_NUMBER)];
    for (number, call) in REFUSED.iter().enumerate() {
        let to_refusal = REFUSED.len() - number;
        filter.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to_refusal as u8, 0, *call as u32));
    }
    filter.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    filter.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    let none: c_ulong = 0;
    // SAFETY: the kernel copies the program, which outlives the call.
    done(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER as c_ulong, &program, none, none) })
}
