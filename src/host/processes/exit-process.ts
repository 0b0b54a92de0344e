/** Exit of a process whose work is done, whatever is still pending in it. */

/** Ends this process without any cleanup, as an external SIGKILL does. */
export function killThisProcess(): void {
  process.kill(process.pid, "SIGKILL");
}

/** Exits with its exit code after this time, unless it exits before; but not before its output is flushed. */
export function endAfter(durationMs: number): void {
  const endOrWait = (): void => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
    endAfter(durationMs);
  };
  setTimeout(endOrWait, durationMs).unref();
}
