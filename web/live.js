// The live page: a program in an editor, and the chip that runs it, cycle by cycle.

import { AsmError, assemble } from "./asm/assembler.js";
import { Chip } from "./chip.js";
import { breathe, failed, fill, grouped, json, make } from "./dom.js";
import { Device } from "./driver.js";
import { NumpyArray, NumpyError } from "./numpy/array.js";
import { answer } from "./numpy/evaluate.js";
import { ArrayView, CountersView, MemoryView, ScoreboardView, UnitsView, field } from "./views.js";

const LIMIT = 20_000_000; // cycles of a run
const SLICE = 50_000; // of them between two drawings
const RECORDS = 20_000; // of the probe that are kept for the picture
const BANKS = 4;

/** A constant generator of random numbers, so that a page shows the same twice. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** The numbers of a buffer. */
function numbers(buffer, bytes) {
  const { buffer: raw } = bytes.slice();
  return buffer.dtype === "int8" ? new Int8Array(raw)
    : buffer.dtype === "int32" ? new Int32Array(raw)
      : buffer.dtype === "float32" ? new Float32Array(raw) : new Uint16Array(raw);
}

class Page {
  constructor(root, chip, tables, examples) {
    Object.assign(this, { root, chip, tables, examples });
    this.device = new Device(chip, tables);
    this.program = null;
    this.state = "idle"; // or running, done, wrong
    this.records = [];
    this.#build();
    this.choose(examples[0]);
  }

  #build() {
    const button = (text, action, title) => make("button", { type: "button", title,
      onclick: () => this.#guard(action) }, text);
    this.select = make("select", { id: "celosia-example", onchange: () => this.choose(
      this.examples[this.select.selectedIndex]) },
    ...this.examples.map((each) => make("option", {}, each.title)));
    this.editor = make("textarea", { id: "celosia-editor", rows: 16, spellcheck: false,
      autocapitalize: "off", autocomplete: "off", oninput: () => this.#edited() });
    this.numpy = make("textarea", { id: "celosia-numpy", rows: 3, spellcheck: false,
      autocapitalize: "off", autocomplete: "off" });
    this.stop = button("Stop", async () => { this.stopping = true; }, "End the run");
    this.buttons = [
      button("Run", () => this.run(), "Assemble the program and run it to its end"),
      button("Step a cycle", () => this.step(1), "One clock cycle"),
      button("Step 10", () => this.step(10), "Ten clock cycles"),
      button("Next instruction", () => this.next(), "Until another instruction is executed"),
      button("Play", () => this.play(), "Cycle after cycle, slowly"),
      button("Begin again", () => this.restart(), "Reset the chip")];
    this.status = make("p", { role: "status", className: "celosia-status" });
    this.wrong = make("div", { className: "celosia-problems" });
    this.listing = make("ol", { className: "celosia-listing", start: 0 });
    this.results = make("div", { className: "celosia-results" });
    this.registers = make("p", { className: "celosia-registers" });
    this.array = new ArrayView(this.tables);
    this.board = new ScoreboardView(this.tables);
    this.units = new UnitsView(this.tables);
    this.counters = new CountersView(this.tables);
    this.ub = new MemoryView("ub", "Unified buffer, its first rows", 8, 16);
    this.acc = new MemoryView("acc", "Accumulators, their first rows", 32, 16);
    fill(this.root,
      make("div", { className: "celosia-bar" },
        make("label", { htmlFor: "celosia-example" }, "Program "), this.select, ...this.buttons,
        this.stop),
      this.status, this.wrong,
      make("div", { className: "celosia-columns" },
        make("section", {},
          make("label", { htmlFor: "celosia-editor", className: "celosia-heading" },
            "Assembly: change it, and run it"), this.editor,
          make("label", { htmlFor: "celosia-numpy", className: "celosia-heading" },
            "NumPy, for comparison: change it with the program"), this.numpy,
          make("p", { className: "celosia-heading" }, "Instructions: executed now, in the window"),
          this.listing, this.registers, this.results),
        make("section", {}, this.array.element, this.board.element, this.units.element,
          this.counters.element),
        make("section", {}, this.ub.element), make("section", {}, this.acc.element)));
  }

  /** Do something, one at a time; say what goes wrong. */
  async #guard(action) {
    if (this.busy && action) {
      this.stopping = true;
      return;
    }
    this.busy = true;
    this.stopping = false;
    fill(this.wrong);
    try {
      await action();
    } catch (error) {
      this.state = "wrong";
      failed(this.wrong, error);
      if (!(error instanceof AsmError)) this.draw();
    } finally {
      this.busy = false;
    }
  }

  choose(example) {
    this.example = example;
    this.select.selectedIndex = this.examples.indexOf(example);
    this.editor.value = example.text;
    this.numpy.value = example.numpy;
    this.#edited();
    fill(this.wrong);
    return this.#guard(() => this.restart());
  }

  #edited() {
    this.program = null;
    this.state = "idle";
  }

  /** Assemble what is in the editor, and place it with its inputs. */
  #place() {
    const program = assemble(this.editor.value, this.tables, {
      filename: this.example.file, fingerprint: this.tables.chip.fingerprint });
    this.chip.reset();
    this.device.load(program);
    this.inputs = {};
    const next = random(1);
    for (const buffer of program.buffers.filter((each) => each.kind === "input")) {
      const given = this.example.inputs[buffer.name];
      const bytes = given && given.length === buffer.nbytes ? Uint8Array.from(given)
        : Uint8Array.from({ length: buffer.nbytes }, next);
      this.inputs[buffer.name] = bytes;
      this.device.put(buffer.name, bytes);
    }
    this.program = program;
    this.lines = this.editor.value.split("\n");
    fill(this.listing, ...program.insns.map((_, pc) => make("li", {}, this.textOf(pc))));
    this.records = [];
  }

