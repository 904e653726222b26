// What the live page shows of the chip: each view is an element and is drawn anew from signals.

import { fill, grouped, make } from "./dom.js";

const UNITS = ["load", "store", "mxu", "vpu", "scalar"];
const NAMES = { load: "load", store: "store", mxu: "matrix", vpu: "vector", scalar: "scalar" };
const DOING = {
  idle: "idle", busy: "busy", wait_deps: "waits for another unit", wait_memory: "waits for a bank",
  wait_bus: "waits for external memory", wait_unit: "waits for itself",
};

/** A pattern of bits as the signed number that it is. */
export function signed(value, bits) {
  return Number(BigInt.asIntN(bits, BigInt(value)));
}

/** A field of the probe's word. */
export function field(word, [first, bits]) {
  return Number((BigInt(word) >> BigInt(first)) & ((1n << BigInt(bits)) - 1n));
}

/** The processing elements: in each the weight, the activation and the sum of this cycle. */
export class ArrayView {
  constructor(tables) {
    this.dim = tables.chip.dim;
    this.bits = { act: 8, weight: 8, sum: tables.chip.sumBits }; // sums are as wide as they must be
    this.element = make("table", { className: "celosia-array" },
      make("caption", {}, "Processing elements: weight, activation, sum"));
    this.cells = Array.from({ length: this.dim }, () => {
      const row = this.element.insertRow();
      return Array.from({ length: this.dim }, () => {
        const parts = ["weight", "act", "sum"].map(
          (name) => make("span", { className: `celosia-${name}` }));
        row.insertCell().append(...parts);
        return parts;
      });
    });
    this.before = null;
  }

  draw(chip) {
    const now = Object.fromEntries(["weight", "act", "sum"].map((name) =>
      [name, chip.signal(name).map((value) => signed(value, this.bits[name]))]));
    this.cells.forEach((row, i) => row.forEach((parts, j) => {
      const at = i * this.dim + j;
      ["weight", "act", "sum"].forEach((name, k) => {
        parts[k].textContent = grouped(now[name][at]);
        parts[k].classList.toggle("celosia-new",
          this.before !== null && this.before[name][at] !== now[name][at]);
      });
    }));
    this.before = now;
  }
}

/** The slots of the scoreboard: which instruction is in each, for which unit, and what it waits for. */
export class ScoreboardView {
  constructor(tables) {
    this.tables = tables;
    this.body = make("tbody");
    this.element = make("table", { className: "celosia-table" },
      make("caption", {}, "Scoreboard: instructions that may overlap"),
      make("thead", {}, make("tr", {}, ...["slot", "instruction", "unit", "waits for"].map(
        (name) => make("th", { scope: "col" }, name)))), this.body);
  }

  draw(chip, textOf) {
    const valid = chip.signal("slots"), pcs = chip.signal("pcs");
    fill(this.body, ...pcs.map((pc, slot) => {
      if (!((valid >> slot) & 1)) {
        return make("tr", {}, make("td", {}, String(slot)), make("td", { colSpan: 3 }, "empty"));
      }
      const waits = chip.signal(`waits${slot}`);
      const others = pcs.map((_, other) => other).filter((other) => (waits >> other) & 1);
      return make("tr", { className: others.length ? "" : "celosia-runs" },
        make("td", {}, String(slot)), make("td", {}, make("code", {}, `${pc}: ${textOf(pc)}`)),
        make("td", {}, NAMES[UNITS[chip.signal(`unit${slot}`)]]),
        make("td", {}, others.length ? `slot ${others.join(", ")}` : "nothing"));
    }));
  }

  /** The instructions that are in it. */
  pcs(chip) {
    const valid = chip.signal("slots");
    return chip.signal("pcs").filter((_, slot) => (valid >> slot) & 1);
  }
}

/** What each unit does: in this cycle, and in those before it. */
export class UnitsView {
  constructor(tables) {
    this.tables = tables;
    this.now = new Map(UNITS.map((unit) => [unit, make("td")]));
    this.table = make("table", { className: "celosia-table" },
      make("caption", {}, "Units in this cycle"),
      make("tbody", {}, ...UNITS.map((unit) =>
        make("tr", {}, make("th", { scope: "row" }, NAMES[unit]), this.now.get(unit)))));
    this.canvas = make("canvas", { className: "celosia-timeline", role: "img", height: 150 });
    const legend = make("p", { className: "celosia-legend" }, ...Object.entries(DOING).slice(1).map(
      ([name, text]) => make("span", {}, make("i", { className: `celosia-${name}` }), text)));
    this.element = make("div", {}, this.table,
      make("p", { className: "celosia-heading" }, "Units over the run, from the chip's probe"),
      this.canvas, legend);
  }

