/** A source file, parsed once for all checks. Parsing throws on a syntax error, so that no file is skipped. */
import { parseSync, type Comment, type EcmaScriptModule, type Program } from "oxc-parser";

export interface Source {
  /** From the root of the clone, with forward slashes: "src/base/heap.ts". */
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  /** Its static and dynamic imports and its exports. */
  readonly module: EcmaScriptModule;
  readonly comments: readonly Comment[];
  /** The line, counted from 1, of an offset in `text`. */
  lineAt(offset: number): number;
}

export function parseSource(path: string, text: string): Source {
  const { program, module, comments, errors } = parseSync(path, text);
  const first = errors[0];
  if (first !== undefined) throw new SyntaxError(`Cannot parse ${path}: ${first.message}`);
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return { path, text, program, module, comments, lineAt: (offset) => lineStarts.findLastIndex((start) => start <= offset) + 1 };
}

/** `*.test.ts`, and the suites in `testing/` folders inside rooms: code that only tests run. */
export function isTestCode(path: string): boolean {
  return path.endsWith(".test.ts") || /^src\/.+\/testing\//.test(path);
}
