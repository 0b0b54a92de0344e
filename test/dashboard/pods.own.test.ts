import { deepEqual, equal, match } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { seriousFindings } from "../../src/testing/clients/accessibility.ts";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";
import { CHAT, listOf, READER, SHOP } from "./manifests.ts";

const cluster = useDashboard(async ({ kubectl }) => {
  await kubectl("apply -f -", { input: listOf(...SHOP, CHAT, ...READER) });
  await kubectl("-n shop rollout status deployment/chat");
});

const podNames = async () => (await cluster().kubectl("-n shop get pods -l app=chat -o jsonpath={.items[*].metadata.name}")).split(" ");

test(
  "logs of a workload follow all containers of all its Pods, and show escape sequences and markup as text",
  DASHBOARD_NEEDS,
  async () => {
    const { openAt, kubectl } = cluster();
    const { page, problems } = await openAt("/object/deployments.apps/shop/chat?tab=logs", { viewport: { width: 1280, height: 700 } });
    const [first = "", second = ""] = await podNames();
    const log = page.getByRole("log", { name: "Log" });

    for (const pod of [first, second])
      for (const container of ["server", "proxy"]) await log.getByText(`${pod} ${container}`).first().waitFor();
    await log.getByText("<script>alert(1)</script>").first().waitFor();
    equal(await log.getByText("error", { exact: true }).first().getAttribute("class"), "fg-1");
    await page.getByText(/^\d{2,} lines of 4 containers/).waitFor();

    await kubectl("-n shop scale deployment/chat --replicas=3");
    await page.getByText(/lines of 6 containers/).waitFor();
    deepEqual(problems, []);
  },
);

test("logs of one container are searched, filtered, shown with timestamps and downloaded", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const [pod = ""] = await podNames();
  const { page, problems } = await openAt(`/object/pods/shop/${pod}?tab=logs`, { acceptDownloads: true });
  const log = page.getByRole("log", { name: "Log" });
  await page.getByLabel("Container").selectOption("server");
  await log.getByText("upstream timed out").first().waitFor();

  await page.getByRole("searchbox", { name: "Search in the log" }).fill("UPSTREAM");
  await log.locator("mark", { hasText: "upstream" }).first().waitFor();
  await page.getByText(/^1 of \d+$/).waitFor();
  await page.getByRole("searchbox", { name: "Search in the log" }).press("Enter");
  await page.getByText(/^2 of \d+$/).waitFor();
  await page.getByLabel("Only matching lines").check();
  await log.getByText("listening on port").first().waitFor({ state: "detached" });
  await page.getByLabel("Timestamps").check();
  match((await log.locator(".line .time").first().textContent()) ?? "", /^\d{4}-\d\d-\d\dT/);
  deepEqual(await seriousFindings(page), []);

  await page.getByLabel("Follow").uncheck();
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await waiting;
  equal(download.suggestedFilename(), `${pod}-server.log`);
  match(await readFile(await download.path(), "utf8"), /^listening on port 80\n/);
  deepEqual(problems, []);
});

test("a terminal tries shells until one starts, sends keys, resizes, and is left by keyboard", DASHBOARD_NEEDS, async () => {
  const { openAt } = cluster();
  const [pod = ""] = await podNames();
  const { page, problems } = await openAt(`/object/pods/shop/${pod}?tab=terminal`);

  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText("connected (sh)").waitFor();
  await page.keyboard.type("hello, ");
  await page.keyboard.insertText("Wörld");
  await page.locator(".xterm-rows").getByText("hello, Wörld").waitFor();
  equal(await page.locator(".xterm-rows").getByText("not found").count(), 0);
  deepEqual(await seriousFindings(page), []);

  await page.keyboard.press("Shift+Escape");
  await page.locator(".terminal-frame [role=status]:focus").waitFor();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("Not connected.").waitFor();

  await page.getByRole("textbox", { name: "Command" }).fill("no-such-program");
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText("ended with exit code 127").waitFor();
  deepEqual(problems, []);
});

test("a debug container is added to the Pod", DASHBOARD_NEEDS, async () => {
  const { openAt, kubectl } = cluster();
  const [pod = ""] = await podNames();
  const { page } = await openAt(`/object/pods/shop/${pod}?tab=terminal`);

  await page.getByLabel("Connect to").selectOption({ label: "New debug container" });
  await page.getByLabel("Image").fill("tools:1");
  await page.getByRole("button", { name: "Add and attach" }).click();
  await page.locator(".terminal-frame").getByText("debugger-1").waitFor();

  const added = await kubectl(`-n shop get pod ${pod} -o jsonpath={.spec.ephemeralContainers[0]}`);
  const { name, image, targetContainerName, tty } = JSON.parse(added) as Record<string, unknown>;
  deepEqual({ name, image, targetContainerName, tty }, { name: "debugger-1", image: "tools:1", targetContainerName: "server", tty: true });
});

test("a user who may only read Pods sees logs, no delete button, and why there is no terminal and no editor", DASHBOARD_NEEDS, async () => {
  const { openWith, kubectl, url } = cluster();
  const token = (await kubectl("-n shop create token reader")).trim();
  const [pod = ""] = await podNames();
  const { page, problems } = await openWith(token, `/object/pods/shop/${pod}?tab=logs&ns=shop`);
  await page.getByRole("log").getByText("listening on port").first().waitFor();

  await page.goto(`${url}/dashboard/#/object/pods/shop/${pod}?tab=terminal&ns=shop`);
  await page.getByText("You may not get pods/exec").waitFor();
  equal(await page.getByRole("button", { name: "Connect" }).isDisabled(), true);
  await page.goto(`${url}/dashboard/#/object/pods/shop/${pod}?tab=yaml&ns=shop`);
  await page.getByText(`You may not update pods ${pod} in namespace shop.`).waitFor();
  equal(await page.getByRole("button", { name: "Edit" }).isDisabled(), true);
  equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
  deepEqual(problems, []);
});
