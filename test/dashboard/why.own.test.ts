import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seriousFindings } from "../../src/testing/clients/accessibility.ts";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";
import { BIG, listOf, READER, SHOP } from "./manifests.ts";

const cluster = useDashboard(async ({ kubectl }) => {
  await kubectl("apply -f -", { input: listOf(...SHOP, ...READER, BIG) });
  await kubectl("-n shop rollout status deployment/web");
  await kubectl("-n shop wait --for=condition=PodScheduled=false pod/big");
});

test("the tab Why shows the causes, and a remedy that works when its commands are run", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt, url } = cluster();
  const { page, problems } = await openAt("/object/pods/shop/big?tab=why");
  await page.getByText("pod shop/big is Pending").waitFor();
  await page.getByText("not enough cpu: the Pod requests 1k").waitFor();
  await page.getByText(/^Last create by kubernetes-admin/).waitFor();
  deepEqual(await seriousFindings(page), []);

  await page.getByRole("button", { name: "Find a remedy" }).click();
  const commands = page.getByRole("region", { name: "Commands of the remedy" });
  await commands.waitFor();
  deepEqual(await seriousFindings(page), []);
  const script = (await commands.textContent()) ?? "";

  await page.goto(`${url}/dashboard/#/object/deployments.apps/shop/web?tab=why`);
  await page.getByText("Nothing is wrong with deployment shop/web as far as it is known.").waitFor();
  deepEqual(problems, []);

  const [, deleted = "", manifest = ""] = /^kubectl (delete .*)\nprintf %s '(.*)' \| kubectl create -f -$/.exec(script) ?? [];
  await kubectl(deleted);
  await kubectl("create -f -", { input: manifest });
  await kubectl("-n shop wait --for=condition=Ready pod/big");
});

test("the tab Why of a user without permissions says what is not known, and tries nothing", DASHBOARD_NEEDS, async () => {
  const { kubectl, openWith } = cluster();
  const token = (await kubectl("-n shop create token reader")).trim();
  await kubectl("apply -f -", { input: { ...BIG, metadata: { name: "other", namespace: "shop" } } });
  await kubectl("-n shop wait --for=condition=PodScheduled=false pod/other");
  const { page, problems } = await openWith(token, "/object/pods/shop/other?tab=why");

  await page.getByText("it reports PodScheduled False: Unschedulable: 0/3 nodes are available").waitFor();
  await page.getByText("nodes could not be read").waitFor();
  await page.getByText("Not known, because it could not be read").click();
  await page.getByText("no permission in all namespaces:").waitFor();

  equal(await page.getByRole("button", { name: "Find a remedy" }).count(), 0);
  deepEqual(problems, []);
});

test("in the past the tab Why explains the object as it was, without remedies", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  await kubectl("apply -f -", { input: { ...BIG, metadata: { name: "past", namespace: "shop" } } });
  await kubectl("-n shop wait --for=condition=PodScheduled=false pod/past");
  const { page, problems } = await openAt("/object/pods/shop/past?tab=why");
  await page.getByRole("button", { name: "Find a remedy" }).waitFor();

  await page.getByRole("button", { name: "Time" }).click();
  await page.getByRole("slider", { name: "Instant of the history" }).press("ArrowLeft");

  await page.getByText("Remedies are tried on the present state only.").waitFor();
  equal(await page.getByRole("button", { name: "Find a remedy" }).count(), 0);
  deepEqual(problems, []);
});
