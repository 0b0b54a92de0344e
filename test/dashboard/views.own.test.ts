import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seriousFindings } from "../../src/testing/clients/accessibility.ts";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";
import { SHOP_LIST } from "./manifests.ts";

const cluster = useDashboard(async ({ kubectl }) => {
  await kubectl("apply -f -", { input: SHOP_LIST });
  await kubectl("-n shop rollout status deployment/web");
  await kubectl("-n shop rollout status statefulset/db");
});

test("the list of Pods follows the cluster, filters, sorts and opens an object by keyboard", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  const { page, problems } = await openAt("/list/pods?ns=shop");
  const rows = page.getByRole("grid", { name: "Pod" }).locator(".rows [role=row]");
  await rows.nth(4).waitFor();

  await kubectl("-n shop scale deployment/web --replicas=5");
  await rows.nth(6).waitFor();
  equal(await page.locator(".count").first().textContent(), "7");

  await page.getByRole("button", { name: "Name" }).click();
  await page.getByRole("button", { name: "Name" }).click();
  await page.locator("[aria-sort=descending]").waitFor();
  await rows.first().filter({ hasText: "web-" }).waitFor();

  await page.getByRole("searchbox", { name: "Filter pods" }).fill("db-");
  await rows.nth(2).waitFor({ state: "detached" });
  await rows.first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "db-0" }).waitFor();
  await page.getByText("postgres:18").waitFor();
  deepEqual(problems, []);
});

test("the list of Pods does not take the focus back from its filter", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const { page, problems } = await openAt("/list/pods?ns=shop");
  const rows = page.getByRole("grid", { name: "Pod" }).locator(".rows [role=row]");
  await rows.nth(2).waitFor();
  await rows.first().focus();

  // In one task: the row of the key is focused in the next frame.
  await page.evaluate(`
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true, cancelable: true }));
    document.querySelector("input[type=search]").focus();
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  `);

  equal(await page.evaluate("document.activeElement.type"), "search");
  deepEqual(problems, []);
});

test("an object shows its facts, its YAML and its events, and links to its owner", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const { page, problems } = await openAt("/object/pods/shop/db-0");

  await page.getByRole("link", { name: "StatefulSet db" }).click();
  await page.getByRole("heading", { name: "db" }).waitFor();
  await page.getByText("2 wanted, 2 ready, 2 of the current template").waitFor();
  await page.getByText("app=db").first().waitFor();
  await page.getByRole("link", { name: "Events" }).click();
  await page.getByRole("cell", { name: "SuccessfulCreate" }).first().waitFor();
  await page.getByRole("link", { name: "YAML" }).click();
  await page.getByText("serviceName: db").waitFor();
  equal(await page.getByText("managedFields:").count(), 0);
  await page.getByLabel("Show managed fields").check();
  await page.getByText("managedFields:").waitFor();
  deepEqual(problems, []);
});

test("a change of direction in a value becomes visible, so that it cannot read as another one", DASHBOARD_NEEDS, async () => {
  const { openAt, kubectl } = cluster();
  const [value, shown] = ["good\u202eexe.txt", "good\\u202eexe.txt"];
  const metadata = { name: "spoof", namespace: "shop", annotations: { file: value } };
  await kubectl("create -f -", { input: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata }) });

  const { page, problems } = await openAt("/object/configmaps/shop/spoof");

  await page.getByText(`file: ${shown}`).waitFor();
  deepEqual(problems, []);
});

test("the object view reports that an object was deleted while it is shown", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  await kubectl("-n shop create configmap passing --from-literal=a=b");
  const { page } = await openAt("/object/configmaps/shop/passing");
  await page.getByText("Resource version").waitFor();

  await kubectl("-n shop delete configmap passing");

  await page.getByText("ConfigMap passing does not exist, or was deleted.").waitFor();
});