  textOf(pc) {
    const line = this.program?.lines[pc];
    return line === undefined ? "" : this.lines[line - 1].replace(/[;#].*$/, "")
      .replace(/^\s*\w+:/, "").trim().replace(/\s+/g, " ");
  }

  async restart() {
    this.#place();
    this.state = "idle";
    this.results.replaceChildren();
    this.#inputs();
    this.draw();
  }

  #start() {
    if (this.program === null || this.state !== "running") {
      this.#place();
      this.device.start(LIMIT);
      this.begin = this.chip.now;
      this.chip.watch(BigInt(this.tables.probeStates));
      this.state = "running";
      this.results.replaceChildren();
      this.#inputs();
    }
  }

  /** Let cycles pass; return whether the run has ended. */
  #pass(cycles) {
    const { stop } = this.chip.run(cycles);
    const more = this.chip.watched();
    if (this.records.length < RECORDS) this.records.push(...more);
    if (stop !== "interrupt") return false;
    this.chip.watch(0n);
    this.state = "done";
    this.records.push([this.chip.now, 0n]);
    this.cycles = this.device.finish(LIMIT).cycles;
    this.#outputs();
    return true;
  }

  async run() {
    this.state = "idle";
    this.#start();
    while (!this.#pass(SLICE)) {
      this.draw();
      await breathe();
      if (this.stopping) break;
    }
    this.draw();
  }

  async step(cycles) {
    this.#start();
    this.#pass(cycles);
    this.draw();
  }

