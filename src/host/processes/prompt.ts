/** A question to the person in front of the terminal. */
import { createInterface } from "node:readline";

/** What was typed, without the line break; "" if the input ended. Only if hasTerminal (exec-program.ts). */
export function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    terminal.once("close", () => resolve(""));
    terminal.question(question, (answer) => {
      resolve(answer);
      terminal.close();
    });
  });
}
