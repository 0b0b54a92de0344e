/**
 * Computes the exact handler calls of an informer from what was written and which gaps it had. Every write outside of a gap is delivered by
 * itself; each gap as the difference between its ends, ordered by key.
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { InformerHandler } from "../informer.ts";

/** A change, in order of revisions. */
export interface Happened {
  readonly is: "put" | "deleted";
  readonly key: string;
  readonly uid: string;
  readonly revision: number;
}

/** After `from`, up to and including `to`. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** One line per call. */
export function deliveredLines(lines: string[]): InformerHandler {
  return {
    added: (object) => void lines.push(`added ${textOf(object)}`),
    updated: (object, previous) => void lines.push(`updated ${textOf(object)} from @${previous.metadata.resourceVersion}`),
    deleted: (object) => void lines.push(`deleted ${textOf(object)}`),
  };
}

function textOf({ metadata: { namespace = "", name, resourceVersion } }: KubeObject): string {
  return `${namespace}/${name}@${resourceVersion}`;
}

type State = Map<string, Happened>;

export function expectedLines(history: readonly Happened[], gaps: readonly Gap[]): string[] {
  const lines: string[] = [];
  const state: State = new Map();
  let next = 0;
  const play = (upTo: number, into: string[]) => {
    for (let one = history[next]; one !== undefined && one.revision <= upTo; one = history[++next]) step(state, one, into);
  };
  for (const { from, to } of gaps) {
    play(from, lines);
    const before: State = new Map(state);
    play(to, []);
    deliverDifference(before, state, lines);
  }
  play(Infinity, lines);
  return lines;
}

function step(state: State, now: Happened, lines: string[]): void {
  const before = state.get(now.key);
  if (now.is === "deleted") {
    state.delete(now.key);
    lines.push(`deleted ${now.key}@${now.revision}`);
    return;
  }
  state.set(now.key, now);
  lines.push(
    `${before === undefined ? "added" : "updated"} ${now.key}@${now.revision}${before === undefined ? "" : ` from @${before.revision}`}`,
  );
}

function deliverDifference(before: State, now: State, lines: string[]): void {
  for (const key of [...new Set([...before.keys(), ...now.keys()])].toSorted()) {
    const [old, fresh] = [before.get(key), now.get(key)];
    if (old?.revision === fresh?.revision) continue;
    const isSame = old !== undefined && old.uid === fresh?.uid;
    if (old !== undefined && !isSame) lines.push(`deleted ${key}@${old.revision}`);
    if (fresh !== undefined)
      lines.push(isSame ? `updated ${key}@${fresh.revision} from @${old.revision}` : `added ${key}@${fresh.revision}`);
  }
}
