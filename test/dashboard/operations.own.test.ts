import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seriousFindings } from "../../src/testing/clients/accessibility.ts";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";
import { listOf, READER, SHOP } from "./manifests.ts";

const CRON = {
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "nightly", namespace: "shop" },
  spec: {
    schedule: "0 3 * * *",
    jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "nightly:1" }] } } } },
  },
};

const cluster = useDashboard(async ({ kubectl }) => {
  await kubectl("apply -f -", { input: listOf(...SHOP, CRON, ...READER) });
  await kubectl("-n shop rollout status deployment/web");
});

test(
  "workloads of all kinds are in one list with their rollout, and are scaled, paused, resumed, restarted and undone",
  DASHBOARD_NEEDS,
  async () => {
    const { openAt, kubectl } = cluster();
    const { page, problems } = await openAt("/workloads?ns=shop");
    const web = page.getByRole("row", { name: /^Deployment web/ });
    await web.getByText("Complete").waitFor();
    await web.getByText("3/3").waitFor();
    await page.getByRole("row", { name: /^StatefulSet db/ }).waitFor();
    await page
      .getByRole("row", { name: /^CronJob nightly/ })
      .getByText("0 3 * * *")
      .waitFor();
    deepEqual(await seriousFindings(page), []);

    await web.getByRole("button", { name: "Actions on Deployment web" }).click();
    const dialog = page.getByRole("dialog", { name: "Deployment web" });
    await dialog.getByLabel("Replicas").fill("2");
    await dialog.getByRole("button", { name: "Scale" }).click();
    await dialog.getByText("Scaled to 2.").waitFor();
    deepEqual(await seriousFindings(page), []);
    await dialog.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("button", { name: "Resume" }).click();
    await dialog.getByText("Resumed.").waitFor();
    await dialog.getByRole("button", { name: "Restart" }).click();
    await dialog.getByText("Restarting.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await web.getByText("2/2").waitFor();
    await web.getByText("Complete").waitFor();

    await kubectl("-n shop set image deployment/web nginx=nginx:2");
    await web.getByText("nginx:2").waitFor();
    await kubectl("-n shop rollout status deployment/web");
    await web.getByRole("button", { name: "Actions on Deployment web" }).click();
    await dialog.getByRole("button", { name: "Undo last rollout" }).click();
    await dialog.getByText("Returning to revision 2.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await web.getByText("nginx:1").waitFor();
    deepEqual(problems, []);
  },
);

test("a CronJob runs now, and is suspended", DASHBOARD_NEEDS, async () => {
  const { openAt, kubectl } = cluster();
  const { page, problems } = await openAt("/object/cronjobs.batch/shop/nightly");
  await page.getByRole("button", { name: "Actions on CronJob nightly" }).click();
  const dialog = page.getByRole("dialog", { name: "CronJob nightly" });

  await dialog.getByRole("button", { name: "Run now" }).click();
  await dialog.getByText(/^Started Job nightly-manual-/).waitFor();
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await dialog.getByRole("button", { name: "Resume" }).waitFor();

  equal(await kubectl("-n shop get cronjob nightly -o jsonpath={.spec.suspend}"), "true");
  equal((await kubectl("-n shop get jobs -o jsonpath={.items[*].metadata.ownerReferences[0].name}")).trim(), "nightly");
  deepEqual(problems, []);
});

test("nodes show their usage and what is requested; a node is drained", DASHBOARD_NEEDS, async () => {
  const { openAt, kubectl } = cluster();
  const { page, problems } = await openAt("/nodes");
  await page.getByRole("img", { name: /^CPU of node-0 of the last minute, now \d+m of \d+ \(\d+ %\)$/ }).waitFor();
  await page.getByRole("img", { name: /^Memory of node-1 of the last minute, now/ }).waitFor();
  await page
    .getByRole("row", { name: /^node-2/ })
    .getByText(/^\d+ of 110$/)
    .waitFor();
  deepEqual(await seriousFindings(page), []);

  const node = page.getByRole("row", { name: /^node-2/ });
  await node.getByRole("button", { name: "Actions on Node node-2" }).click();
  const dialog = page.getByRole("dialog", { name: "Node node-2" });
  await dialog.getByRole("button", { name: "Drain" }).click();
  await dialog.getByText(/^Cordoned, and \d+ Pods evicted/).waitFor();
  await dialog.getByRole("button", { name: "Uncordon" }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await node.getByText("SchedulingDisabled").waitFor();
  await kubectl("-n shop wait --for=delete pod --field-selector=spec.nodeName=node-2 --timeout=100s");
  await kubectl("uncordon node-2");
  await node.getByText("Ready", { exact: true }).waitFor();
  deepEqual(problems, []);
});

test("the overview of a Pod shows its usage", DASHBOARD_NEEDS, async () => {
  const { openAt, kubectl } = cluster();
  await kubectl("-n shop rollout status statefulset/db");
  const { page, problems } = await openAt("/object/pods/shop/db-0");

  await page.getByRole("img", { name: /^CPU of the last minute, now/ }).waitFor();
  await page.getByRole("img", { name: /^Memory of the last minute, now/ }).waitFor();
  deepEqual(problems, []);
});

test("who can: subjects with their binding and role; what can I do: the rules of the user", DASHBOARD_NEEDS, async () => {
  const { openAt, url } = cluster();
  const { page, problems } = await openAt("/access?ns=shop");
  await page.getByLabel("Verb").fill("list");
  const row = page.getByRole("row", { name: /^ServiceAccount shop\/reader/ });
  await row.getByRole("link", { name: "RoleBinding pod-readers" }).waitFor();
  await row.getByRole("link", { name: "Role pod-reader" }).waitFor();
  await page.getByLabel("Resource").fill("secrets");
  await row.waitFor({ state: "detached" });
  await page.getByRole("row", { name: /ClusterRoleBinding cluster-admin/ }).waitFor();
  deepEqual(await seriousFindings(page), []);

  await page.goto(`${url}/dashboard/#/access/me?ns=shop`);
  await page.getByRole("region", { name: "What I can do in namespace shop" }).getByRole("cell", { name: "*" }).first().waitFor();
  deepEqual(await seriousFindings(page), []);
  deepEqual(problems, []);
});

test("the views of workloads, nodes and access name what a limited user may not do", DASHBOARD_NEEDS, async () => {
  const { openWith, kubectl, url } = cluster();
  const token = (await kubectl("-n shop create token reader")).trim();
  const { page, problems } = await openWith(token, "/access?ns=shop");
  await page.getByText("You may not list clusterroles in all namespaces.").waitFor();

  await page.goto(`${url}/dashboard/#/access/me?ns=shop`);
  await page.getByRole("cell", { name: "pods, pods/log" }).waitFor();
  await page.goto(`${url}/dashboard/#/workloads?ns=shop`);
  await page.getByText("You may not list deployments in namespace shop.").waitFor();
  await page.goto(`${url}/dashboard/#/nodes`);
  await page.getByText("You may not list nodes in all namespaces.").waitFor();
  deepEqual(problems, []);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`the views of operations fit a phone with ${colorScheme} colours, without serious findings of axe`, DASHBOARD_NEEDS, async () => {
    const { openAt, url } = cluster();
    const { page, problems } = await openAt("/workloads?ns=shop", { colorScheme, viewport: { width: 360, height: 700 } });
    const found: string[] = [];
    for (const { address, shows } of [
      { address: "/workloads?ns=shop", shows: page.getByRole("button", { name: "Actions on Deployment web" }) },
      { address: "/nodes", shows: page.getByRole("img", { name: /^CPU of node-0/ }) },
      { address: "/access?ns=shop", shows: page.getByText(/^\d+ subjects$/) },
      { address: "/create", shows: page.getByRole("textbox", { name: "YAML of new objects" }) },
      { address: "/object/deployments.apps/shop/web?tab=logs", shows: page.getByRole("log").getByText("This container is simulated") },
      { address: "/object/pods/shop/db-0?tab=terminal", shows: page.getByRole("button", { name: "Connect" }) },
    ]) {
      await page.goto(`${url}/dashboard/#${address}`);
      await shows.first().waitFor();
      found.push(...(await seriousFindings(page)).map((finding) => `${address}: ${finding}`));
      if (!(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))) found.push(`${address} scrolls sideways`);
    }
    deepEqual(found, []);
    deepEqual(problems, []);
  });
