/**
 * `node out/bench/flame-graph.js PROFILE.cpuprofile PICTURE.svg [TITLE]`: draws the profile of `node --cpu-prof` as a flame graph. Width is
 * time, callers are below; frames of less than half a percent are left out, and idle time is not counted. Text as a picture, so that it can be
 * in the documents and be searched.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Frame {
  readonly name: string;
  readonly from: "program" | "node" | "engine";
  timeUs: number;
  readonly children: Map<string, Frame>;
}

const WIDTH = 1_200;
const ROW_HEIGHT = 15;
const CHARACTER_WIDTH = 6.2;
const SHARE_MIN = 0.005;
const COLORS = { program: "#9ecae1", node: "#fdd0a2", engine: "#d9d9d9" } as const;

export function flameGraph({ nodes, samples, timeDeltas }: CpuProfile, title: string): string {
  const root: Frame = { name: "all", from: "engine", timeUs: 0, children: new Map() };
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  for (const [index, id] of samples.entries()) addSample(root, stackOf(id, byId, parents), timeDeltas[index] ?? 0);
  const shapes: string[] = [];
  const rows = draw(shapes, root, { x: 0, row: 0, totalUs: root.timeUs });
  const height = (rows + 2) * ROW_HEIGHT;
  const placed = shapes.join("\n").replaceAll(/y="(\d+)r"/g, (_, row: string) => `y="${height - (Number(row) + 1) * ROW_HEIGHT}"`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="monospace" font-size="10">`,
    `<text x="4" y="11">${escaped(title)} (${(root.timeUs / 1e6).toFixed(1)} s; blue: k8ts, orange: Node, grey: the engine)</text>`,
    placed,
    "</svg>\n",
  ].join("\n");
}

/** From the outermost caller; empty for idle time. */
function stackOf(id: number, byId: ReadonlyMap<number, ProfileNode>, parents: ReadonlyMap<number, number>): readonly ProfileNode[] {
  const stack: ProfileNode[] = [];
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const node = byId.get(at);
    if (node?.callFrame.functionName === "(idle)") return [];
    if (node !== undefined && node.callFrame.functionName !== "(root)") stack.unshift(node);
  }
  return stack;
}

function addSample(root: Frame, stack: readonly ProfileNode[], timeUs: number): void {
  if (stack.length === 0) return;
  root.timeUs += timeUs;
  let frame = root;
  for (const { callFrame } of stack) {
    const name = callFrame.functionName === "" ? "(anonymous)" : callFrame.functionName;
    let child = frame.children.get(name);
    if (child === undefined) frame.children.set(name, (child = { name, from: originOf(callFrame.url), timeUs: 0, children: new Map() }));
    child.timeUs += timeUs;
    frame = child;
  }
}

function originOf(url: string): Frame["from"] {
  if (url === "") return "engine";
  return url.startsWith("node:") ? "node" : "program";
}

interface Place {
  readonly x: number;
  readonly row: number;
  readonly totalUs: number;
}

/** Returns the number of rows. */
function draw(shapes: string[], frame: Frame, { x, row, totalUs }: Place): number {
  const width = (frame.timeUs / totalUs) * WIDTH;
  const title = `${frame.name} ${((frame.timeUs / totalUs) * 100).toFixed(1)} %`;
  const shown = frame.name.slice(0, Math.floor(width / CHARACTER_WIDTH));
  const label = shown.length < 3 ? "" : `<text x="${(x + 2).toFixed(1)}" dy="11" y="${row}r">${escaped(shown)}</text>`;
  const box = `<rect x="${x.toFixed(1)}" y="${row}r" width="${Math.max(0.5, width - 0.5).toFixed(1)}" height="${ROW_HEIGHT - 1}" fill="${COLORS[frame.from]}"/>`;
  shapes.push(`<g><title>${escaped(title)}</title>${box}${label}</g>`);
  let rows = row + 1;
  let childX = x;
  for (const child of [...frame.children.values()].sort((a, b) => b.timeUs - a.timeUs)) {
    if (child.timeUs / totalUs >= SHARE_MIN) rows = Math.max(rows, draw(shapes, child, { x: childX, row: row + 1, totalUs }));
    childX += (child.timeUs / totalUs) * WIDTH;
  }
  return rows;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , profile = "", picture = "", title = profile] = process.argv;
  await writeFile(picture, flameGraph(JSON.parse(await readFile(profile, "utf8")) as CpuProfile, title));
}