test("a CustomResourceDefinition has its list with its columns, like a built-in kind", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  const version = {
    ...{ name: "v1", served: true, storage: true },
    schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { size: { type: "string" } } } } } },
    additionalPrinterColumns: [{ name: "Size", type: "string", jsonPath: ".spec.size" }],
  };
  const names = { plural: "hats", singular: "hat", kind: "Hat" };
  const spec = { group: "clothes.example", scope: "Namespaced", names, versions: [version] };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "hats.clothes.example" },
    spec,
  };
  await kubectl("apply -f -", { input: definition });
  await kubectl("wait --for=condition=Established crd/hats.clothes.example");
  const hat = { apiVersion: "clothes.example/v1", kind: "Hat", metadata: { name: "bowler", namespace: "shop" }, spec: { size: "XXL" } };
  await kubectl("apply -f -", { input: hat });
  const { page, problems } = await openAt("/list/pods?ns=shop");

  await page.getByRole("link", { name: "Hat" }).click();
  await page.getByRole("columnheader", { name: "Size" }).waitFor();
  await page.getByRole("gridcell", { name: "XXL" }).click();
  await page.getByRole("heading", { name: "bowler" }).waitFor();
  deepEqual(problems, []);
});

test("search finds objects of several kinds", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const { page, problems } = await openAt("/list/pods");

  await page.getByRole("searchbox", { name: "Search all objects" }).fill("site");
  await page.getByRole("searchbox", { name: "Search all objects" }).press("Enter");
  await page.getByRole("link", { name: "site", exact: true }).click();

  await page.getByRole("heading", { name: "site" }).waitFor();
  deepEqual(problems, []);
});

test("the cluster map shows who routes to whom, live, and highlights what is connected", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  const { page, problems } = await openAt("/map?ns=shop");
  await page.getByRole("link", { name: "Ingress site in shop" }).waitFor();
  await page.getByRole("link", { name: "Pod db-1 in shop, Running" }).waitFor();
  await page.getByRole("link", { name: "Node node-0, Ready" }).waitFor();

  await page.getByRole("link", { name: "Ingress site in shop" }).focus();
  await page.locator("a.item.near", { hasText: "web-" }).first().waitFor();
  equal(await page.locator("a.item.near", { hasText: "db-" }).count(), 0);

  await kubectl("-n shop scale statefulset/db --replicas=3");
  await page.getByRole("link", { name: "Pod db-2 in shop, Running" }).waitFor();
  await page.getByRole("link", { name: "Pod db-2 in shop, Running" }).press("Enter");
  await page.getByRole("heading", { name: "db-2" }).waitFor();
  deepEqual(problems, []);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`axe has no serious findings in any view with ${colorScheme} colours, wide and on a phone`, DASHBOARD_NEEDS, async () => {
    const { openAt, open, url } = cluster();
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 800 },
    ]) {
      const { page, problems } = await openAt("/list/pods?ns=shop", { colorScheme, viewport });
      const found: string[] = [];
      for (const { address, shows } of [
        { address: "/list/pods?ns=shop", shows: page.getByRole("gridcell", { name: "db-0" }) },
        { address: "/object/pods/shop/db-0", shows: page.getByText("postgres:18") },
        { address: "/object/pods/shop/db-0?tab=yaml", shows: page.getByText("kind: Pod") },
        { address: "/object/pods/shop/db-0?tab=events", shows: page.getByRole("cell", { name: "Scheduled" }) },
        { address: "/search?q=web", shows: page.getByText(/\d found$/) },
        { address: "/map?ns=shop", shows: page.getByRole("link", { name: "Ingress site in shop" }) },
      ]) {
        await page.goto(`${url}/dashboard/#${address}`);
        await shows.first().waitFor();
        found.push(...(await seriousFindings(page)).map((finding) => `${address}: ${finding}`));
      }
      deepEqual(found, []);
      deepEqual(problems, []);
    }
    const login = await open({ colorScheme });
    await login.page.goto(`${url}/dashboard/`);
    await login.page.getByRole("button", { name: "Log in" }).waitFor();
    deepEqual(await seriousFindings(login.page), []);
  });

test("on a phone the menu opens and closes, and the page does not scroll sideways", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const { page } = await openAt("/list/pods?ns=shop", { viewport: { width: 360, height: 700 } });
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Deployment" }).click();

  await page.getByRole("heading", { name: "Deployment" }).waitFor();

  await page.getByRole("link", { name: "Deployment" }).waitFor({ state: "hidden" });
  equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
});
