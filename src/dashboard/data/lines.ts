/** Splits bytes that arrive in pieces into lines of text: the events of a watch, the lines of a log. */

/** Yields the lines of each piece together, so that a caller can apply them in one batch. The last line may have no end. */
export async function* lineBatches(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") yield [rest];
}
