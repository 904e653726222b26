// Computes what NumPy is asked for on its standard input: a line of JSON with what came of each.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const { NumpyArray, NumpyError } = await import(pathToFileURL(`${folder}/numpy/array.js`));
const { answer } = await import(pathToFileURL(`${folder}/numpy/evaluate.js`));
for await (const line of createInterface({ input: process.stdin })) {
  const { text, inputs, wanted } = JSON.parse(line);
  let result;
  try {
    const made = answer(text, new Map(Object.entries(inputs).map(
      ([name, [dtype, shape, data]]) => [name, new NumpyArray(dtype, shape, data.map(BigInt))])), wanted);
    result = { data: made.data.map(String) };
  } catch (error) {
    result = error instanceof NumpyError ? { wrong: error.message } : { failed: error.stack };
  }
  process.stdout.write(JSON.stringify(result) + "\n");
}
