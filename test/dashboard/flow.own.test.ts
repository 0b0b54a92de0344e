import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seriousFindings } from "../../src/testing/clients/accessibility.ts";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";
import { SHOP_LIST } from "./manifests.ts";

/** Height of a line of text. */
const LEGIBLE_PIXELS = 8;

const cluster = useDashboard(async ({ kubectl }) => {
  await kubectl("apply -f -", { input: SHOP_LIST });
  await kubectl("-n shop rollout status deployment/web");
});

test("the flow of an apply plays live from the request to the kubelet, with diff and writers of a step", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  const { page, problems } = await openAt("/flow?ns=shop");
  await page.getByRole("heading", { name: "Flow" }).waitFor();
  await page.getByLabel("Speed").selectOption("fast");

  await kubectl("-n shop scale deployment/web --replicas=4");

  const steps = page.getByRole("list", { name: "Steps" });
  await steps.getByText("kubernetes-admin requested patch deployments.apps/scale shop/web").waitFor();
  await steps.getByText("The request was authenticated by client certificate as kubernetes-admin").waitFor();
  await steps
    .getByText(/A watch delivered .* to deployment-controller/)
    .first()
    .waitFor();
  await steps.getByText(/replicaset-controller wrote \(create\) pods shop\/web-/).waitFor();
  await steps
    .getByText(/kubelet wrote \(\w+\) pods\/status shop\/web-/)
    .first()
    .waitFor();

  await steps
    .getByRole("button", { name: /wrote \(update\) replicasets.apps/ })
    .first()
    .click();
  const details = page.getByRole("region", { name: /^Step: / });
  await details.getByText("spec.replicas").first().waitFor();
  await details
    .getByText(/written by deployment-controller/)
    .first()
    .waitFor();
  deepEqual(problems, []);
});

test("a flow is paused, stepped back and forward by keyboard", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const { page, problems } = await openAt("/flow?ns=shop");
  await page.getByText(/^step [1-9]/).waitFor();
  const slider = page.getByRole("slider", { name: "Step" });

  // At the end nothing plays, so that nothing moves after the next key.
  await slider.focus();
  await page.keyboard.press("End");
  await page.getByRole("button", { name: "Play again" }).waitFor();
  await page.keyboard.press("Home");
  await page.getByText(/^step 1 of/).waitFor();
  equal(await page.locator(".steps li").count(), 1);
  await page.getByRole("button", { name: "Forward" }).press("Enter");
  await page.getByText(/^step 2 of/).waitFor();
  await page.getByRole("button", { name: "Back" }).press("Enter");
  await page.getByText(/^step 1 of/).waitFor();
  deepEqual(problems, []);
});

test("the overview of a flow has legible titles, and its slider reaches the last step", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const { page, problems } = await openAt("/flow?ns=shop");
  const slider = page.getByRole("slider", { name: "Step" });
  await slider.focus();
  await page.keyboard.press("End");
  await page.getByRole("button", { name: "Play again" }).waitFor();

  await page.getByRole("button", { name: "Overview" }).click();

  await page.getByRole("button", { name: "Full size" }).waitFor();
  const heights = await page
    .locator(".flow-graph text.title")
    .evaluateAll((titles) => titles.map((title) => title.getBoundingClientRect().height));
  equal(heights.length > 5 && heights.every((height) => height >= LEGIBLE_PIXELS), true, String(heights));
  // With padding the thumb would stop before the end.
  equal(await page.evaluate("getComputedStyle(document.querySelector('.player input[type=range]')).paddingLeft"), "0px");
  deepEqual([await seriousFindings(page), problems], [[], []]);
});

test("a refused request is a flow that ends at the stage that refused it", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "BAD", namespace: "shop" }, spec: { containers: [] } };
  await kubectl("create -f -", { input: pod }).catch(() => undefined);
  const { page, problems } = await openAt("/flow?ns=shop");

  await page
    .getByRole("list", { name: "Steps" })
    .getByText(/Refused by store with 422 Invalid/)
    .waitFor();
  deepEqual(problems, []);
});

for (const colorScheme of ["light", "dark"] as const)
  test(
    `axe has no serious findings in flow, changes and time with ${colorScheme} colours, wide and on a phone`,
    DASHBOARD_NEEDS,
    async () => {
      const { openAt, url } = cluster();
      for (const width of [1280, 360]) {
        const { page, problems } = await openAt("/flow?ns=shop", { colorScheme, viewport: { width, height: 800 } });
        await page.getByRole("button", { name: "Time" }).click();
        await page.getByRole("slider", { name: "Instant of the history" }).waitFor();
        await page.getByRole("region", { name: /^Step: / }).waitFor();
        const inFlow = await seriousFindings(page);
        await page.goto(`${url}/dashboard/#/changes?ns=shop&from=1`);
        await page
          .getByRole("button", { name: /^Fields of / })
          .first()
          .click();
        await page.getByRole("region", { name: "Changed fields" }).or(page.getByRole("alert")).first().waitFor();
        deepEqual([...inFlow, ...(await seriousFindings(page))], []);
        equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
        deepEqual(problems, []);
      }
    },
  );
