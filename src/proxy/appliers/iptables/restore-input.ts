/** Input of iptables-restore: as much as changes, in the order that the kernel needs. Pure. */
import type { ChainChanges, ChainId } from "./chain-index.ts";
import { TABLES, type Hook } from "./fixed-chains.ts";

export interface RestoreChanges {
  readonly chains: ChainChanges;
  /** Rules of built-in chains to insert at the top. */
  readonly insert: readonly Hook[];
  /** Rules of built-in chains to delete. */
  readonly delete: readonly Hook[];
}

/**
 * Chains and rules per call. iptables-nft-restore needs time by the square of their number; it writes this many in a tenth of a second. The
 * legacy one writes the whole table in every call. A usual change is far smaller, and in effect at once.
 */
export const LINES_MAX = { nf_tables: 1_500, legacy: 1_000_000 } as const;

/**
 * Endpoints before service ports before the chains that refer to them; marks and rejection are referred to by all. The canaries come first
 * and are removed last: without them, a process that is killed between two calls would leave chains that the next one does not look for.
 */
const ORDER = [/-proxy-(?:canary|mark|reject)/, /-sep-/, /-sv[cl]-/, /-ext-/, /-fwl-/, /-idx-/];

/** Texts for consecutive calls of `iptables-restore --noflush`; none if nothing changes. Rules of built-in chains are in the last one. */
export function restoreInputs(changes: RestoreChanges, { linesMax }: { readonly linesMax: number }): readonly string[] {
  const written: (readonly [ChainId, readonly string[]])[] = [];
  const removed: ChainId[] = [];
  for (const [id, rules] of changes.chains) {
    if (rules === undefined) removed.push(id);
    else written.push([id, rules]);
  }
  written.sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  // A chain can be removed when no other one refers to it.
  removed.sort((a, b) => rank(b) - rank(a) || (a < b ? -1 : 1));
  const parts = [...slices(written, ([, rules]) => 1 + rules.length, linesMax)];
  const last = parts.pop() ?? [];
  const removals = [...slices(removed, () => 2, linesMax)];
  const inputs = parts.map((part) => inputOf({ written: part, removed: [], insert: [], delete: [] }));
  inputs.push(inputOf({ written: last, removed: removals.shift() ?? [], insert: changes.insert, delete: changes.delete }));
  inputs.push(...removals.map((part) => inputOf({ written: [], removed: part, insert: [], delete: [] })));
  return inputs.filter((input) => input !== "");
}

/** Consecutive parts of at most `max` lines, or of one item that has more. */
function* slices<T>(items: readonly T[], linesOf: (item: T) => number, max: number): Iterable<readonly T[]> {
  let part: T[] = [];
  let lines = 0;
  for (const item of items) {
    const more = linesOf(item);
    if (part.length > 0 && lines + more > max) {
      yield part;
      part = [];
      lines = 0;
    }
    part.push(item);
    lines += more;
  }
  if (part.length > 0) yield part;
}

function rank(id: ChainId): number {
  const found = ORDER.findIndex((pattern) => pattern.test(id));
  return found === -1 ? ORDER.length : found;
}

interface Part {
  readonly written: readonly (readonly [ChainId, readonly string[]])[];
  readonly removed: readonly ChainId[];
  readonly insert: readonly Hook[];
  readonly delete: readonly Hook[];
}

/** Declaring a chain creates or flushes it. Removed chains are flushed together, since they may refer to each other. */
function inputOf(part: Part): string {
  const lines: string[] = [];
  for (const table of TABLES) {
    const written = part.written.filter(([id]) => id.startsWith(`${table} `)).map(([id, rules]) => ({ chain: nameOf(id), rules }));
    const removed = part.removed.filter((id) => id.startsWith(`${table} `)).map(nameOf);
    const [insert, unhook] = [part.insert, part.delete].map((hooks) => hooks.filter((hook) => hook.table === table));
    const body = [
      ...[...written.map(({ chain }) => chain), ...removed].map((chain) => `:${chain} - [0:0]`),
      ...written.flatMap(({ chain, rules }) => rules.map((rule) => `-A ${chain} ${rule}`)),
      ...(unhook ?? []).map(({ chain, rule }) => `-D ${chain} ${rule}`),
      ...(insert ?? []).map(({ chain, rule }) => `-I ${chain} ${rule}`),
      ...removed.map((chain) => `-X ${chain}`),
    ];
    if (body.length > 0) lines.push(`*${table}`, ...body, "COMMIT");
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function nameOf(id: ChainId): string {
  return id.slice(id.indexOf(" ") + 1);
}

/** Fails unless all these rules exist; changes nothing. */
export function checkInput(rules: readonly Hook[]): string {
  const lines = TABLES.flatMap((table) => {
    const mine = rules.filter((rule) => rule.table === table);
    return mine.length === 0 ? [] : [`*${table}`, ...mine.map(({ chain, rule }) => `-C ${chain} ${rule}`), "COMMIT"];
  });
  return `${lines.join("\n")}\n`;
}

/** Rules and chains in the changes. */
export function countChanges({ chains, insert, delete: deleted }: RestoreChanges): number {
  let count = insert.length + deleted.length;
  for (const rules of chains.values()) count += Math.max(1, rules?.length ?? 0);
  return count;
}
