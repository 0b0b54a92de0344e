/**
 * Joins error messages as Go's utilerrors.Aggregate does, which clients see: a single message stays as it is, several are a list in
 * brackets, each once.
 */
export function joinedErrors(messages: Iterable<string>): string {
  const [first = "", ...others] = new Set(messages);
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`;
}
