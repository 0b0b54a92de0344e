/**
 * Splits what is typed at the prompt into commands, as a shell does: quotes, backslashes, comments, `> file`, `&`, and here-documents, in
 * which `apply -f -` gets its manifest. Nothing else of a shell: no variables, no pipes, no conditions. Pure.
 */

export interface ShellCommand {
  readonly words: readonly string[];
  /** The text of a here-document. */
  readonly input?: string;
  /** The file after ">". */
  readonly output?: string;
  readonly isBackground: boolean;
}

export type ShellLines =
  | { readonly is: "complete"; readonly commands: readonly ShellCommand[] }
  /** A quote, a here-document or a line that ends with a backslash continues on the next line. */
  | { readonly is: "incomplete" }
  | { readonly is: "wrong"; readonly problem: string };

export function parseShellLines(text: string): ShellLines {
  const reader = new Reader(text);
  const commands: ShellCommand[] = [];
  try {
    while (!reader.isAtEnd()) {
      const command = reader.command();
      if (command !== undefined) commands.push(command);
    }
  } catch (error) {
    if (error instanceof Incomplete) return { is: "incomplete" };
    if (error instanceof SyntaxProblem) return { is: "wrong", problem: error.message };
    throw error;
  }
  return { is: "complete", commands };
}

class Incomplete extends Error {}
class SyntaxProblem extends Error {}

/** Characters that end a word outside of quotes. */
const ENDS_WORD = new Set([" ", "\t", "\n", ";", "&", ">", "<", "|"]);

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.replaceAll("\r\n", "\n");
  }

  isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Undefined: an empty line. */
  command(): ShellCommand | undefined {
    const words: string[] = [];
    let output: string | undefined;
    let marker: string | undefined;
    let isBackground = false;
    for (;;) {
      this.#skipBlanks();
      const char = this.#text[this.#at];
      if (char === undefined || char === "\n" || char === ";") {
        this.#at++;
        break;
      }
      if (char === "#") this.#skipLine();
      else if (char === "&") {
        if (this.#text[this.#at + 1] === "&") throw new SyntaxProblem("&& is not supported: enter the commands one after the other");
        isBackground = true;
        this.#at++;
        break;
      } else if (char === "|") throw new SyntaxProblem("pipes are not supported");
      else if (this.#takes("<<")) marker = this.#argument("<<");
      else if (char === "<") throw new SyntaxProblem("only here-documents (<<EOF) are supported as input");
      else if (this.#takes(">")) output = this.#argument(">");
      else words.push(this.#word());
    }
    const input = marker === undefined ? undefined : this.#document(marker);
    if (words.length === 0) return undefined;
    return { words, isBackground, ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) };
  }

  #skipBlanks(): void {
    for (;;) {
      if (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at++;
      else if (this.#text.startsWith("\\\n", this.#at)) this.#continueAfter(2);
      else return;
    }
  }

  #skipLine(): void {
    while (!this.isAtEnd() && this.#text[this.#at] !== "\n") this.#at++;
  }

  #takes(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #argument(operator: string): string {
    this.#skipBlanks();
    const word = this.#word();
    if (word === "") throw new SyntaxProblem(`syntax error: a name must follow ${operator}`);
    return word;
  }

  #word(): string {
    let word = "";
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || ENDS_WORD.has(char)) return word;
      if (char === "'" || char === '"') word += this.#quoted(char);
      else if (char === "\\") {
        const next = this.#text[this.#at + 1];
        if (next === undefined) throw new Incomplete();
        if (next !== "\n") word += next;
        this.#at += 2;
      } else {
        word += char;
        this.#at++;
      }
    }
  }

  #quoted(quote: string): string {
    let text = "";
    for (this.#at++; ; this.#at++) {
      const char = this.#text[this.#at];
      if (char === undefined) throw new Incomplete();
      if (char === quote) break;
      const next = this.#text[this.#at + 1];
      if (quote === '"' && char === "\\" && next !== undefined && '"\\'.includes(next)) {
        text += next;
        this.#at++;
      } else text += char;
    }
    this.#at++;
    return text;
  }

  #continueAfter(length: number): void {
    this.#at += length;
    if (this.isAtEnd()) throw new Incomplete();
  }

  /** The lines up to the marker; the reader is at the first of them. */
  #document(marker: string): string {
    const rest = this.#text.slice(this.#at);
    const end = new RegExp(`^${marker.replaceAll(/[^\w]/g, String.raw`\$&`)}[ \\t]*$`, "m").exec(rest);
    if (end === null) throw new Incomplete();
    this.#at += end.index + end[0].length + 1;
    return rest.slice(0, end.index);
  }
}
