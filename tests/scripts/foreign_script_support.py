"""HDF5 files whose data is in another file, in each of the ways that HDF5 has."""
import struct

import h5py
import numpy

BLOCK = 1 << 16
MASK = (1 << 64) - 1


def external_link(file, path, secret):
    """The object is in another HDF5 file."""
    values = file[path][:]
    del file[path]
    with h5py.File(secret, "w") as other:
        other["x"] = values
    file[path] = h5py.ExternalLink(secret, "/x")


def linked_group(file, path, secret):
    """As above, and the link is that of the group in which it is."""
    group, name = path.rsplit("/", 1)
    with h5py.File(secret, "w") as other:
        for key in file[group]:
            file.copy(f"{group}/{key}", other, key)
    del file[group]
    file[group] = h5py.ExternalLink(secret, "/")
    return name


def soft_link(file, path, secret):
    """By a link inside the file to such a link."""
    external_link(file, path, secret)
    file.move(path, "/elsewhere")
    file[path] = h5py.SoftLink("/elsewhere")


def external_storage(file, path, secret):
    """The description is here, the bytes are in a file of any kind."""
    values = file[path][:]
    values.tofile(secret)
    del file[path]
    file.create_dataset(path, values.shape, values.dtype, external=[(secret, 0, values.nbytes)])


def virtual_dataset(file, path, secret):
    """Put together of datasets of other files."""
    values = file[path][:]
    with h5py.File(secret, "w") as other:
        other["x"] = values
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    layout[...] = h5py.VirtualSource(secret, "x", shape=values.shape)
    del file[path]
    file.create_virtual_dataset(path, layout)


WAYS = (external_link, linked_group, soft_link, external_storage, virtual_dataset)


def hash_words(state, words):
    for word in words:
        state = (state ^ word) * 0x9E3779B97F4A7C15 & MASK
        state ^= state >> 32
        state = state * 0xD6E8FEB86659FD93 & MASK
        state ^= state >> 29
    return state


def hash_bytes(state, data):
    padded = data + bytes(-len(data) % 8)
    return hash_words(state, (len(data), *numpy.frombuffer(padded, "<u8").tolist()))


BEGIN = 0x243F6A8885A308D3


def seal(path):
    """What rigor puts behind a recording (src/record/record_seal.h): so far anyone can do it."""
    with open(path, "rb") as file:
        content = file.read()
    table = b"".join(struct.pack("<Q", hash_bytes(hash_words(BEGIN, (number,)), content[start:start + BLOCK]))
                     for number, start in enumerate(range(0, len(content), BLOCK)))
    end = struct.pack("<QQQQ", 0x31304C4145534752, len(content), len(table) // 8, hash_bytes(BEGIN, table))
    with open(path, "ab") as file:
        file.write(table + end + struct.pack("<Q", hash_bytes(BEGIN, end)))
