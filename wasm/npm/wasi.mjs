/* As much of WASI (snapshot preview 1) as the module asks for: clocks, and a directory of files in
 * memory that can be read. Messages of failed assertions are kept for the error that follows.
 * Numbers are those of the WASI specification. */

const OK = 0;
const BAD_FILE = 8;
const NO_ENTRY = 44;
const NOT_SUPPORTED = 58;
const DIRECTORY = 3; // the file number of the one directory
const IS_DIRECTORY = 3;
const IS_FILE = 4;
const STDERR = 2;
const RIGHTS = 0xffffffffffffffffn;

export class Exit extends Error {}

export class Wasi {
  constructor() {
    this.files = new Map(); // path without a leading slash: Uint8Array
    this.open = new Map(); // file number: { bytes, at }
    this.next = DIRECTORY + 1;
    this.said = "";
    this.memory = null;
  }

  view() {
    return new DataView(this.memory.buffer);
  }

  text(at, size) {
    return new TextDecoder().decode(new Uint8Array(this.memory.buffer, at, size));
  }

  /* Calls put(bytes) for every piece of memory in a list; returns the sum of what it returns. */
  pieces(list, count, put) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const at = this.view().getUint32(list + 8 * i, true);
      const size = this.view().getUint32(list + 8 * i + 4, true);
      sum += put(new Uint8Array(this.memory.buffer, at, size));
    }
    return sum;
  }

  find(at, size) {
    const parts = [];
    for (const part of this.text(at, size).split("/"))
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    return this.files.get(parts.join("/"));
  }

  putStat(at, type, size) {
    new Uint8Array(this.memory.buffer, at, 64).fill(0);
    this.view().setUint8(at + 16, type);
    this.view().setBigUint64(at + 32, BigInt(size), true);
    return OK;
  }

  imports() {
    return {
      environ_sizes_get: (count, size) => {
        this.view().setUint32(count, 0, true);
        this.view().setUint32(size, 0, true);
        return OK;
      },
      environ_get: () => OK,
      clock_time_get: (_clock, _precision, result) => {
        const nanoseconds = BigInt(Math.round(performance.now() * 1e6));
        this.view().setBigUint64(result, nanoseconds, true);
        return OK;
      },
      fd_prestat_get: (file, result) => {
        if (file !== DIRECTORY) return BAD_FILE;
        this.view().setUint32(result, 0, true);
        this.view().setUint32(result + 4, 1, true);
        return OK;
      },
      fd_prestat_dir_name: (file, at) => {
        if (file !== DIRECTORY) return BAD_FILE;
        this.view().setUint8(at, "/".charCodeAt(0));
        return OK;
      },
      fd_fdstat_get: (file, at) => {
        if (file > DIRECTORY && !this.open.has(file)) return BAD_FILE;
        new Uint8Array(this.memory.buffer, at, 24).fill(0);
        this.view().setUint8(at, file === DIRECTORY ? IS_DIRECTORY : IS_FILE);
        this.view().setBigUint64(at + 8, RIGHTS, true);
        this.view().setBigUint64(at + 16, RIGHTS, true);
        return OK;
      },
      fd_fdstat_set_flags: () => NOT_SUPPORTED,
      fd_renumber: () => NOT_SUPPORTED,
      fd_filestat_get: (file, at) => {
        if (file === DIRECTORY) return this.putStat(at, IS_DIRECTORY, 0);
        const from = this.open.get(file);
        return from ? this.putStat(at, IS_FILE, from.bytes.length) : BAD_FILE;
      },
      path_filestat_get: (_directory, _flags, path, size, at) => {
        const bytes = this.find(path, size);
        return bytes ? this.putStat(at, IS_FILE, bytes.length) : NO_ENTRY;
      },
      path_open: (_directory, _flags, path, size, _o, _base, _inherit, _fdflags, result) => {
        const bytes = this.find(path, size);
        if (!bytes) return NO_ENTRY;
        this.open.set(this.next, { bytes, at: 0 });
        this.view().setUint32(result, this.next++, true);
        return OK;
      },
      fd_close: (file) => (this.open.delete(file) ? OK : BAD_FILE),
      fd_read: (file, list, count, result) => {
        const from = this.open.get(file);
        if (!from) return BAD_FILE;
        const sum = this.pieces(list, count, (to) => {
          const some = from.bytes.subarray(from.at, from.at + to.length);
          to.set(some);
          from.at += some.length;
          return some.length;
        });
        this.view().setUint32(result, sum, true);
        return OK;
      },
      fd_seek: (file, offset, whence, result) => {
        const from = this.open.get(file);
        if (!from) return BAD_FILE;
        from.at = Number(offset) + [0, from.at, from.bytes.length][whence];
        this.view().setBigUint64(result, BigInt(from.at), true);
        return OK;
      },
      fd_write: (file, list, count, result) => {
        if (file > STDERR) return BAD_FILE;
        const sum = this.pieces(list, count, (bytes) => {
          this.said += new TextDecoder().decode(bytes);
          return bytes.length;
        });
        this.view().setUint32(result, sum, true);
        return OK;
      },
      proc_exit: (code) => {
        throw new Exit(`the module ended with code ${code}: ${this.said.trim()}`);
      },
    };
  }
}
