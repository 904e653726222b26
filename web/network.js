// The page that trains: a step of a network is one program, which the chip runs again and again.

import { Chip } from "./chip.js";
import { breathe, failed, fill, grouped, json, make } from "./dom.js";
import { Device } from "./driver.js";

const WATCHDOG = 10_000_000;
const WIDTH = 640, HEIGHT = 260, LEFT = 44, BOTTOM = 30;
const FIELD = 320, REACH = 2.2, CELLS = 32;
const LABELS = ["#2c63c9", "#b35900"];

const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
const floats = (data) => new Float32Array(data.slice().buffer);

/** The upper halves of fp32 numbers that have nothing in the lower ones. */
function bf16(values) {
  const wide = new Uint32Array(Float32Array.from(values).buffer);
  return new Uint8Array(Uint16Array.from(wide, (bits) => bits >>> 16).buffer);
}

class Training {
  constructor(root, chip, tables, given) {
    Object.assign(this, { root, given });
    this.device = new Device(chip, { ...tables, chip: given.chip });
    const program = given.program;
    this.program = { ...program, code: bytes(program.code), insns: [], relocations: [], sources: [],
      constants: new Map(Object.entries(program.constants).map(
        ([name, text]) => [name, bytes(text)])) };
    this.#build();
    this.restart();
  }

