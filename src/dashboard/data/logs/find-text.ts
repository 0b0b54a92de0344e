/** Finds a text in lines of a log, in any case, and marks it in their pieces. Pure. */
import { piecesOfLine, plainText, type Piece } from "./ansi.ts";

/** Undefined: nothing is searched. */
export function searchPattern(text: string): RegExp | undefined {
  return text === "" ? undefined : new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`), "giu");
}

export function lineMatches(line: string, pattern: RegExp): boolean {
  pattern.lastIndex = 0;
  return pattern.test(plainText(line));
}

export interface MarkedPiece extends Piece {
  readonly isMatch: boolean;
}

/** Pieces are divided where a match begins or ends. */
export function markedPieces(line: string, pattern: RegExp | undefined): readonly MarkedPiece[] {
  const pieces = piecesOfLine(line);
  if (pattern === undefined) return pieces.map((piece) => ({ ...piece, isMatch: false }));
  const text = pieces.map((piece) => piece.text).join("");
  const edges = new Set<number>();
  const matched: (readonly [number, number])[] = [];
  for (const { index, 0: found } of text.matchAll(pattern)) {
    matched.push([index, index + found.length]);
    edges.add(index).add(index + found.length);
  }
  let from = 0;
  return pieces.flatMap(({ text: part, style }) => {
    const end = from + part.length;
    const cuts = [from, ...[...edges].filter((edge) => edge > from && edge < end), end];
    from = end;
    return cuts.slice(1).map((to, index): MarkedPiece => {
      const start = cuts[index] ?? 0;
      return { text: text.slice(start, to), style, isMatch: matched.some(([first, last]) => start >= first && to <= last) };
    });
  });
}
