"""Take from this process, for good, the file system, the network, other processes and new programs (Linux).

A seccomp filter lists the system calls that remain: memory, threads, time, and files that are already open. All others
fail with EPERM. The filter needs no privilege and no library (``man 2 seccomp``).
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys

NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2  # of prctl
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_ANY_BIT, RETURN_VALUE = 0x20, 0x15, 0x45, 0x06  # instructions of the filter
ALLOW, REFUSE, END_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
EPERM, ENOSYS = 1, 38
CALL_NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # places in what the filter sees of a call
THREAD = 0x00010000  # flag of clone

# Machine → (its number, system call → number)
# fmt: off
CALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9,
            "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14,
            "rt_sigreturn": 15, "pread64": 17, "readv": 19, "writev": 20, "sched_yield": 24,
            "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "sendto": 44,
            "recvfrom": 45, "clone": 56, "exit": 60, "gettimeofday": 96, "getrusage": 98,
            "sigaltstack": 131, "gettid": 186, "futex": 202, "sched_getaffinity": 204,
            "restart_syscall": 219, "clock_gettime": 228, "clock_nanosleep": 230, "exit_group": 231,
            "ppoll": 271, "set_robust_list": 273, "getcpu": 309, "getrandom": 318,
            "membarrier": 324, "rseq": 334, "clone3": 435,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66,
            "pread64": 67, "ppoll": 73, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98,
            "set_robust_list": 99, "nanosleep": 101, "clock_gettime": 113, "clock_nanosleep": 115,
            "sched_getaffinity": 123, "sched_yield": 124, "restart_syscall": 128,
            "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139,
            "getrusage": 165, "getcpu": 168, "gettimeofday": 169, "getpid": 172, "gettid": 178,
            "sendto": 206, "recvfrom": 207, "brk": 214, "munmap": 215, "mremap": 216, "clone": 220,
            "mmap": 222, "mprotect": 226, "madvise": 233, "getrandom": 278, "membarrier": 283,
            "rseq": 293, "clone3": 435,
        },
    ),
}
# fmt: on


def known() -> bool:
    """Tell whether there is a filter for this system."""
    return sys.platform == "linux" and platform.machine() in CALLS and sys.maxsize > 1 << 32


def confine() -> None:
    """Install the filter in this process and in all threads that it starts later.

    Raises
    ------
    OSError
        If the kernel refuses it.
    """
    program = _filter(*CALLS[platform.machine()])
    held = ctypes.create_string_buffer(program)
    given = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, given, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def _filter(machine: int, calls: dict[str, int]) -> bytes:
    """Return the program: each step has an instruction, jumps if true and if false, and a value."""
    threads = [
        (JUMP_IF_EQUAL, 0, 1, calls["clone3"]),  # its flags cannot be seen: the C library then takes clone
        (RETURN_VALUE, 0, 0, REFUSE | ENOSYS),
        (JUMP_IF_EQUAL, 0, 4, calls["clone"]),
        (LOAD_WORD, 0, 0, FIRST_ARGUMENT),
        (JUMP_IF_ANY_BIT, 0, 1, THREAD),
        (RETURN_VALUE, 0, 0, ALLOW),
        (RETURN_VALUE, 0, 0, REFUSE | EPERM),
    ]
    plain = [number for name, number in calls.items() if name not in ("clone", "clone3")]
    steps = [
        (LOAD_WORD, 0, 0, MACHINE),
        (JUMP_IF_EQUAL, 1, 0, machine),
        (RETURN_VALUE, 0, 0, END_PROCESS),
        (LOAD_WORD, 0, 0, CALL_NUMBER),
        *threads,
        *((JUMP_IF_EQUAL, len(plain) - i, 0, number) for i, number in enumerate(plain)),
        (RETURN_VALUE, 0, 0, REFUSE | EPERM),
        (RETURN_VALUE, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
