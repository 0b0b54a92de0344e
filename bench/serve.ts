/** The child's side of child.ts: executes the tasks of the benchmark, and ends when the benchmark does. */
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

/** Collects garbage now instead of during a measurement. */
export function collectGarbage(): void {
  // Twice: objects found dead in the first pass may hold buffers that only the second frees.
  for (let pass = 0; pass < 2; pass += 1) (globalThis as { gc?: () => void }).gc?.();
}
