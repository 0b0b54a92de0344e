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
];

async function takePicture({ openAt }: DashboardCluster, { name, address, colorScheme = "light", ready }: Picture): Promise<void> {
  const { page } = await openAt(address, { viewport: SIZE, colorScheme });
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
for (const picture of PICTURES) await takePicture(cluster, picture);
