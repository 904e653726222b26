// Assembles the texts on its standard input: a line of JSON with what came of each.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const { assemble } = await import(pathToFileURL(`${folder}/asm/assembler.js`));
const { encode } = await import(pathToFileURL(`${folder}/asm/encoding.js`));
const tables = JSON.parse(readFileSync(file));
for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const made = assemble(JSON.parse(line), tables);
    answer = {
      code: Buffer.from(encode(made.insns, tables)).toString("hex"),
      name: made.name, fingerprint: made.fingerprint, arena: made.arenaBytes,
      buffers: made.buffers.map(({ name, offset, shape, dtype, kind }) =>
        [name, offset, shape, dtype, kind]),
      constants: Object.fromEntries([...made.constants].map(
        ([name, raw]) => [name, Buffer.from(raw).toString("hex")])),
      relocations: made.relocations, sources: made.sources,
    };
  } catch (error) {
    answer = error.problems ? { wrong: error.message } : { failed: error.stack };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
