import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seriousFindings } from "../../src/testing/clients/accessibility.ts";
import { enter, PAGE_NEEDS, untilValue, useTabPages } from "./tab-page.ts";

const pages = useTabPages();

test("the page below a path starts a cluster, runs commands of its prompt, and the dashboard follows", PAGE_NEEDS, async () => {
  const { page, problems } = await pages().open();

  await enter(page, "kubectl get nodes");
  await page.locator(".prompt-output", { hasText: "node-2" }).waitFor();
  await enter(page, "kubectl create deployment web --image=nginx --replicas=3");
  await enter(page, "kubectl rollout status deployment/web");

  await page.locator(".prompt-output", { hasText: 'deployment "web" successfully rolled out' }).waitFor();
  await page.getByRole("grid", { name: "Pod" }).locator(".rows [role=row]").nth(2).waitFor();
  await enter(page, "kubectl get nothing");
  await page.locator(".problem", { hasText: `error: the server doesn't have a resource type "nothing"` }).waitFor();
  deepEqual(problems, []);
});

test("the tab Why of the dashboard explains an object of the cluster in the tab, with a remedy", PAGE_NEEDS, async () => {
  const { page, problems } = await pages().open();
  await enter(page, `kubectl create deployment none --image=nginx --replicas=0`);
  await page.locator(".prompt-output", { hasText: "deployment.apps/none created" }).waitFor();
  await page.getByRole("link", { name: "Deployment", exact: true }).click();
  await page.getByRole("gridcell", { name: "none" }).click();
  await page.getByRole("link", { name: "Why" }).click();
  await page.getByText("it is scaled to 0 (spec.replicas)").waitFor();

  await page.getByRole("button", { name: "Find a remedy" }).click();

  await page
    .getByRole("region", { name: "Commands of the remedy" })
    .filter({ hasText: "kubectl patch -n default deployments.apps/none" })
    .waitFor();
  deepEqual(problems, []);
});

test("the prompt completes by Tab, repeats by arrow keys, continues here-documents and interrupts a watch", PAGE_NEEDS, async () => {
  const { page, problems } = await pages().open();
  const input = page.getByRole("textbox", { name: "Prompt" });
  await input.fill("kubectl get nod");
  await input.press("Tab");
  await untilValue(input, "kubectl get nodes ");
  await input.press("Enter");
  await page.locator(".prompt-output", { hasText: "Ready" }).waitFor();
  await input.press("ArrowUp");
  equal(await input.inputValue(), "kubectl get nodes ");

  for (const line of ["kubectl apply -f - <<EOF", "apiVersion: v1", "kind: ConfigMap", "metadata: {name: typed}", "EOF"])
    await enter(page, line);
  await page.locator(".prompt-output", { hasText: "configmap/typed created" }).waitFor();

  await input.fill("kubectl get configmaps -w");
  await input.press("Enter");
  await page.getByRole("button", { name: "Stop (Ctrl+C)" }).click();
  await enter(page, "kubectl delete configmap typed");
  await page.locator(".prompt-output", { hasText: 'configmap "typed" deleted from default namespace' }).waitFor();
  deepEqual(problems, []);
});

test("virtual time stands still when paused, steps by one second, and passes at the chosen speed", PAGE_NEEDS, async () => {
  const { page, problems } = await pages().open();
  const createdAt = async (name: string) => {
    await enter(page, `kubectl create configmap ${name}`);
    await enter(page, `kubectl get configmap ${name} -o yaml`);
    const text = page.locator(".prompt-output pre.output", { hasText: new RegExp(`name: ${name}$`, "m") });
    return Date.parse(/creationTimestamp: "(.*)"/.exec((await text.textContent()) ?? "")?.[1] ?? "");
  };
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Pause", pressed: true }).waitFor();
  await enter(page, "kubectl create deployment web --image=nginx");
  // Requests and the reactions to them need no time.
  await page.getByRole("gridcell", { name: "Running" }).waitFor();

  const first = await createdAt("first");
  equal(await createdAt("second"), first);
  await page.getByRole("button", { name: "Step 1 s" }).click();
  const time = new Date(first + 1_000).toISOString().slice(0, 19).replace("T", " ");
  await page.getByText(`${time} UTC`).waitFor();
  equal(await createdAt("third"), first + 1_000);

  await page.getByRole("button", { name: "Speed ×60" }).click();
  const laterMinutes = Array.from({ length: 60 }, (_, minutes) => new Date(first + (minutes + 2) * 60_000).toISOString().slice(0, 16));
  await page.locator(".cluster-time", { hasText: new RegExp(laterMinutes.join("|").replaceAll("T", " ")) }).waitFor();
  deepEqual(problems, []);
});

