/** The end of a process whose work is done, whatever is left running in it. */

/** Ends it with its exit code after so long, unless it ends before by itself; but not before what it wrote was taken by whoever reads it. */
export function endAfter(durationMs: number): void {
  const endOrWait = (): void => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
    endAfter(durationMs);
  };
  setTimeout(endOrWait, durationMs).unref();
}
