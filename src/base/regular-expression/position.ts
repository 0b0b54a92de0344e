/** Positions between characters. */
import { isWordCharacter, NEW_LINE } from "./characters.ts";
import type { Position } from "./parse.ts";

/** Before the first and after the last character. */
export const NO_CHARACTER = -1;

export function isAt(position: Position, before: number, after: number): boolean {
  switch (position) {
    case "text start":
      return before === NO_CHARACTER;
    case "text end":
      return after === NO_CHARACTER;
    case "line start":
      return before === NO_CHARACTER || before === NEW_LINE;
    case "line end":
      return after === NO_CHARACTER || after === NEW_LINE;
    case "word boundary":
      return isWordCharacter(before) !== isWordCharacter(after);
    case "no word boundary":
      return isWordCharacter(before) === isWordCharacter(after);
  }
}
