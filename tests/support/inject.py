"""Makes a thread of another process call the kernel, as code that took it over would. x86-64
only, and for who may trace."""

import ctypes
import os
import platform
import time

ATTACH, DETACH, PEEK, GETREGS, SETREGS = 16, 17, 1, 12, 13
SYSCALL_INSTRUCTION = 0x050F  # its two bytes, as a little-endian number

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Registers(ctypes.Structure):
    """struct user_regs_struct of x86-64."""

    _fields_ = [
        (name, ctypes.c_ulonglong)
        for name in (
            "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp "
            "ss fs_base gs_base ds es fs gs"
        ).split()
    ]


def can_inject() -> bool:
    return platform.machine() == "x86_64" and os.geteuid() == 0


def _ptrace(request: int, pid: int, data: object = None, address: int = 0) -> int:
    ctypes.set_errno(0)
    result = int(_libc.ptrace(request, pid, address, data))
    if ctypes.get_errno():
        raise OSError(ctypes.get_errno(), "ptrace")
    return result


def call(pid: int, number: int, seconds: float = 10) -> None:
    """Lets the first thread of the process make this system call, with 0 as every argument. The
    thread must come to wait in the kernel."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _ptrace(ATTACH, pid)
        os.waitpid(pid, 0x40000000)  # __WALL
        registers = Registers()
        _ptrace(GETREGS, pid, ctypes.addressof(registers))
        before = registers.rip - 2
        waits = _ptrace(PEEK, pid, None, before) & 0xFFFF == SYSCALL_INSTRUCTION
        if waits:
            registers.rip, registers.rax = before, number
            registers.orig_rax = 2**64 - 1  # nothing is begun again
            for name in "rdi rsi rdx r10 r8 r9".split():
                setattr(registers, name, 0)
            _ptrace(SETREGS, pid, ctypes.addressof(registers))
        _ptrace(DETACH, pid)
        if waits:
            return
        time.sleep(0.001)
    raise AssertionError(f"process {pid} never waited in the kernel")


class Held:
    """Threads of another process that do not run any more: all but its first, as if each were in a
    loop without an end."""

    def __init__(self, pid: int) -> None:
        self.threads = [int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid]
        for thread in self.threads:
            _ptrace(ATTACH, thread)
            os.waitpid(thread, 0x40000000)

    def gone(self) -> bool:
        """Whether the process has ended. Only who traces them can say that its threads have."""
        for thread in list(self.threads):
            ended, how = os.waitpid(thread, 0x40000000 | os.WNOHANG)
            if ended and (os.WIFSIGNALED(how) or os.WIFEXITED(how)):
                self.threads.remove(thread)
        return not self.threads
