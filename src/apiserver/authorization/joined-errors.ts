/** Several things that went wrong as one sentence, as upstream joins them: each once, and in brackets if there are more than one. */
export function joinedErrors(messages: readonly string[]): string {
  const [first = "", ...others] = new Set(messages);
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`;
}
