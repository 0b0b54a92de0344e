import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { seriousFindings } from "../../src/testing/clients/accessibility.ts";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";
import { SHOP_LIST } from "./manifests.ts";

const cluster = useDashboard(async ({ kubectl }) => {
  await kubectl("apply -f -", { input: SHOP_LIST });
  await kubectl("-n shop rollout status deployment/web");
});

/** Browsers report every response with an error status in the console; a conflict is one. */
const CONFLICT = "error: Failed to load resource: the server responded with a status of 409 ()";

async function replaceText(page: Page, box: Locator, text: string): Promise<void> {
  await box.focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

test(
  "the editor reports unknown fields and wrong types by line, and a dry run shows the difference before saving",
  DASHBOARD_NEEDS,
  async () => {
    const { openAt, kubectl } = cluster();
    const { page, problems } = await openAt("/object/configmaps/shop/settings?tab=yaml");
    await kubectl("-n shop create configmap settings --from-literal=colour=red");
    await page.getByRole("button", { name: "Edit" }).click();
    const box = page.getByRole("textbox", { name: "YAML of settings" });
    const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n";

    await replaceText(page, box, `${head}dataa:\n  colour: blue\nimmutable: sometimes\n`);
    await page.getByRole("button", { name: 'Line 6: dataa is not a known member (did you mean "data"?)' }).waitFor();
    await page.getByRole("button", { name: 'Line 8: immutable must be a boolean, is a string: "sometimes"' }).waitFor();
    deepEqual(await seriousFindings(page), []);

    await replaceText(page, box, `${head}data:\n  colour: blue\n`);
    await page.getByText(/^\d problems?$/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Review change" }).click();
    const difference = page.getByRole("region", { name: "What would change" });
    await difference.getByText(/-\s+colour: red/).waitFor();
    equal(await kubectl("-n shop get configmap settings -o jsonpath={.data.colour}"), "red");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("region", { name: "YAML of the object" }).getByText("colour: blue").waitFor();
    equal(await kubectl("-n shop get configmap settings -o jsonpath={.data.colour}"), "blue");
    deepEqual(problems, []);
  },
);

test(
  "a conflict shows the fields that changed meanwhile and their writer, and keeps the change that the user chooses",
  DASHBOARD_NEEDS,
  async () => {
    const { openAt, kubectl } = cluster();
    const { page, problems } = await openAt("/object/deployments.apps/shop/web?tab=yaml");
    await page.getByRole("button", { name: "Edit" }).click();
    const box = page.getByRole("textbox", { name: "YAML of web" });
    await box.waitFor();
    const edited = (await kubectl("-n shop get deployment web -o yaml")).replace("replicas: 3", "replicas: 4");
    await replaceText(page, box, edited);
    await page.getByRole("button", { name: "Review change" }).click();
    await page.getByRole("button", { name: "Save" }).waitFor();

    await kubectl("-n shop scale deployment/web --replicas=2");
    await page.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row", { name: "spec.replicas" });
    await row.getByRole("cell", { name: /^kubectl \(Update, subresource scale/ }).waitFor();
    deepEqual(
      await row
        .getByRole("cell")
        .allTextContents()
        .then((cells) => [cells[0], cells[1], cells[2], cells[4]]),
      ["spec.replicas", "3", "2", "4"],
    );
    deepEqual(await seriousFindings(page), []);
    await page.getByRole("button", { name: "Keep mine where both changed" }).click();
    await page.getByRole("button", { name: "Review change" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Edit" }).waitFor();

    equal(await kubectl("-n shop get deployment web -o jsonpath={.spec.replicas}"), "4");
    deepEqual(
      problems.filter((problem) => problem !== CONFLICT),
      [],
    );
  },
);

test("an object that is deleted while it is edited keeps the text of the editor", DASHBOARD_NEEDS, async () => {
  const { kubectl, openAt } = cluster();
  await kubectl("-n shop create configmap passing --from-literal=a=b");
  const { page, problems } = await openAt("/object/configmaps/shop/passing?tab=yaml");
  await page.getByRole("button", { name: "Edit" }).click();
  const box = page.getByRole("textbox", { name: "YAML of passing" });
  await box.focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("# kept");

  await kubectl("-n shop delete configmap passing");

  await page.getByText("ConfigMap passing does not exist, or was deleted.").waitFor();
  await box.getByText("# kept").waitFor();
  deepEqual(problems, []);
});

test("several documents are created at once; fields of another manager need force", DASHBOARD_NEEDS, async () => {
  const { openAt, kubectl } = cluster();
  const owned = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owned", namespace: "shop" }, data: { a: "theirs" } };
  await kubectl("apply --server-side --field-manager=robot -f -", { input: owned });
  const { page, problems } = await openAt("/create?ns=shop");
  const box = page.getByRole("textbox", { name: "YAML of new objects" });
  await box.waitFor();
  const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: mine\n`;
  await replaceText(page, box, `${configMap("fresh")}---\n${configMap("owned")}`);

  await page.getByRole("button", { name: "Review" }).click();
  await page.getByText("ConfigMap fresh would be created").waitFor();
  await page.getByRole("cell", { name: 'conflict with "robot"' }).waitFor();
  equal(await page.getByRole("button", { name: "Apply" }).isDisabled(), true);
  equal(await kubectl("-n shop get configmap fresh --ignore-not-found"), "");

  await page.getByLabel("Take over fields that others own (force)").check();
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByText("ConfigMap owned would be changed").waitFor();
  deepEqual(await seriousFindings(page), []);
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("link", { name: "ConfigMap owned" }).waitFor();
  equal(await kubectl("-n shop get configmap owned fresh -o jsonpath={.items[*].data.a}"), "mine mine");
  deepEqual(
    problems.filter((problem) => problem !== CONFLICT),
    [],
  );
});

test("an object is deleted after a confirmation, and its dependents are kept if the user says so", DASHBOARD_NEEDS, async () => {
  const { openAt, kubectl } = cluster();
  const { page, problems } = await openAt("/object/statefulsets.apps/shop/db");

  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete StatefulSet db?" });
  await dialog.waitFor();
  deepEqual(await seriousFindings(page), []);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByLabel("Objects that it owns").selectOption({ label: "Keep them (Orphan)" });
  await dialog.getByRole("button", { name: "Delete StatefulSet db" }).click();

  await page.getByText("StatefulSet db does not exist, or was deleted.").waitFor();
  equal(await kubectl("-n shop get pod db-0 -o jsonpath={.metadata.ownerReferences}"), "");
  deepEqual(problems, []);
});