  async next() {
    this.#start();
    const pc = this.chip.signal("pc");
    for (let i = 0; i < 10_000 && this.chip.signal("pc") === pc; i++) if (this.#pass(1)) break;
    this.draw();
  }

  async play() {
    this.#start();
    while (!this.stopping && !this.#pass(1)) {
      this.draw();
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    this.draw();
  }

  #inputs() {
    const parts = this.program.buffers.filter((each) => each.kind === "input").map((buffer) =>
      this.#matrix(buffer, numbers(buffer, this.inputs[buffer.name]), null));
    this.results.append(...parts);
  }

  /** What NumPy's lines compute of what the chip has been given; or why they do not. */
  #golden(buffer) {
    const { buffers, constants } = this.program;
    const given = buffers.filter(({ dtype }) => ["int8", "int32"].includes(dtype)).flatMap((each) => {
      const bytes = this.inputs[each.name] ?? constants.get(each.name);
      return bytes ? [[each.name, new NumpyArray(each.dtype, each.shape,
        Array.from(numbers(each, bytes), BigInt))]] : [];
    });
    try {
      return { values: answer(this.numpy.value, new Map(given), buffer).data.map(Number) };
    } catch (error) {
      if (!(error instanceof NumpyError)) throw error;
      return { why: error.message };
    }
  }

  #outputs() {
    this.results.append(...this.program.buffers.filter((each) => each.kind === "output").map((buffer) =>
      this.#matrix(buffer, numbers(buffer, this.device.get(buffer.name)), this.#golden(buffer))));
  }

  /** A tensor as a table; beside it NumPy's where that is known. */
  #matrix(buffer, values, golden) {
    const columns = buffer.shape.at(-1) ?? 1, shape = `${buffer.dtype}[${buffer.shape.join(", ")}]`;
    const table = (title, from, other) => {
      const body = make("table", { className: "celosia-matrix" }, make("caption", {}, title));
      for (let at = 0; at < Math.min(from.length, 16 * columns); at += columns) {
        const row = body.insertRow();
        from.slice(at, at + columns).forEach((value, i) => {
          const cell = row.insertCell();
          cell.textContent = String(value);
          if (other && other[at + i] !== value) cell.className = "celosia-differs";
        });
      }
      return body;
    };
    if (buffer.kind === "input") return table(`${buffer.name}, ${shape}: input`, values, null);
    const made = table(`${buffer.name}, ${shape}: the chip's`, values, golden.values);
    const verdict = (state, text) =>
      make("p", { className: `celosia-${state}`, id: "celosia-verdict" }, text);
    if (golden.why) {
      return make("div", {}, made, verdict("unknown", `Not compared with NumPy: ${golden.why}`));
    }
    const same = values.every((value, i) => value === golden.values[i]);
    return make("div", { className: "celosia-beside" }, made,
      table(`${buffer.name}, by NumPy's rules`, golden.values, values),
      same ? verdict("same", "All are equal.") : verdict("wrong", "They differ."));
  }

  draw() {
    const word = this.chip.signal("probe"), pc = this.chip.signal("pc");
    const inside = new Set(this.state === "running" ? this.board.pcs(this.chip) : []);
    [...this.listing.children].forEach((item, i) => {
      item.classList.toggle("celosia-now", this.state === "running" && i === pc);
      item.classList.toggle("celosia-inside", inside.has(i));
    });
    this.array.draw(this.chip);
    this.board.draw(this.chip, (index) => this.textOf(index));
    this.counters.draw(this.chip);
    this.units.draw(word, this.state === "running" ? [...this.records, [this.chip.now, word]]
      : this.records);
    this.ub.draw(this.chip, BANKS);
    this.acc.draw(this.chip, BANKS);
    const set = this.chip.signal("registers").map((value, i) => [i, value | 0])
      .filter(([, value]) => value);
    fill(this.registers, set.length ? "Scalar registers: " : "Scalar registers: all 0",
      set.map(([i, value]) => `r${i} = ${value}`).join(", "));
    const running = field(word, this.tables.probe.running);
    fill(this.status, {
      idle: () => "Ready.",
      running: () => `Cycle ${grouped(this.chip.now - this.begin)}, ` +
        (running ? `instruction ${pc} is executed.` : "the program starts."),
      done: () => `Done in ${grouped(this.cycles)} cycles.`,
      wrong: () => "Stopped.",
    }[this.state]());
  }
}

const root = document.getElementById("celosia-live");
try {
  const [description, tables, examples, module] = await Promise.all([
    json("chip.json"), json("isa.json"), json("examples.json"),
    Chip.compile(fetch(new URL("chip.wasm", import.meta.url)))]);
  const chip = await Chip.open(module, description);
  chip.timing();
  globalThis.celosia = new Page(root, chip, tables, examples);
} catch (error) {
  failed(root, error);
}
