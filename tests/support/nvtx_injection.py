"""A profiler in one page of C: an injection library that logs the NVTX calls that reach it.

The library is built into a folder by ``build_injection``; a program that is started with
``environment`` loads it on its first NVTX call. ``read_log`` says what came.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Numbers of the interface tables, and the layout of the event attributes: NVTX version 3.
SOURCE = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    int64_t payload;
    int32_t message_type;
    const char *message; /* registered: the handle made by register_string, which is the text */
};

struct callbacks {
    size_t size;
    int (*module_table)(int module, void ****table, unsigned *length);
};

enum { CALLBACKS = 1 };
enum { CORE = 1, CORE_RANGE_PUSH = 9, CORE_RANGE_POP = 11 };
enum {
    CORE2 = 5, DOMAIN_MARK = 1, DOMAIN_RANGE_START = 2, DOMAIN_RANGE_END = 3, DOMAIN_RANGE_PUSH = 4,
    DOMAIN_RANGE_POP = 5, DOMAIN_REGISTER_STRING = 10, DOMAIN_CREATE = 12
};

/* One whole line per call, appended: processes and threads may share the file. */
static void note(const char *verb, const char *domain, const char *message) {
    const char *path = getenv("NVTX_LOG_FILE");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log) return;
    fprintf(log, "%d\t%s\t%s\t%s\n", (int)getpid(), verb, domain ? domain : "",
            message ? message : "");
    fclose(log);
}

static const char *text(const struct attributes *a) {
    return a && (a->message_type == 1 || a->message_type == 3) ? a->message : "";
}

static void *create_domain(const char *name) { note("domain", name, ""); return strdup(name); }
static void *register_string(void *domain, const char *s) { (void)domain; return strdup(s); }
static int push(void *domain, const struct attributes *a) {
    note("push", domain, text(a));
    return 0;
}
static int pop(void *domain) { note("pop", domain, ""); return 0; }
static void mark(void *domain, const struct attributes *a) { note("mark", domain, text(a)); }
static uint64_t start(void *domain, const struct attributes *a) {
    note("start", domain, text(a));
    return 1;
}
static void end(void *domain, uint64_t id) { (void)id; note("end", domain, ""); }
static int push_plain(const char *message) { note("push", "", message); return 0; }
static int pop_plain(void) { note("pop", "", ""); return 0; }

static void fill(void ***table, unsigned length, unsigned slot, void *function) {
    if (slot < length && table[slot]) *table[slot] = function;
}

int InitializeInjectionNvtx2(void *(*export_table)(uint32_t)) {
    struct callbacks *callbacks = export_table(CALLBACKS);
    void ***table;
    unsigned length;
    if (!callbacks) return 0;
    if (callbacks->module_table(CORE, &table, &length)) {
        fill(table, length, CORE_RANGE_PUSH, (void *)push_plain);
        fill(table, length, CORE_RANGE_POP, (void *)pop_plain);
    }
    if (callbacks->module_table(CORE2, &table, &length)) {
        fill(table, length, DOMAIN_MARK, (void *)mark);
        fill(table, length, DOMAIN_RANGE_START, (void *)start);
        fill(table, length, DOMAIN_RANGE_END, (void *)end);
        fill(table, length, DOMAIN_RANGE_PUSH, (void *)push);
        fill(table, length, DOMAIN_RANGE_POP, (void *)pop);
        fill(table, length, DOMAIN_REGISTER_STRING, (void *)register_string);
        fill(table, length, DOMAIN_CREATE, (void *)create_domain);
    }
    return 1;
}
"""


@dataclass(frozen=True)
class NvtxCall:
    """One call that arrived: ``verb`` is domain, push, pop, mark, start or end."""

    process_id: int
    verb: str
    domain: str
    message: str


@dataclass(frozen=True)
class NvtxRange:
    """One push/pop range; ``path`` names the ranges around it and itself, outermost first."""

    domain: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Injection:
    """A built library and the file it writes to."""

    library: Path
    log: Path

    def environment(self) -> dict[str, str]:
        """This process's environment, and what makes a program's NVTX calls arrive."""
        inherited = {name: value for name, value in os.environ.items() if name != "NVTX_DISABLE"}
        return {
            **inherited,
            "NVTX_INJECTION64_PATH": str(self.library),
            "NVTX_LOG_FILE": str(self.log),
        }

    def read_log(self) -> list[NvtxCall]:
        """All calls, in the order they came; empty when no NVTX call was made."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").splitlines()
        fields = [line.split("\t") for line in lines]
        return [NvtxCall(int(pid), verb, domain, text) for pid, verb, domain, text in fields]

    def ranges(self) -> list[NvtxRange]:
        """The push/pop ranges, in the order pushed, of a program with one thread that uses NVTX.

        Raises:
            AssertionError: a range was popped that was not pushed, or pushed and never popped.
        """
        ranges: list[NvtxRange] = []
        opened: dict[tuple[int, str], list[str]] = {}
        for number, call in enumerate(self.read_log()):
            stack = opened.setdefault((call.process_id, call.domain), [])
            if call.verb == "push":
                stack.append(call.message)
                ranges.append(NvtxRange(call.domain, tuple(stack)))
            elif call.verb == "pop":
                assert stack, f"call {number} pops a range of {call.domain!r} that was not pushed"
                stack.pop()
        left = {key: stack for key, stack in opened.items() if stack}
        assert not left, f"ranges were never popped: {left}"
        return ranges


def find_c_compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build_injection(folder: Path) -> Injection:
    """Build the library into ``folder``. Raises CalledProcessError with the compiler's words."""
    compiler = find_c_compiler()
    assert compiler is not None, "there is no C compiler: ask find_c_compiler first"
    source, library = folder / "injection.c", folder / "injection.so"
    source.write_text(SOURCE, encoding="utf-8")
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source]
    subprocess.run(command, check=True)
    return Injection(library, folder / "nvtx.log")
