// The chip: its whole RTL as WebAssembly, with external memory of 4 GiB behind it.
//
// The module is made by celosia_sim.wasm; its functions are those of sim/celosia_sim/harness/api.cpp.

const RUN_ENDS = ["cycles", "interrupt", "violation", "probe"];
const SPAN = 65536; // bytes of external memory that are copied at a time

export class ProtocolError extends Error {}

/** What a module asks of its surroundings: there are no files, no arguments, no time, no chance. */
function surroundings(memory) {
  const view = () => new DataView(memory().buffer);
  const absent = () => 52; // ENOSYS
  const known = {
    environ_sizes_get: (count, bytes) => {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return 0;
    },
    environ_get: () => 0,
    clock_time_get: (clock, precision, time) => {
      view().setBigUint64(time, 0n, true);
      return 0;
    },
    random_get: (address, size) => {
      new Uint8Array(memory().buffer, address, size).fill(4);
      return 0;
    },
    fd_write: (file, vectors, count, written) => {
      let text = "", bytes = 0;
      for (let i = 0; i < count; i++) {
        const address = view().getUint32(vectors + 8 * i, true);
        const size = view().getUint32(vectors + 8 * i + 4, true);
        text += new TextDecoder().decode(new Uint8Array(memory().buffer, address, size).slice());
        bytes += size;
      }
      console.error(text);
      view().setUint32(written, bytes, true);
      return 0;
    },
    proc_exit: (code) => {
      throw new Error(`the chip's module ended with code ${code}`);
    },
  };
  return { wasi_snapshot_preview1: new Proxy(known, { get: (all, name) => all[name] ?? absent }) };
}

/** One chip with its memory, out of reset. */
export class Chip {
  /**
   * Compile a module once; `new Chip` of it is quick.
   * @param {BufferSource|Response|Promise<Response>} source chip.wasm
   */
  static async compile(source) {
    const response = await source;
    return response instanceof Response
      ? WebAssembly.compile(await response.arrayBuffer()) // whatever type the server says it has
      : WebAssembly.compile(response);
  }

  /**
   * @param {WebAssembly.Module} module what `compile` returned
   * @param {object} description chip.json
   */
  static async open(module, description) {
    let exports;
    const instance = await WebAssembly.instantiate(module, surroundings(() => exports.memory));
    exports = instance.exports;
    exports._initialize();
    return new Chip(exports, description);
  }

  constructor(exports, description) {
    this.exports = exports;
    this.description = description;
    if (exports.celosia_abi() !== description.abi) {
      throw new Error(`the chip's interface must be version ${description.abi}, ` +
        `not ${exports.celosia_abi()}`);
    }
    this.handle = exports.celosia_new();
    this.scratch = exports.malloc(SPAN);
    this.places = Object.fromEntries(Object.entries(description.signals).map(
      ([name, signal]) => [name, exports.celosia_signal(this.handle, signal.number)]));
    this.memories = { ub: this.#text("ub"), acc: this.#text("acc") };
  }

  #text(text) {
    const bytes = new TextEncoder().encode(text + "\0");
    const address = this.exports.malloc(bytes.length);
    new Uint8Array(this.exports.memory.buffer, address, bytes.length).set(bytes);
    return address;
  }

