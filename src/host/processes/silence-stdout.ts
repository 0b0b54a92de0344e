/** Silences libraries that print what they also return. */

/** What `work` would print as an error, before it returns, is not printed. */
export function silenceStdout(work: () => unknown): unknown {
  const { error } = console;
  console.error = () => undefined;
  try {
    return work();
  } finally {
    console.error = error;
  }
}
