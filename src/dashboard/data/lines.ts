/** Splits bytes that arrive in pieces into lines of text: the events of a watch, the lines of a log. */

/** Maximum characters of a line of a log. A container may write without line feeds for ever; the rest becomes a line of its own. */
export const LOG_LINE_CHARACTERS_MAX = 65_536;

export interface LineOptions {
  /** Longer lines are split. Absent: for lines whose length the server limits. */
  readonly charactersMax?: number;
}

/** Yields the lines of each piece together, so that a caller can apply them in one batch. The last line may have no end. */
export async function* lineBatches(
  pieces: AsyncIterable<Uint8Array>,
  { charactersMax = Infinity }: LineOptions = {},
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n").flatMap((line) => splitLine(line, charactersMax));
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") yield [rest];
}

function splitLine(line: string, charactersMax: number): readonly string[] {
  if (line.length <= charactersMax) return [line];
  return Array.from({ length: Math.ceil(line.length / charactersMax) }, (_, index) =>
    line.slice(index * charactersMax, (index + 1) * charactersMax),
  );
}