  #build() {
    const button = (text, action) => make("button", { type: "button", onclick: action }, text);
    this.status = make("p", { role: "status", className: "celosia-status" });
    this.verdict = make("p", { id: "celosia-verdict" });
    this.wrong = make("div");
    this.plot = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "celosia-plot", role: "img" });
    this.field = make("canvas", { width: FIELD, height: FIELD, role: "img" });
    fill(this.root,
      make("div", { className: "celosia-bar" }, button("Train", () => this.train()),
        button("One step", () => this.guard(() => this.step())),
        button("Stop", () => { this.stopping = true; }),
        button("Begin again", () => this.restart())),
      this.status, this.verdict, this.wrong,
      make("div", { className: "celosia-columns" },
        make("section", {}, make("p", { className: "celosia-heading" },
          "Loss of each step: the chip's as a line, the golden model's as rings"), this.plot),
        make("section", {}, make("p", { className: "celosia-heading" },
          "The points, and what the network takes each place for"), this.field)));
  }

  restart() {
    this.stopping = true;
    this.losses = [];
    this.cycles = 0;
    this.device.chip.reset();
    this.device.load(this.program);
    for (const [name, text] of Object.entries(this.given.state)) this.device.put(name, bytes(text));
    fill(this.wrong);
    this.draw();
  }

  guard(action) {
    try {
      action();
      this.draw();
    } catch (error) {
      this.stopping = true;
      failed(this.wrong, error);
    }
  }

  /** One step: a batch and its labels go to the chip, its loss comes back. All else stays there. */
  step() {
    const { batches, labels, points, rate, loss } = this.given;
    const rows = batches[this.losses.length % batches.length];
    this.device.put("x", bf16(rows.flatMap((row) => points[row])));
    this.device.put("labels", new Uint8Array(Int32Array.from(rows, (row) => labels[row]).buffer));
    this.device.put("rate", new Uint8Array(Float32Array.of(rate).buffer));
    const { cycles } = this.device.run(WATCHDOG);
    this.cycles += cycles;
    this.last = cycles;
    this.losses.push(floats(this.device.get(loss))[0]);
  }

  async train() {
    this.stopping = false;
    const begin = performance.now(), first = this.losses.length;
    while (!this.stopping && this.losses.length < this.given.batches.length) {
      const until = performance.now() + 40;
      this.guard(() => {
        do this.step();
        while (performance.now() < until && this.losses.length < this.given.batches.length);
      });
      await breathe();
    }
    this.rate = (this.losses.length - first) / (performance.now() - begin) * 1000;
    this.draw();
  }

  /** Classes of points, of the parameters in the chip's memory, in fp32 here. */
  #classes(points) {
    const [w1, b1, w2, b2] = ["w1", "b1", "w2", "b2"].map((name) => floats(this.device.get(name)));
    const { hidden } = this.given;
    return points.map(([x, y]) => {
      const inner = Array.from({ length: hidden },
        (_, i) => Math.max(0, w1[2 * i] * x + w1[2 * i + 1] * y + b1[i]));
      const score = (k) => inner.reduce((sum, value, i) => sum + w2[k * hidden + i] * value, b2[k]);
      return score(1) > score(0) ? 1 : 0;
    });
  }

  draw() {
    const { golden, labels, points } = this.given, made = this.losses.length;
    const right = this.#classes(points).filter((label, i) => label === labels[i]).length;
    const last = made ? this.losses[made - 1].toFixed(4) : "none yet";
    fill(this.status, `Step ${made} of ${golden.length}: loss ${last}, ` +
      `${right} of ${points.length} points are right; ${grouped(this.cycles)} cycles` +
      (made ? `, ${grouped(this.last)} in the last step.` : "."));
    const equal = this.losses.every((loss, i) => loss === golden[i]);
    fill(this.verdict, !made ? "" : equal
      ? `All ${made} losses equal those of the golden model, in every bit.`
      : "A loss differs from that of the golden model.");
    this.verdict.className = equal ? "celosia-same" : "celosia-wrong";
    this.#plotted();
    this.#pictured();
  }

  #plotted() {
    const { golden } = this.given;
    const top = Math.max(...golden) * 1.05;
    const x = (i) => LEFT + i / golden.length * (WIDTH - LEFT - 10);
    const y = (loss) => 10 + (1 - loss / top) * (HEIGHT - BOTTOM - 10);
    const ticks = [0, 0.25, 0.5, 0.75, 1].filter((value) => value < top);
    fill(this.plot, ...ticks.flatMap((value) => [
      make("line", { x1: LEFT, x2: WIDTH - 10, y1: y(value), y2: y(value),
        stroke: "currentColor", "stroke-opacity": 0.2 }),
      make("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, String(value))]),
    ...[0, 100, 200, 300].map((step) => make("text", { x: x(step), y: HEIGHT - 8,
      "text-anchor": "middle" }, String(step))),
    ...golden.filter((_, i) => i % 10 === 0).map((loss, i) => make("circle", { cx: x(10 * i),
      cy: y(loss), r: 3.5, fill: "none", stroke: LABELS[1] })),
    make("polyline", { points: this.losses.map((loss, i) => `${x(i)},${y(loss)}`).join(" "),
      fill: "none", stroke: LABELS[0], "stroke-width": 1.5 }));
    this.plot.setAttribute("aria-label", `Loss over ${this.losses.length} steps` +
      (this.losses.length ? `, from ${this.losses[0].toFixed(3)} to ` +
        this.losses.at(-1).toFixed(3) : ""));
  }

  #pictured() {
    const context = this.field.getContext("2d"), size = FIELD / CELLS;
    const place = (value) => (value / REACH + 1) / 2 * FIELD;
    const centre = (i) => ((i + 0.5) / CELLS * 2 - 1) * REACH;
    const cells = Array.from({ length: CELLS * CELLS },
      (_, at) => [centre(at % CELLS), centre(Math.floor(at / CELLS))]);
    context.clearRect(0, 0, FIELD, FIELD);
    this.#classes(cells).forEach((label, at) => {
      context.fillStyle = LABELS[label] + "40";
      context.fillRect((at % CELLS) * size, Math.floor(at / CELLS) * size, size, size);
    });
    this.given.points.forEach(([x, y], i) => {
      context.fillStyle = LABELS[this.given.labels[i]];
      context.beginPath();
      context.arc(place(x), place(y), 2.5, 0, 7);
      context.fill();
    });
    this.field.setAttribute("aria-label", "256 points of two half circles that reach into each " +
      "other; behind them the class that the network gives to each place");
  }
}

const root = document.getElementById("celosia-network");
try {
  const [description, tables, given, module] = await Promise.all([
    json("network-chip.json"), json("isa.json"), json("network.json"),
    Chip.compile(fetch(new URL("network-chip.wasm", import.meta.url)))]);
  const chip = await Chip.open(module, description);
  chip.timing();
  globalThis.celosia = new Training(root, chip, tables, given);
} catch (error) {
  failed(root, error);
}
