/** For libraries that print what they also tell: of what is told, nobody wants to read a second time. */

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
