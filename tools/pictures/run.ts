/** `npm run pictures`: takes the pictures of the documents from a real cluster and its dashboard, into docs/pictures. With a name: that one. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { Disposables } from "../../src/base/disposables.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { startDashboard, type DashboardCluster } from "../../test/dashboard/dashboard-cluster.ts";
import { startTabPages, type TabPages } from "../../test/browser/tab-page.ts";
import { BIG, CHAT, listOf, SHOP } from "../../test/dashboard/manifests.ts";

interface Picture {
  readonly name: string;
  readonly address: string;
  /** Default: light. */
  readonly colorScheme?: "light" | "dark";
  /** Pixels; default: SIZE. */
  readonly height?: number;
  /** Resolves when the page shows what the picture is about. */
  ready(page: Page, cluster: DashboardCluster): Promise<unknown>;
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
    height: 560,
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
  {
    name: "dashboard-why",
    address: "/object/pods/shop/big?tab=why",
    async ready(page, { kubectl }) {
      await kubectl("apply -f -", { input: BIG });
      await kubectl("-n shop wait --for=condition=PodScheduled=false pod/big");
      await page.reload();
      await page.getByRole("button", { name: "Find a remedy" }).click();
      await page.getByRole("region", { name: "Commands of the remedy" }).waitFor();
    },
  },
  {
    name: "dashboard-workloads",
    address: "/workloads?ns=shop",
    ready: (page) =>
      page
        .getByRole("row", { name: /^Deployment web/ })
        .getByText("Complete")
        .waitFor(),
  },
  {
    name: "dashboard-logs",
    address: "/object/deployments.apps/shop/chat?tab=logs",
    height: 560,
    async ready(page) {
      await page.locator(".line").nth(30).waitFor();
      await page.getByRole("searchbox", { name: "Search in the log" }).fill("error");
      await page.getByText(/^\d+ of \d+$/).waitFor();
    },
  },
  {
    name: "dashboard-nodes",
    address: "/nodes",
    colorScheme: "dark",
    async ready(page, { kubectl }) {
      await kubectl("apply -f -", { input: LOAD });
      // As many samples as make a line.
      await page.getByRole("img", { name: /^CPU of node-0 of the last 2 minutes/ }).waitFor({ timeout: 200_000 });
    },
  },
  { name: "dashboard-conflict", address: "/object/deployments.apps/shop/web?tab=yaml", height: 900, ready: causeConflict },
];

/** Pods that use what a real program might. */
const LOAD = `{ apiVersion: apps/v1, kind: Deployment, metadata: { name: worker }, spec: { replicas: 3, selector: { matchLabels: { app: worker } },
  template: { metadata: { labels: { app: worker }, annotations: {
    simulated.k8ts.dev/cpu: "1,25s:3500m,50s:2,70s:5,95s:3", simulated.k8ts.dev/memory: "4Gi,30s:9Gi,60s:14Gi,90s:12Gi" } },
  spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
    labelSelector: { matchLabels: { app: worker } } }],
    containers: [{ name: worker, image: "worker:1", resources: { requests: { cpu: 3, memory: 12Gi } } }] } } } }`;

/** The first steps of the newest request, with a write of a controller. */
async function showFlow(page: Page): Promise<void> {
  await page.getByRole("slider", { name: "Step" }).press("End");
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /deployment-controller wrote \(\w+\) replicasets/ })
    .first()
    .click();
  await page.getByRole("region", { name: "Changed fields" }).waitFor();
  await page.getByRole("button", { name: "Overview" }).click();
}

async function showTime(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Time" }).click();
  await page.getByRole("slider", { name: "Instant of the history" }).press("ArrowLeft");
  await page.getByRole("button", { name: "Fields of deployments.apps web" }).click();
  await page.getByRole("region", { name: "Changed fields" }).waitFor();
}

/** Edits a Deployment in the page while kubectl scales it. */
async function causeConflict(page: Page, { kubectl }: DashboardCluster): Promise<void> {
  await page.getByRole("button", { name: "Edit" }).click();
  const box = page.getByRole("textbox", { name: "YAML of web" });
  await box.waitFor();
  const edited = (await kubectl("-n shop get deployment web -o yaml")).replace(/^status:[^]*/m, "").replace(/replicas: \d+/, "replicas: 4");
  await box.focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(edited);
  await page.getByRole("button", { name: "Review change" }).click();
  await page.getByRole("button", { name: "Save" }).waitFor();
  await kubectl("-n shop scale deployment/web --replicas=2");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The object was changed while you edited it.").waitFor();
}

async function takePicture(
  cluster: DashboardCluster,
  { name, address, colorScheme = "light", height = SIZE.height, ready }: Picture,
): Promise<void> {
  const { page } = await cluster.openAt(address, { viewport: { ...SIZE, height }, colorScheme, reducedMotion: "reduce" });
  await ready(page, cluster);
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
const [only] = process.argv.slice(2);
if (only === undefined || only === "browser-lesson") await takeTabPicture(await startTabPages(owned));
const cluster = await startDashboard(owned);
await cluster.kubectl("apply -f -", { input: listOf(...SHOP, CHAT) });
for (const name of ["deployment/web", "deployment/chat", "statefulset/db"]) await cluster.kubectl(`-n shop rollout status ${name}`);
await cluster.kubectl("-n shop scale deployment/web --replicas=5");
await cluster.kubectl("-n shop rollout status deployment/web");
for (const picture of PICTURES) if (only === undefined || picture.name === only) await takePicture(cluster, picture);
