/** The end of a process whose work is done, whatever is left running in it. */

/** Ends it with its exit code after so long, unless it ends before by itself: nobody waits for this. */
export function endAfter(durationMs: number): void {
  setTimeout(() => process.exit(), durationMs).unref();
}
