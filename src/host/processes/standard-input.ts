/** Standard input of this process: as a stream, and as the answers of a user at the terminal. */
import { createInterface } from "node:readline";

/** Returns the input, without the line break; "" at the end of the input. Only if hasTerminal (exec-program.ts). */
export function promptUser(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    terminal.once("close", () => resolve(""));
    terminal.question(question, (answer) => {
      resolve(answer);
      terminal.close();
    });
  });
}

export function standardInput(): AsyncIterable<Uint8Array> {
  return process.stdin;
}