  /** `records`: pairs of a cycle and the probe's word from it on, the last of which is the end. */
  draw(word, records) {
    const { probe, activities } = this.tables;
    for (const unit of UNITS) {
      const doing = activities[field(word, probe[`${unit}_activity`])];
      fill(this.now.get(unit), DOING[doing]);
      this.now.get(unit).className = `celosia-doing celosia-${doing}`;
    }
    this.#timeline(records);
  }

  #timeline(records) {
    const { canvas } = this, { probe, activities } = this.tables;
    const width = canvas.width = Math.max(300, canvas.clientWidth);
    const context = canvas.getContext("2d"), style = getComputedStyle(canvas);
    const colour = Object.fromEntries(Object.keys(DOING).map(
      (name) => [name, style.getPropertyValue(`--celosia-${name.replace("_", "-")}`)]));
    const first = records.length ? records[0][0] : 0;
    const last = records.length ? Math.max(records.at(-1)[0], first + 1) : 1;
    const left = 56, scale = (width - left - 4) / (last - first);
    const busy = Object.fromEntries(UNITS.map((unit) => [unit, 0]));
    context.clearRect(0, 0, width, canvas.height);
    context.font = "12px sans-serif";
    context.fillStyle = style.color;
    UNITS.forEach((unit, row) => context.fillText(NAMES[unit], 2, row * 25 + 18));
    context.fillText(`${grouped(last - first)} cycles`, left, 146);
    for (let i = 0; i + 1 < records.length; i++) {
      const [cycle, word] = records[i], cycles = records[i + 1][0] - cycle;
      UNITS.forEach((unit, row) => {
        const doing = activities[field(word, probe[`${unit}_activity`])];
        if (doing === "idle") return;
        if (doing === "busy") busy[unit] += cycles;
        context.fillStyle = colour[doing];
        context.fillRect(left + (cycle - first) * scale, row * 25 + 4,
          Math.max(cycles * scale, 0.6), 18);
      });
    }
    canvas.setAttribute("aria-label", `Of ${grouped(last - first)} cycles the units are busy in: ` +
      UNITS.map((unit) => `${NAMES[unit]} ${grouped(busy[unit])}`).join(", "));
  }
}

/** The chip's counters: cycles of each unit by what it does, and all others that are not 0. */
export class CountersView {
  constructor(tables) {
    this.tables = tables;
    this.first = Math.min(...Object.values(tables.counters));
    this.names = Object.keys(tables.counters);
    this.before = null;
    this.cells = new Map();
    const cell = (name) => this.cells.set(name, make("td")).get(name);
    this.units = make("table", { className: "celosia-table" },
      make("caption", {}, "Counters, as the register port has them in this cycle"),
      make("thead", {}, make("tr", {}, ...["cycles", ...UNITS.map((unit) => NAMES[unit])].map(
        (name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...Object.entries(DOING).map(([state, text]) => make("tr", {},
        make("th", { scope: "row" }, text),
        ...UNITS.map((unit) => cell(`${unit}_${state}`))))));
    this.others = make("tbody", {}, ...this.names.filter((name) => !this.cells.has(name)).map(
      (name) => make("tr", {}, make("th", { scope: "row" }, make("code", {}, name)), cell(name))));
    this.element = make("div", { className: "celosia-counters", tabIndex: 0 }, this.units,
      make("table", { className: "celosia-table" }, this.others));
  }

  draw(chip) {
    const now = chip.counters(this.first, this.names.length);
    this.names.forEach((name, i) => {
      const cell = this.cells.get(name);
      cell.textContent = grouped(now[i]);
      cell.classList.toggle("celosia-new", this.before !== null && this.before[i] !== now[i]);
      if (cell.parentNode.parentNode === this.others && name.startsWith("conflicts")) {
        cell.parentNode.hidden = !now[i];
      }
    });
    this.before = now;
    return now;
  }
}

/** Rows of an on-chip memory by bank; what changed since the last drawing is marked. */
export class MemoryView {
  constructor(name, title, bits, rows) {
    Object.assign(this, { name, title, bits, rows, before: null });
    this.body = make("tbody");
    this.element = make("table", { className: "celosia-table celosia-memory" },
      make("caption", {}, title),
      make("thead", {}, make("tr", {}, ...["row", "bank", "lanes"].map(
        (text) => make("th", { scope: "col" }, text)))), this.body);
  }

  draw(chip, banks) {
    const raw = chip.peek(this.name, 0, this.rows);
    const values = this.bits === 8 ? new Int8Array(raw.buffer) : new Int32Array(raw.buffer);
    const lanes = values.length / this.rows;
    fill(this.body, ...Array.from({ length: this.rows }, (_, row) => {
      const now = Array.from(values.slice(row * lanes, (row + 1) * lanes));
      const changed = this.before && now.some((value, i) => value !== this.before[row * lanes + i]);
      return make("tr", { className: changed ? "celosia-new" : "" },
        make("th", { scope: "row" }, String(row)), make("td", {}, String(row % banks)),
        make("td", {}, make("code", {}, now.join(" "))));
    }));
    this.before = values.slice();
  }
}
