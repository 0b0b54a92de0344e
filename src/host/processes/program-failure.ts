/** Finds the line of a program's output that explains a failure: the first that looks like an error, else the last. */
export function reasonIn(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.find((line) => /^(E:|npm (error|ERR!) \S|error)/i.test(line)) ?? lines.at(-1) ?? "it printed nothing";
}
