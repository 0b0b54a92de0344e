/**
 * `npm run bench -- browser`: the page with a cluster inside, from dist/: its size, and its start in Chromium from a static server on
 * loopback, from the navigation to a running cluster. No baseline: the budgets are absolute.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Disposables } from "../../src/base/disposables.ts";
import { needs } from "../../src/testing/needs.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { startTabPages, type TabPages } from "../../test/browser/tab-page.ts";
import type { Benchmark } from "../benchmark.ts";
import { figureOf } from "../figure.ts";

const SIZE_MAX_BYTES = 1.5e6;
const START_MAX_MS = 1_000;

const STARTS = 7;

export const browserPage: Benchmark = {
  name: "browser/page",
  measures: "the page with a cluster inside: compressed size, and time from navigation to a running cluster in Chromium",
  async *run({ note }) {
    const directory = join(packageDirectory(import.meta.dirname), "dist/browser");
    const [all, first] = sizesOf(directory);
    yield figureOf({ name: "browser/page-size", unit: "KB", values: [all / 1e3], budget: { atMost: SIZE_MAX_BYTES / 1e3 } });
    yield figureOf({ name: "browser/page-size-before-start", unit: "KB", values: [first / 1e3] });
    const { skip } = needs("chromium");
    if (skip !== false) return note(skip);
    await using owned = new Disposables();
    const pages = await startTabPages(owned, directory);
    const starts: Start[] = [];
    for (let index = 0; index < STARTS; index++) starts.push(await startOf(pages));
    yield figureOf({
      ...{ name: "browser/page-start", unit: "ms", values: starts.map(({ elapsedMs }) => elapsedMs) },
      budget: { atMost: START_MAX_MS },
    });
    yield figureOf({ name: "browser/page-start-cpu", unit: "ms", values: starts.map(({ processorMs }) => processorMs) });
  },
};

interface Start {
  readonly elapsedMs: number;
  /** Of the page's main thread: hardly affected by other load of the machine. */
  readonly processorMs: number;
}

async function startOf(pages: TabPages): Promise<Start> {
  const { page } = await pages.openEmpty();
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(pages.url, { waitUntil: "commit" });
  const elapsedMs = Number(await page.locator("html[data-started]").getAttribute("data-started"));
  const { metrics } = await devTools.send("Performance.getMetrics");
  const { value = Number.NaN } = metrics.find(({ name }) => name === "TaskDuration") ?? {};
  await page.context().close();
  return { elapsedMs, processorMs: value * 1_000 };
}

/** Bytes with gzip: of the whole folder, and of what is needed before the cluster runs. Licences are not loaded. */
function sizesOf(directory: string): readonly [number, number] {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(directory, path)).isFile());
  const page = readFileSync(join(directory, "index.html"), "utf8");
  let [all, first] = [0, 0];
  for (const path of files) {
    if (path.endsWith(".txt")) continue;
    const { length } = gzipSync(readFileSync(join(directory, path)), { level: 9 });
    all += length;
    if (path === "index.html" || page.includes(`"${path}"`)) first += length;
  }
  return [all, first];
}
