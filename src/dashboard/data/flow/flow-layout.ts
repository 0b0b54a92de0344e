/**
 * Coordinates of a flow: the stages of the request below each other in the first column, then a tree from left to right, one column per
 * depth, every step beside its first child, so that edges do not cross. Linear in the number of steps, and steady: a step that is recorded
 * later moves nothing to another column. Many equal writes of one pass are shown as the first few and the number of the others. Pure.
 */
import type { FlowStep } from "./flow-graph.ts";

export interface PlacedStep {
  readonly step: FlowStep;
  /** Position in the order of steps: playback shows those up to a position. */
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** Stands for the writes of a pass beyond SHOWN_MAX, and for what followed from them. */
export interface PlacedRest {
  readonly id: string;
  readonly parent: string;
  readonly count: number;
  /** Of the first one that it stands for. */
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

export interface PlacedLink {
  readonly from: string;
  readonly to: string;
  /** Of the later end. */
  readonly index: number;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

export interface FlowLayout {
  readonly steps: readonly PlacedStep[];
  readonly rests: readonly PlacedRest[];
  readonly links: readonly PlacedLink[];
  readonly width: number;
  readonly height: number;
}

export const STEP_WIDTH = 200;
export const STEP_HEIGHT = 46;
const COLUMN_WIDTH = 226;
const ROW_HEIGHT = 56;
const MARGIN = 12;
/** Children of one step that are drawn: a person recognizes the pattern from them. */
export const SHOWN_MAX = 6;
/** Steps that are drawn in all: more than a person follows, and few enough to be laid out and drawn within a frame or two. */
export const DRAWN_MAX = 500;

export function flowLayout(steps: readonly FlowStep[]): FlowLayout {
  const placing = new Placing(steps);
  placing.place();
  return placing.result();
}

interface Indexed {
  readonly step: FlowStep;
  readonly index: number;
}

class Placing {
  readonly #children = new Map<string, Indexed[]>();
  readonly #stages: readonly Indexed[];
  readonly #placed: PlacedStep[] = [];
  readonly #rests: PlacedRest[] = [];
  #rows = 0;
  #columns = 1;

  constructor(steps: readonly FlowStep[]) {
    const firstWoken = steps.findIndex(({ stage }) => stage === "controller");
    const indexed = steps.map((step, index) => ({ step, index }));
    this.#stages = firstWoken < 0 ? indexed : indexed.slice(0, firstWoken);
    for (const one of firstWoken < 0 ? [] : indexed.slice(firstWoken)) {
      const { parent = "" } = one.step;
      const siblings = this.#children.get(parent);
      if (siblings === undefined) this.#children.set(parent, [one]);
      else siblings.push(one);
    }
  }

  /** Depth first without recursion, since a chain may be as long as the record. The first child continues the row of its parent. */
  place(): void {
    for (const [row, { step, index }] of this.#stages.entries()) this.#placed.push({ step, index, ...placeAt(0, row) });
    const waiting: { child: Child; depth: number; startsRow: boolean }[] = [];
    const wait = (parent: string, depth: number) => {
      const all = this.#children.get(parent) ?? [];
      const children = shownChildren(parent, all, this.#placed.length < DRAWN_MAX ? SHOWN_MAX : 0);
      // Beside the stages there is no row to continue.
      for (const [index, child] of [...children.entries()].reverse()) waiting.push({ child, depth, startsRow: index > 0 || depth === 1 });
    };
    wait(this.#stages.at(-1)?.step.id ?? "", 1);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { child, depth, startsRow } = next;
      if (startsRow) this.#rows += 1;
      const at = placeAt(depth, this.#rows - 1);
      this.#columns = Math.max(this.#columns, depth + 1);
      if ("count" in child) {
        this.#rests.push({ ...child, ...at });
        continue;
      }
      this.#placed.push({ step: child.step, index: child.index, ...at });
      wait(child.step.id, depth + 1);
    }
  }

  result(): FlowLayout {
    const at = new Map(this.#placed.map((placed) => [placed.step.id, placed]));
    const links = [
      ...this.#placed.flatMap((placed) => linkTo(at, { ...placed, id: placed.step.id, parent: placed.step.parent })),
      ...this.#rests.flatMap((rest) => linkTo(at, rest)),
    ];
    const rows = Math.max(this.#rows, this.#stages.length);
    return {
      ...{ steps: this.#placed, rests: this.#rests, links },
      width: MARGIN * 2 + (this.#columns - 1) * COLUMN_WIDTH + STEP_WIDTH,
      height: MARGIN * 2 + Math.max(0, rows - 1) * ROW_HEIGHT + STEP_HEIGHT,
    };
  }
}

function placeAt(column: number, row: number): { readonly x: number; readonly y: number } {
  return { x: MARGIN + column * COLUMN_WIDTH, y: MARGIN + row * ROW_HEIGHT };
}

type Child = Indexed | Omit<PlacedRest, "x" | "y">;

/** All, or the first few and a rest that stands for at least two; only the rest if there is no place. */
function shownChildren(parent: string, children: readonly Indexed[], shownMax: number): readonly Child[] {
  if (children.length === 0 || (shownMax > 0 && children.length <= shownMax + 1)) return children;
  const index = children[shownMax]?.index ?? 0;
  return [...children.slice(0, shownMax), { id: `rest:${parent}`, parent, count: children.length - shownMax, index }];
}

interface Linked {
  readonly id: string;
  readonly parent?: string | undefined;
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** From one stage down to the next; otherwise to the right. */
function linkTo(at: ReadonlyMap<string, PlacedStep>, { id, parent, index, x, y }: Linked): readonly PlacedLink[] {
  const from = parent === undefined ? undefined : at.get(parent);
  if (from === undefined) return [];
  const link = { from: from.step.id, to: id, index };
  if (from.x === x) return [{ ...link, x1: x + STEP_WIDTH / 2, y1: from.y + STEP_HEIGHT, x2: x + STEP_WIDTH / 2, y2: y }];
  return [{ ...link, x1: from.x + STEP_WIDTH, y1: from.y + STEP_HEIGHT / 2, x2: x, y2: y + STEP_HEIGHT / 2 }];
}
