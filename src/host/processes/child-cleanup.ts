/** Programs that must not outlive this process: whatever way it ends by, except being killed, they are killed with it. */
import type { ChildProcess } from "node:child_process";

const children = new Set<ChildProcess>();

/** Until it ends. One listener for all: a node runs many short programs at once. */
export function killWithParent(child: ChildProcess): void {
  if (children.size === 0) process.on("exit", killAll);
  children.add(child);
  const gone = (): void => {
    if (!children.delete(child) || children.size > 0) return;
    process.removeListener("exit", killAll);
  };
  child.once("exit", gone);
  // It could not be started.
  child.once("error", gone);
}

function killAll(): void {
  for (const child of children) child.kill("SIGKILL");
}
