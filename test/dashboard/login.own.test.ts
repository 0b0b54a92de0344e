import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { DASHBOARD_NEEDS, useDashboard } from "./dashboard-cluster.ts";

const cluster = useDashboard();

test("a link of `k8ts dashboard` logs in once; a reload keeps the session, another tab has none", DASHBOARD_NEEDS, async () => {
  const { link, open, url } = cluster();
  const { page, problems } = await open();
  const address = await link();

  await page.goto(address);
  await page.getByText("kubernetes-admin").waitFor();
  equal(new URL(page.url()).hash.includes("code"), false);
  await page.reload();
  await page.getByText("kubernetes-admin").waitFor();

  const second = await page.context().newPage();
  await second.goto(`${url}/dashboard/`);
  await second.getByRole("button", { name: "Log in" }).waitFor();

  const other = await open();
  await other.page.goto(address);
  await other.page.getByText("The link was used already or is too old").waitFor();
  deepEqual(problems, []);
});

test("after the end of a session, a link that is opened in the same tab returns to where the page was", DASHBOARD_NEEDS, async () => {
  const { link, openAt } = cluster();
  const { page } = await openAt("/object/namespaces/-/default");
  await page.getByText("Resource version").waitFor();
  // As a restart of the API server does, which forgets its sessions.
  await page.evaluate(
    "fetch('/dashboard/session', { method: 'DELETE', headers: { authorization: 'Bearer ' + sessionStorage['k8ts-session'] } })",
  );
  await page.getByText("The session has ended: log in again.").waitFor();

  await page.goto(await link());

  await page.getByText("Resource version").waitFor();
  await page.getByRole("heading", { name: "default" }).waitFor();
});

test("logout ends the session on the server and in the page", DASHBOARD_NEEDS, async () => {
  const { link, open } = cluster();
  const { page } = await open();
  await page.goto(await link());
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("button", { name: "Log in" }).waitFor();

  await page.reload();

  await page.getByRole("button", { name: "Log in" }).waitFor();
});

test("a pasted token of a ServiceAccount logs in with its permissions and is not kept", DASHBOARD_NEEDS, async () => {
  const { kubectl, open, url } = cluster();
  await kubectl("create serviceaccount reader");
  await kubectl("create role reader --verb=get,list,watch --resource=pods");
  await kubectl("create rolebinding reader --role=reader --serviceaccount=default:reader");
  const token = (await kubectl("create token reader")).trim();
  const { page } = await open();

  await page.goto(`${url}/dashboard/`);
  await page.getByLabel("Or paste a token").fill("not a token");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").filter({ hasText: "Unauthorized" }).waitFor();
  await page.getByLabel("Or paste a token").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("system:serviceaccount:default:reader", { exact: true }).waitFor();
  await page.getByRole("alert").filter({ hasText: 'cannot list resource "pods" in API group "" at the cluster scope' }).waitFor();

  // It may not list namespaces, so it types one.
  await page.getByRole("textbox", { name: "Namespace" }).fill("default");
  await page.getByRole("textbox", { name: "Namespace" }).press("Enter");
  await page.getByText("There are no pods.").waitFor();

  await page.reload();
  await page.getByRole("button", { name: "Log in" }).waitFor();
});