  #view() {
    return new DataView(this.exports.memory.buffer);
  }

  /** Clock cycles since the chip was made. */
  get now() {
    return Number(this.exports.celosia_now(this.handle));
  }

  /** Pull the reset pin; memories keep their contents. */
  reset() {
    this.exports.celosia_reset(this.handle);
  }

  /** Set the timing of external memory. */
  timing({ bytesPerCycle = 0, readLatency = 64, writeLatency = 8, outstanding = 64,
    stallSeed = null, stallRate = 0 } = {}) {
    this.exports.celosia_timing(this.handle, bytesPerCycle, readLatency, writeLatency,
      outstanding, stallSeed === null ? 0n : BigInt(stallSeed) + 1n, stallRate);
  }

  /** Answer an error to beats that touch the bytes first..last. */
  addError(first, last) {
    this.exports.celosia_add_error(this.handle, BigInt(first), BigInt(last), 1, 1);
  }

  clearErrors() {
    this.exports.celosia_clear_errors(this.handle);
  }

  /** Run `limit` cycles at most; return why it stopped and the cycles that it ran. */
  run(limit, untilInterrupt = true) {
    const stop = this.exports.celosia_run(this.handle, BigInt(limit), untilInterrupt ? 1 : 0,
      this.scratch);
    const cycles = Number(this.#view().getBigUint64(this.scratch, true));
    if (RUN_ENDS[stop] === "violation") this.#violation();
    return { stop: RUN_ENDS[stop], cycles };
  }

  #violation() {
    const memory = new Uint8Array(this.exports.memory.buffer);
    const from = this.exports.celosia_violation(this.handle);
    const text = new TextDecoder().decode(memory.slice(from, memory.indexOf(0, from)));
    throw new ProtocolError(`memory port, cycle ${this.now}: ${text}`);
  }

  #answer(status, offset) {
    const name = "0x" + offset.toString(16).padStart(3, "0");
    if (status === -1) throw new ProtocolError(`register port: no answer at offset ${name}`);
    if (status === -2) this.#violation();
    if (status) throw new ProtocolError(`the chip must answer OKAY to register ${name}, not ${status}`);
  }

  /** Read a register over the chip's own port: some cycles pass. */
  readRegister(offset) {
    const status = this.exports.celosia_read_register(this.handle, offset, this.scratch);
    this.#answer(status, offset);
    return this.#view().getUint32(this.scratch, true);
  }

  writeRegister(offset, value) {
    this.#answer(this.exports.celosia_write_register(this.handle, offset, value >>> 0), offset);
  }

  /** Return a copy of external memory. */
  readMemory(address, size) {
    const data = new Uint8Array(size);
    for (let at = 0; at < size; at += SPAN) {
      const part = Math.min(SPAN, size - at);
      this.exports.celosia_read_memory(this.handle, BigInt(address + at), this.scratch, BigInt(part));
      data.set(new Uint8Array(this.exports.memory.buffer, this.scratch, part), at);
    }
    return data;
  }

  writeMemory(address, data) {
    for (let at = 0; at < data.length; at += SPAN) {
      const part = data.subarray(at, at + SPAN);
      new Uint8Array(this.exports.memory.buffer, this.scratch, part.length).set(part);
      this.exports.celosia_write_memory(this.handle, BigInt(address + at), this.scratch,
        BigInt(part.length));
    }
  }

  /** Rows of the on-chip memory "ub" or "acc", and the bytes of one. */
  rows(memory) {
    const rows = this.exports.celosia_rows(this.handle, this.memories[memory], this.scratch);
    return { rows: Number(rows), bytes: Number(this.#view().getBigUint64(this.scratch, true)) };
  }

  /** Return rows of "ub" or "acc" as they are now, one after another. */
  peek(memory, row, count) {
    const { bytes } = this.rows(memory);
    const data = new Uint8Array(count * bytes);
    const most = Math.floor(SPAN / bytes);
    for (let at = 0; at < count; at += most) {
      const part = Math.min(most, count - at);
      this.exports.celosia_peek(this.handle, this.memories[memory], BigInt(row + at),
        BigInt(part), this.scratch);
      data.set(new Uint8Array(this.exports.memory.buffer, this.scratch, part * bytes), at * bytes);
    }
    return data;
  }

  /** Note the probe whenever one of the bits `states` (a BigInt) of it changes; 0n: no more. */
  watch(states) {
    if (!this.exports.celosia_probe_set(this.handle, states, 0n) && states) {
      throw new Error("the chip must have the pin probe, but its Verilog has none");
    }
  }

  /** Return what was noted since the last call: pairs of a cycle and the word from it on. */
  watched() {
    const size = Number(this.exports.celosia_probe_size(this.handle));
    const place = this.exports.malloc(Math.max(16 * size, 1));
    this.exports.celosia_probe_read(this.handle, place);
    const words = new BigUint64Array(this.exports.memory.buffer.slice(place, place + 16 * size));
    this.exports.free(place);
    return Array.from({ length: size }, (_, i) => [Number(words[2 * i]), words[2 * i + 1]]);
  }

  /**
   * Return counters as the register port has them in this cycle; none passes.
   * @param {number} first offset of the first one
   * @param {number} count how many, 8 bytes apart
   */
  counters(first, count) {
    if (!this.exports.celosia_counters(this.handle, first, count, this.scratch)) {
      throw new ProtocolError("register port: no answer of the counters");
    }
    const view = this.#view();
    return Array.from({ length: count }, (_, i) => view.getUint32(this.scratch + 4 * i, true));
  }

  /** Return a signal as it is now: a number, or an array of those of a group. */
  signal(name) {
    const { bytes, count } = this.description.signals[name];
    const place = this.places[name], view = this.#view();
    const one = (i) => {
      const at = place + i * bytes;
      return bytes === 1 ? view.getUint8(at) : bytes === 2 ? view.getUint16(at, true)
        : bytes === 4 ? view.getUint32(at, true) : view.getBigUint64(at, true);
    };
    return count === 1 ? one(0) : Array.from({ length: count }, (_, i) => one(i));
  }

  close() {
    this.exports.celosia_free(this.handle);
  }
}
