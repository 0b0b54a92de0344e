/**
 * Diff of two values for people: the changed lines of their JSON with three lines of context, in the format of `diff -u`. Upstream prints
 * its internal types here, whose field names differ slightly; only people read it.
 */
import { isObject } from "../../../../machinery/object.ts";

const CONTEXT_LINES = 3;
/** Beyond this many pairs of lines the exact comparison is too expensive, and a change of that size is not read line by line anyway. */
const COMPARED_PAIRS_MAX = 1_000_000;

type Mark = " " | "-" | "+";
type Line = readonly [Mark, string];

/** Empty if nothing differs. */
export function describeDifference(before: unknown, after: unknown): string {
  const lines = compareLines(linesOf(before), linesOf(inOrderOf(before, after)));
  return hunksOf(lines).join("");
}

/** With its members in the order of `model`, so that a moved member is no difference. */
function inOrderOf(model: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => inOrderOf(Array.isArray(model) ? model[index] : undefined, item));
  if (!isObject(value)) return value;
  const known = isObject(model) ? model : {};
  return Object.fromEntries(namesInOrder(known, value).map((name) => [name, inOrderOf(known[name], value[name])]));
}

/** New members follow the one that they follow in `value`. */
function namesInOrder(known: object, value: object): readonly string[] {
  const fresh: string[] = [];
  const behind = new Map<string, string[]>();
  let group = fresh;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(known, name)) behind.set(name, (group = []));
    else group.push(name);
  }
  return [...fresh, ...Object.keys(known).flatMap((name) => (behind.has(name) ? [name, ...(behind.get(name) ?? [])] : []))];
}

function linesOf(value: unknown): readonly string[] {
  // Integers too large for a number are bigints, which JSON.stringify does not support.
  const printable = (_name: string, member: unknown): unknown => (typeof member === "bigint" ? `${member}` : member);
  return JSON.stringify(value, printable, " ").split("\n");
}

function compareLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const rest = Math.min(before.length, after.length) - head;
  while (tail < rest && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return [
    ...marked(" ", before.slice(0, head)),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...marked(" ", before.slice(before.length - tail)),
  ];
}

function marked(mark: Mark, texts: readonly string[]): readonly Line[] {
  return texts.map((text) => [mark, text] as const);
}

/** Longest common subsequence, read backwards from a table of its lengths. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly Line[] {
  if (before.length * after.length > COMPARED_PAIRS_MAX) return [...marked("-", before), ...marked("+", after)];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] = before[i] === after[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    if (old !== undefined && old === fresh) lines.push([" ", old]);
    const isRemoved = old !== undefined && old !== fresh && (fresh === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1));
    if (isRemoved) lines.push(["-", old]);
    else if (fresh !== undefined && old !== fresh) lines.push(["+", fresh]);
    if (old === fresh) [i, j] = [i + 1, j + 1];
    else if (isRemoved) i++;
    else j++;
  }
  return lines;
}

/** Changes that are no more than twice the context apart share a hunk. Runs in linear time for any number of hunks. */
function hunksOf(lines: readonly Line[]): readonly string[] {
  const hunks: string[] = [];
  const passed = { before: 0, after: 0 };
  let from = 0;
  for (let first = nextChange(lines, 0); first < lines.length; first = nextChange(lines, from)) {
    let last = first;
    for (let index = first; index < lines.length && index - last <= 2 * CONTEXT_LINES; index++) if (lines[index]?.[0] !== " ") last = index;
    const start = Math.max(from, first - CONTEXT_LINES);
    const end = Math.min(lines.length, last + CONTEXT_LINES + 1);
    // Lines between hunks are in both.
    passed.before += start - from;
    passed.after += start - from;
    hunks.push(hunkOf(lines.slice(start, end), passed));
    from = end;
  }
  return hunks;
}

function nextChange(lines: readonly Line[], from: number): number {
  let index = from;
  while (index < lines.length && lines[index]?.[0] === " ") index++;
  return index;
}

/** `passed` counts the lines of both sides before it, and afterwards its own too. */
function hunkOf(hunk: readonly Line[], passed: { before: number; after: number }): string {
  const [before, after] = [countOf(hunk, "+"), countOf(hunk, "-")];
  const text = `@@ -${passed.before + 1},${before} +${passed.after + 1},${after} @@\n${hunk.map(([mark, line]) => `${mark}${line}\n`).join("")}`;
  passed.before += before;
  passed.after += after;
  return text;
}

/** Without the lines of one side only. */
function countOf(lines: readonly Line[], skipped: Mark): number {
  return lines.filter(([mark]) => mark !== skipped).length;
}
