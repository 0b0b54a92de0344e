/**
 * A line of a log as styled pieces. Programs write escape sequences for terminals: those of colour and weight become styles, every other is
 * removed, and control characters become visible symbols. So a log can neither hide text nor act on the page. Pure.
 */

export interface Piece {
  readonly text: string;
  /** Names of styles: "bold", "fg-1", "bg-12". "" if plain. */
  readonly style: string;
}

/** CSI … final byte; OSC, DCS, APC, PM and SOS … terminator; two-character sequences. An unfinished one ends with the line. */
const ESCAPE =
  // oxlint-disable-next-line no-control-regex
  /\u001B\[([0-?]*)[ -/]*([@-~])?|\u001B[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)?|\u001B[ -/]*[0-~]?|\u009B[0-?]*[ -/]*[@-~]?/g;

/** As the key caps of the Unicode block "Control Pictures". */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/** Characters that change the direction of the text after them could make a line read as another. */
const DIRECTION = /[\u202A-\u202E\u2066-\u2069\u200E\u200F]/g;
const PICTURES = 0x24_00;
const DELETE = 0x7f;

export function piecesOfLine(line: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const style = new Style();
  const push = (text: string) => {
    if (text !== "") pieces.push({ text: visible(text), style: style.toString() });
  };
  let from = 0;
  // A carriage return at the end belongs to the line end; one before it overwrites the line in a terminal.
  const text = line.replace(/\r+$/, "");
  for (const found of text.matchAll(ESCAPE)) {
    push(text.slice(from, found.index));
    if (found[2] === "m") style.apply(found[1] ?? "");
    from = found.index + found[0].length;
  }
  push(text.slice(from));
  return pieces;
}

/** The text alone: what is searched and what a screen reader reads. */
export function plainText(line: string): string {
  return visible(line.replace(/\r+$/, "").replace(ESCAPE, ""));
}

function visible(text: string): string {
  return text
    .replace(CONTROL, (character) => {
      const code = character.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(PICTURES + code) : code === DELETE ? "\u2421" : "\uFFFD";
    })
    .replace(DIRECTION, "\uFFFD");
}

/** Select Graphic Rendition. Of the 256 colours and the true colours, those beyond the first 16 are not distinguished. */
class Style {
  readonly #flags = new Set<string>();
  #foreground = "";
  #background = "";

  apply(parameters: string): void {
    const codes = parameters.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
    for (let index = 0; index < codes.length; index++) {
      const code = codes[index] ?? 0;
      if (code === 38 || code === 48) index += this.#extended(code, codes.slice(index + 1));
      else this.#one(code);
    }
  }

  #one(code: number): void {
    if (code === 0) this.#reset();
    else if (code === 1) this.#flags.add("bold");
    else if (code === 3) this.#flags.add("italic");
    else if (code === 4) this.#flags.add("underline");
    else if (code === 22) this.#flags.delete("bold");
    else if (code === 23) this.#flags.delete("italic");
    else if (code === 24) this.#flags.delete("underline");
    else if (code >= 30 && code <= 37) this.#foreground = `fg-${code - 30}`;
    else if (code === 39) this.#foreground = "";
    else if (code >= 40 && code <= 47) this.#background = `bg-${code - 40}`;
    else if (code === 49) this.#background = "";
    else if (code >= 90 && code <= 97) this.#foreground = `fg-${code - 90}`;
    else if (code >= 100 && code <= 107) this.#background = `bg-${code - 100}`;
  }

  #reset(): void {
    this.#flags.clear();
    this.#foreground = this.#background = "";
  }

  /** Returns how many parameters belong to it. */
  #extended(code: number, [mode, colour = 0]: readonly number[]): number {
    if (mode === 2) return 4;
    if (mode !== 5) return 1;
    if (colour < 16) this.#one((code === 38 ? 30 : 40) + (colour % 8));
    return 2;
  }

  toString(): string {
    return [...this.#flags, this.#foreground, this.#background].filter((name) => name !== "").join(" ");
  }
}
