/** Kills child programs when this process exits, in any way except SIGKILL. */
import type { ChildProcess } from "node:child_process";

const children = new Set<ChildProcess>();

/** Registers it until it exits. One listener for all: a node runs many short programs concurrently. */
export function killWithParent(child: ChildProcess): void {
  if (children.size === 0) process.on("exit", killAll);
  children.add(child);
  const onExit = (): void => {
    if (!children.delete(child) || children.size > 0) return;
    process.removeListener("exit", killAll);
  };
  child.once("exit", onExit);
  // It could not be started.
  child.once("error", onExit);
}

function killAll(): void {
  for (const child of children) child.kill("SIGKILL");
}
