/** The line of a chart as an SVG path. Pure. */
import type { Sample } from "./usage-history.ts";

export interface ChartBox {
  readonly width: number;
  readonly height: number;
  /** The value at the top. */
  readonly max: number;
}

export interface ChartPaths {
  readonly line: string;
  /** What is below the line. */
  readonly area: string;
}

/** The newest sample is at the right edge; `spanMs` is the time of the whole width. Undefined if there is nothing to draw. */
export function linePath(
  samples: readonly Sample[],
  read: (sample: Sample) => number,
  { width, height, max }: ChartBox,
  spanMs: number,
): ChartPaths | undefined {
  const last = samples.at(-1);
  if (last === undefined || max <= 0) return undefined;
  const points = samples
    .filter(({ atMs }) => last.atMs - atMs <= spanMs)
    .map((sample) => {
      const x = width - ((last.atMs - sample.atMs) / spanMs) * width;
      const y = height - (Math.min(read(sample), max) / max) * height;
      return { x: round(x), y: round(y) };
    });
  const [first] = points;
  // One sample is a line of the whole width: the value is known, its past is not.
  const shown = points.length === 1 && first !== undefined ? [{ ...first, x: 0 }, first] : points;
  const line = `M${shown.map(({ x, y }) => `${x},${y}`).join(" L")}`;
  return { line, area: `${line} L${width},${height} L${shown[0]?.x ?? 0},${height} Z` };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
