# SPDX-License-Identifier: MIT
"""Kernels made by hand: a page of machine code behind the header of the boot protocol."""

import struct

# Where the protocol has its fields, and where the code lies: both in bytes from the file's start.
SETUP_SECTS, SYSSIZE, BOOT_FLAG, JUMP, HEADER = 0x1f1, 0x1f4, 0x1fe, 0x200, 0x202
VERSION, KERNEL_VERSION, LOADFLAGS, RAMDISK_MAX, XLOADFLAGS = 0x206, 0x20e, 0x211, 0x22c, 0x236
CODE, TEXT, RELEASE = 0x270, 0x400, 0x600
NR_SETUP_SECTS = 4
NR_PAYLOAD_BYTES = 4096

# Its segment begins at the jump.
SEGMENT = JUMP


def code_that_prints(then):
    text, idtr = (struct.pack("<H", offset - SEGMENT) for offset in (TEXT, TEXT - 8))
    # Every byte to the serial port, until there is a zero.
    code = b"\xba\xf8\x03" b"\x0e\x1f" b"\xbe" + text
    code += b"\xac" b"\x84\xc0" b"\x74\x03" b"\xee" b"\xeb\xf8"
    if then == "hangs":
        # Interrupts off, then halt.
        return code + b"\xfa\xf4\xeb\xfd"
    # Without a table of interrupts the first one resets the machine, as a panic does.
    return code + b"\x0f\x01\x1e" + idtr + b"\xcc"


def write(path, text, then="resets"):
    """A kernel that prints a text on its console, and then resets or hangs."""
    file = bytearray((NR_SETUP_SECTS + 1) * 512 + NR_PAYLOAD_BYTES)

    def put(offset, layout, *values):
        struct.pack_into("<" + layout, file, offset, *values)

    put(SETUP_SECTS, "B", NR_SETUP_SECTS)
    put(SYSSIZE, "I", NR_PAYLOAD_BYTES // 16)
    put(BOOT_FLAG, "H", 0xaa55)
    put(JUMP, "BB", 0xeb, CODE - HEADER)
    put(HEADER, "4s", b"HdrS")
    put(VERSION, "H", 0x20f)
    put(KERNEL_VERSION, "H", RELEASE - 0x200)
    put(LOADFLAGS, "B", 1)
    put(RAMDISK_MAX, "I", 0x7fffffff)
    put(XLOADFLAGS, "H", 1)
    for offset, content in ((CODE, code_that_prints(then)), (TEXT, text.encode() + b"\0"),
                            (RELEASE, b"0.1-by-hand\0")):
        file[offset:offset + len(content)] = content
    with open(path, "wb") as out:
        out.write(file)
    return path


def write_arm64(path):
    """The header of an arm64 Image."""
    with open(path, "wb") as out:
        out.write(b"MZ".ljust(56, b"\0") + b"ARM\x64".ljust(4096, b"\0"))
    return path
