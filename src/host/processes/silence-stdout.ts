/** Silences libraries that print what they also return. */

/** Suppresses the errors that `work` prints synchronously. */
export function silenceStdout(work: () => unknown): unknown {
  const { error } = console;
  console.error = () => undefined;
  try {
    return work();
  } finally {
    console.error = error;
  }
}
