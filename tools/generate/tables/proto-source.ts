/** Reads the numbers of all fields from a `.proto` file, to verify those of the Go tags: "Pod.metadata" is 1. */
export function numbersOf(text: string): Map<string, number> {
  const numbers = new Map<string, number>();
  let message = "";
  for (const line of text.split("\n")) {
    message = /^message (\w+) \{/.exec(line)?.[1] ?? message;
    if (message !== "" && !numbers.has(message)) numbers.set(message, 0);
    const [, field, number] = /^\s+(?:optional|repeated|required|map<.*>)\s.*?(\w+) = (\d+)/.exec(line) ?? [];
    if (field !== undefined) numbers.set(`${message}.${field}`, Number(number));
  }
  return numbers;
}
