// Answers tests/node.py: a line of JSON for each line.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, module, description] = process.argv.slice(2);
const { Chip } = await import(pathToFileURL(`${folder}/chip.js`));
const chip = await Chip.open(await Chip.compile(readFileSync(module)),
  JSON.parse(readFileSync(description)));
chip.timing();
const text = (bytes) => Buffer.from(bytes).toString("base64");
const answers = {
  now: () => chip.now,
  options: (errors) => {
    chip.clearErrors();
    for (const [first, last] of errors) chip.addError(first, last);
  },
  read_register: (offset) => chip.readRegister(offset),
  write_register: (offset, value) => chip.writeRegister(offset, value),
  read_memory: (address, size) => text(chip.readMemory(address, size)),
  write_memory: (address, data) => chip.writeMemory(address, Buffer.from(data, "base64")),
  run: (limit) => chip.run(limit).stop === "interrupt",
  step: (cycles) => chip.run(cycles, false).cycles,
  other_interface: () => new Chip(chip.exports, { ...chip.description, abi: 1 }),
  peek: (memory, row, count) => text(chip.peek(memory, row, count)),
  signal: (name) => {
    const value = chip.signal(name);
    return typeof value === "bigint" ? String(value) : value;
  },
  counters: (first, count) => chip.counters(first, count),
  speed: (cycles) => {
    const begin = performance.now();
    chip.run(cycles, false);
    return cycles / (performance.now() - begin) * 1000;
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const [what, ...rest] = JSON.parse(line);
  let answer;
  try {
    answer = { value: answers[what](...rest) ?? null };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
