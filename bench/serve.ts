/** The child's side of child.ts: carries out the tasks that the benchmark asks for, and ends when the benchmark does. */
import type { Reply, Tasks } from "./child.ts";

export function serve(tasks: Tasks): void {
  process.on("message", ({ task, input }: { readonly task: string; readonly input: never }) => {
    void carryOut(tasks, task, input).then((reply) => process.send?.(reply));
  });
  process.on("disconnect", () => process.exit());
}

async function carryOut(tasks: Tasks, task: string, input: never): Promise<Reply> {
  try {
    return { result: await tasks[task]?.(input) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** Makes room now, so that it is not made while something is measured. */
export function collectGarbage(): void {
  // Twice: what the first pass finds dead may keep buffers that only the second can free.
  for (let pass = 0; pass < 2; pass += 1) (globalThis as { gc?: () => void }).gc?.();
}
