//! The memory of the process: the allocator, and giving back to the machine what nobody uses any more.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Give back what is free. The allocator does so by itself only while memory is being asked for or freed: after an import or a large
/// query it would keep what they needed at most.
pub fn give_back() {
    // SAFETY: the call may be made by any thread at any time; it touches only memory that is free.
    unsafe { libmimalloc_sys::mi_collect(true) };
}
