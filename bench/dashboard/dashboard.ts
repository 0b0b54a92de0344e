/**
 * `npm run bench -- dashboard`: the dashboard in Chromium on clusters of 1,000, 30,000 and 100,000 running Pods, in which 200 Pods change
 * per second. No baseline: the budgets are absolute.
 *
 * - load: from the navigation to the end of loading, without a cache.
 * - first view: from the navigation of a logged-in user to the frame that shows the first rows of all Pods.
 * - interactions: from the event of the user to the frame that shows its result. The list is complete before.
 */
import type { Page } from "playwright-core";
import { Disposables } from "../../src/base/disposables.ts";
import { makeQuietNamespace, startBrowser, type TestBrowser } from "../../src/testing/clients/browser.ts";
import { needs } from "../../src/testing/needs.ts";
import { pageFiles } from "../../src/dashboard/server/generated/page.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { DashboardServer, DashboardTasks } from "./dashboard-child.ts";
import { INTERACTIONS, MAP_INTERACTIONS, timed, type Interaction } from "./interactions.ts";

const LOAD_MAX_MS = 200;
const SIZE_MAX_BYTES = 400e3;
const FIRST_VIEW_MAX_MS = 1_000;
const INTERACTION_MAX_MS = 100;

const SIZES = [1_000, 30_000, 100_000];
const LOADS = 7;
const INTERACTION_REPETITIONS = 5;
/** A change every so often, while a person works. */
const CHANGES = { pods: 50, everyMs: 250 };

export const dashboardPage: Benchmark = {
  name: "dashboard/page",
  measures: "load, first view and interactions of the dashboard in Chromium at 1,000, 30,000 and 100,000 Pods",
  async *run(context) {
    const sizeBytes = pageFiles.reduce((sum, { content }) => sum + Buffer.from(content, "base64").length, 0);
    yield figureOf({ name: "dashboard/size", unit: "KB", values: [sizeBytes / 1e3], budget: { atMost: SIZE_MAX_BYTES / 1e3 } });
    const { skip } = needs("chromium");
    if (skip !== false) return context.note(skip);
    await using owned = new Disposables();
    // Chromium aborts requests when an address of the machine changes.
    const namespace = makeQuietNamespace({ after: (end) => owned.defer(() => Promise.resolve(end())) });
    const where = namespace === undefined ? {} : { networkNamespace: namespace };
    const child = owned.use(startChild<DashboardTasks>(import.meta.url, "dashboard-child", context.signal, where));
    const server = await child.call("start", null);
    const browser = owned.use(await startBrowser({ namespace }));
    for (const pods of SIZES) {
      await child.call("fill", { pods });
      yield* measureSize({ child, server, browser, pods }, context);
    }
  },
};

interface Measured {
  readonly child: Child<DashboardTasks>;
  readonly server: DashboardServer;
  readonly browser: TestBrowser;
  readonly pods: number;
}

async function* measureSize({ child, server, browser, pods }: Measured, { note, rounds }: BenchmarkContext): AsyncIterable<Figure> {
  const loads = await rounds.measure({ all: () => measureLoad(browser, server) }, LOADS);
  const figure = (name: string, values: readonly number[], atMost: number) =>
    figureOf({ name: `dashboard/${name}-${pods}-pods`, unit: "ms", values, budget: { atMost } });
  yield figure(
    "load",
    loads.all.map(({ loadMs }) => loadMs),
    LOAD_MAX_MS,
  );
  yield figure(
    "first-view",
    loads.all.map(({ firstViewMs }) => firstViewMs),
    FIRST_VIEW_MAX_MS,
  );
  const { page } = await openedList(browser, server);
  const startedMs = performance.now();
  await page
    .locator(".count")
    .filter({ hasText: new RegExp(`^${pods}$`) })
    .waitFor();
  note(`the list of ${pods} Pods was complete ${Math.round(performance.now() - startedMs)} ms after the first rows`);
  const changes = keepChanging(child);
  const repeated = async (interaction: Interaction) => {
    const values: number[] = [];
    for (let repetition = 0; repetition < INTERACTION_REPETITIONS; repetition++) values.push(await timed(page, interaction));
    return figure(interaction.name, values, INTERACTION_MAX_MS);
  };
  try {
    for (const interaction of INTERACTIONS) yield await repeated(interaction);
    const openedMs = performance.now();
    await page.evaluate("location.hash = '/map'");
    await page.locator("a.item.pod").first().waitFor();
    note(`the map of ${pods} Pods was shown after ${Math.round(performance.now() - openedMs)} ms`);
    for (const interaction of MAP_INTERACTIONS) yield await repeated(interaction);
  } finally {
    await changes.stop();
    await page.context().close();
  }
}

interface Load {
  readonly loadMs: number;
  readonly firstViewMs: number;
}

async function measureLoad(browser: TestBrowser, server: DashboardServer): Promise<Load> {
  const { page, firstViewMs } = await openedList(browser, server);
  const loadMs = await page.evaluate<number>("performance.getEntriesByType('navigation')[0].loadEventEnd");
  await page.context().close();
  return { loadMs, firstViewMs };
}

/** A new profile that is logged in, so with an empty cache. */
async function openedList(
  browser: TestBrowser,
  { port, token }: DashboardServer,
): Promise<{ readonly page: Page; readonly firstViewMs: number }> {
  const { page } = await browser.open({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(`sessionStorage.setItem("k8ts-session", ${JSON.stringify(token)}); ${WATCH_FIRST_ROW}`);
  await page.goto(`https://127.0.0.1:${port}/dashboard/#/list/pods`);
  return { page, firstViewMs: await page.evaluate<number>("globalThis.firstRowMs") };
}

/** Runs in the page: when the first frame with a row was shown. */
const WATCH_FIRST_ROW = `globalThis.firstRowMs = new Promise((resolve) => requestAnimationFrame(function check() {
  if (document.querySelector(".rows [role=row]") === null) requestAnimationFrame(check);
  else requestAnimationFrame(() => resolve(performance.now()));
}))`;

/** Until it is stopped. */
function keepChanging(child: Child<DashboardTasks>): { stop(): Promise<void> } {
  const state = { isRunning: true };
  const work = async () => {
    while (state.isRunning) {
      await child.call("change", { pods: CHANGES.pods });
      await new Promise((resolve) => setTimeout(resolve, CHANGES.everyMs));
    }
  };
  const running = work();
  return {
    stop: () => {
      state.isRunning = false;
      return running;
    },
  };
}
