/** `npm run pictures`: takes the pictures of the documents from a real cluster and its dashboard, into docs/pictures. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { Disposables } from "../../src/base/disposables.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { startDashboard, type DashboardCluster } from "../../test/dashboard/dashboard-cluster.ts";
import { startTabPages, type TabPages } from "../../test/browser/tab-page.ts";
import { SHOP_LIST } from "../../test/dashboard/manifests.ts";

interface Picture {
  readonly name: string;
  readonly address: string;
  /** Default: light. */
  readonly colorScheme?: "light" | "dark";
  /** Pixels; default: SIZE. */
  readonly height?: number;
  /** Resolves when the page shows what the picture is about. */
  ready(page: Page): Promise<unknown>;
}

const SIZE = { width: 1280, height: 440 };

const PICTURES: readonly Picture[] = [
  {
    name: "dashboard-pods",
    address: "/list/pods?ns=shop",
    ready: (page) => page.getByRole("gridcell", { name: "db-1" }).waitFor(),
  },
  {
    name: "dashboard-map",
    address: "/map?ns=shop",
    colorScheme: "dark",
    ready: (page) => page.getByRole("link", { name: "Pod db-1 in shop, Running" }).waitFor(),
  },
  {
    name: "dashboard-flow",
    address: "/flow?ns=shop",
    height: 760,
    ready: showFlow,
  },
  {
    name: "dashboard-time",
    address: "/changes?ns=shop&from=1",
    colorScheme: "dark",
    height: 520,
    ready: showTime,
  },
];

/** All steps of the newest request, fitted, with the write of a Pod. */
async function showFlow(page: Page): Promise<void> {
  await page.getByRole("slider", { name: "Step" }).press("End");
  await page.getByRole("button", { name: "Fit to width" }).click();
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /deployment-controller wrote \(\w+\) replicasets/ })
    .first()
    .click();
  await page.getByRole("region", { name: "Changed fields" }).waitFor();
}

async function showTime(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Time" }).click();
  await page.getByRole("slider", { name: "Instant of the history" }).press("ArrowLeft");
  await page.getByRole("button", { name: "Fields of deployments.apps web" }).click();
  await page.getByRole("region", { name: "Changed fields" }).waitFor();
}

async function takePicture(
  { openAt }: DashboardCluster,
  { name, address, colorScheme = "light", height = SIZE.height, ready }: Picture,
): Promise<void> {
  const { page } = await openAt(address, { viewport: { ...SIZE, height }, colorScheme });
  await ready(page);
  const path = join(packageDirectory(import.meta.dirname), "docs/pictures", `${name}.png`);
  await page.screenshot({ path });
  console.log(path);
}

const TAB_SIZE = { width: 1280, height: 800 };

/** The page with a cluster inside, at a step of a lesson. */
async function takeTabPicture({ open }: TabPages): Promise<void> {
  const { page } = await open("?lesson=3", { viewport: TAB_SIZE });
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("status").filter({ hasText: "Done" }).waitFor();
  await page.getByRole("link", { name: "Cluster map" }).click();
  await page
    .getByRole("link", { name: /^Pod web-.*, Running$/ })
    .nth(2)
    .waitFor();
  const path = join(packageDirectory(import.meta.dirname), "docs/pictures/browser-lesson.png");
  await page.screenshot({ path });
  console.log(path);
}

await using owned = new Disposables();
await takeTabPicture(await startTabPages(owned));
const cluster = await startDashboard(owned);
await cluster.kubectl("apply -f -", { input: SHOP_LIST });
for (const name of ["deployment/web", "statefulset/db"]) await cluster.kubectl(`-n shop rollout status ${name}`);
await cluster.kubectl("-n shop scale deployment/web --replicas=5");
await cluster.kubectl("-n shop rollout status deployment/web");
for (const picture of PICTURES) await takePicture(cluster, picture);