test(
  "a lesson is followed by its buttons: the cluster answers, the editor opens its file, and the next step comes",
  PAGE_NEEDS,
  async () => {
    const { page, problems } = await pages().open("?lesson=2");
    await page.getByRole("heading", { name: "2. Pods and ReplicaSets" }).waitFor();
    await page.getByRole("img", { name: "A ReplicaSet selects its Pods by their labels" }).waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("Not yet").waitFor();

    await page.getByRole("button", { name: "Open in the editor" }).click();
    await page.getByRole("textbox", { name: "pod.yaml" }).waitFor();
    await page.getByRole("button", { name: "Apply" }).click();

    await page.getByRole("status").filter({ hasText: "Done" }).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("heading", { name: "A single Pod does not come back" }).waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("status").filter({ hasText: "Done" }).waitFor();
    // What the first step created is gone, and the step stays done.
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await page.getByRole("heading", { name: "One Pod" }).waitFor();
    await page.getByRole("status").filter({ hasText: "Done" }).waitFor();
    deepEqual(problems, []);
  },
);

test("lessons are in Korean for a Korean reader, and the language can be changed", PAGE_NEEDS, async () => {
  const { page, problems } = await pages().open("", { locale: "ko-KR" });
  await page.getByRole("button", { name: "3. 디플로이먼트와 롤아웃" }).click();
  await page.getByRole("heading", { name: "3. 디플로이먼트와 롤아웃" }).waitFor();
  equal(await page.evaluate("document.documentElement.lang"), "ko");
  await page.getByRole("combobox", { name: "언어" }).selectOption("en");
  await page.getByRole("heading", { name: "3. Deployments and rollouts" }).waitFor();
  deepEqual(problems, []);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`axe has no serious findings in any pane with ${colorScheme} colours, wide and on a phone`, PAGE_NEEDS, async () => {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 800 },
    ]) {
      const { page, problems } = await pages().open("?lesson=1", { colorScheme, viewport });
      const isPhone = viewport.width < 900;
      const found: string[] = [];
      const look = async (what: string) => found.push(...(await seriousFindings(page)).map((finding) => `${what}: ${finding}`));
      await enter(page, "kubectl get pods");
      await look("prompt");
      if (isPhone) await page.getByRole("button", { name: "Lessons", exact: true }).click();
      await page.getByRole("heading", { name: "1. Components and what each does" }).waitFor();
      await look("lesson");
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await page.getByText("Not yet").waitFor();
      await look("step");
      await page.getByRole("button", { name: "Editor", exact: true }).click();
      await page.getByRole("textbox", { name: "manifest.yaml" }).waitFor();
      await look("editor");
      if (isPhone) await page.getByRole("button", { name: "Dashboard", exact: true }).click();
      await page.getByText("There are no pods.").waitFor();
      await look("dashboard");
      equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
      deepEqual(found, []);
      deepEqual(problems, []);
    }
  });

test("the page makes no request after its start, and works with the network cut: new cluster, lessons, explain", PAGE_NEEDS, async () => {
  const { page, problems } = await pages().open();
  await page.locator("html[data-loaded]").waitFor({ state: "attached" });
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await pages().cutNetwork();

  await page.getByRole("button", { name: "6. Node failure and self-healing" }).click();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("status").filter({ hasText: "Done" }).waitFor();
  await enter(page, "kubectl explain pod.spec.nodeName");
  await page.locator(".prompt-output", { hasText: "FIELD: nodeName <string>" }).waitFor();
  await page.getByRole("button", { name: "Editor", exact: true }).click();
  await page.getByRole("textbox", { name: "manifest.yaml" }).waitFor();

  deepEqual(
    requests.filter((url) => !url.startsWith("data:")),
    [],
  );
  deepEqual(problems, []);
});
