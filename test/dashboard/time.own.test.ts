import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";
import { SHOP_LIST } from "./manifests.ts";

const cluster = useDashboard(async ({ kubectl }) => {
  await kubectl("apply -f -", { input: SHOP_LIST });
  await kubectl("-n shop rollout status deployment/web");
});

test("the page shows the cluster as it was at an instant, in every view, and returns to now", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  await kubectl("-n shop create configmap passing --from-literal=a=before");
  await kubectl("-n shop create configmap lasting --from-literal=a=b");
  const lasting = await kubectl("-n shop get configmap lasting -o jsonpath={.metadata.resourceVersion}");
  await kubectl("-n shop delete configmap passing");
  const { page, problems } = await openAt("/list/configmaps?ns=shop");
  const passing = page.getByRole("gridcell", { name: "passing" });
  await page.getByRole("gridcell", { name: "lasting" }).waitFor();
  equal(await passing.count(), 0);

  await page.getByRole("button", { name: "Time" }).click();
  const slider = page.getByRole("slider", { name: "Instant of the history" });
  await slider.focus();
  for (let back = 0; back < 50 && !(await page.locator(".instant").textContent())?.includes(`revision ${lasting}`); back++)
    await page.keyboard.press("ArrowLeft");

  await passing.click();
  await page.getByText("Resource version").waitFor();
  await page.getByRole("link", { name: "YAML" }).click();
  await page.getByText("a: before").waitFor();
  await page.getByRole("link", { name: "Cluster map" }).click();
  await page.getByRole("link", { name: "Ingress site in shop" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("ConfigMap passing does not exist, or was deleted.").waitFor();
  deepEqual(problems, []);
});

test("two instants are compared: objects, fields and their writers", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  await kubectl("-n shop create configmap compared --from-literal=a=one");
  const revision = await kubectl("-n shop get configmap compared -o jsonpath={.metadata.resourceVersion}");
  await kubectl(`-n shop patch configmap compared --type=merge -p {"data":{"a":"two"}}`);
  const { page, problems } = await openAt(`/changes?from=${revision}&ns=shop`);

  await page.getByRole("button", { name: "Fields of configmaps compared" }).click();

  const diff = page.getByRole("region", { name: "Changed fields" });
  await diff.getByText("data.a").waitFor();
  await diff.getByText("− one").waitFor();
  await diff.getByText("+ two").waitFor();
  await diff.getByText(/written by kubernetes-admin.*field manager: kubectl-patch/).waitFor();
  deepEqual(problems, []);
});

test("a range is exported without Secrets, and opens in a dashboard without a login", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt, open, url } = cluster();
  await kubectl("-n shop create secret generic hidden --from-literal=password=swordfish");
  await kubectl("-n shop create configmap exported --from-literal=a=b");
  const { page, problems } = await openAt("/list/pods?ns=shop");
  await page.getByRole("button", { name: "Time" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const path = await (await download).path();

  const other = await open();
  await other.page.goto(`${url}/dashboard/`);
  const chooser = other.page.waitForEvent("filechooser");
  await other.page.getByRole("button", { name: "Open a recording" }).click();
  await (await chooser).setFiles(path);
  await other.page.getByRole("button", { name: "Close recording" }).waitFor();
  await other.page.goto(`${url}/dashboard/#/list/configmaps?ns=shop`);
  await other.page.getByRole("gridcell", { name: "exported" }).click();
  await other.page.getByText("Resource version").waitFor();
  await other.page.goto(`${url}/dashboard/#/flow`);
  await other.page
    .getByRole("list", { name: "Steps" })
    .getByText(/requested create configmaps shop\/exported/)
    .waitFor();
  await other.page.goto(`${url}/dashboard/#/search?q=hidden`);
  await other.page.getByText("0 found").waitFor();
  await other.page.goto(`${url}/dashboard/#/map?ns=shop`);
  await other.page.getByRole("link", { name: "Ingress site in shop" }).waitFor();
  deepEqual(problems, []);
  deepEqual(other.problems, []);
});

test("a file that is no recording is rejected with a reason", DASHBOARD_NEEDS, async () => {
  const { open, url } = cluster();
  const { page, problems } = await open();
  await page.goto(`${url}/dashboard/`);
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open a recording" }).click();
  await (await chooser).setFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from('{"kind":"Pod"}') });

  await page.getByRole("alert").filter({ hasText: "it is not a recording" }).waitFor();
  deepEqual(problems, []);
});
