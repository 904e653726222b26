// Runs the programs on its standard input on the chip: a line of JSON with what came of each.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, file, module, description] = process.argv.slice(2);
const { Chip } = await import(pathToFileURL(`${folder}/chip.js`));
const { Device } = await import(pathToFileURL(`${folder}/driver.js`));
const { assemble } = await import(pathToFileURL(`${folder}/asm/assembler.js`));
const tables = JSON.parse(readFileSync(file));
const chip = await Chip.open(await Chip.compile(readFileSync(module)),
  JSON.parse(readFileSync(description)));
chip.timing();
const device = new Device(chip, tables);
device.reset();
for await (const line of createInterface({ input: process.stdin })) {
  const { text, inputs, watchdog } = JSON.parse(line);
  let answer;
  try {
    const program = assemble(text, tables);
    device.load(program);
    for (const [name, hex] of Object.entries(inputs)) device.put(name, Buffer.from(hex, "hex"));
    const counters = device.run(watchdog);
    const outputs = program.buffers.filter((buffer) => buffer.kind === "output");
    answer = { counters, outputs: Object.fromEntries(outputs.map(
      ({ name }) => [name, Buffer.from(device.get(name)).toString("hex")])) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
