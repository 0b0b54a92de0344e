/** A cluster with simulated nodes and a browser on its dashboard, for the tests of pages: started once per file. */
import { after, before } from "node:test";
import { Disposables } from "../../src/base/disposables.ts";
import { makeQuietNamespace, startBrowser, type OpenedPage, type TestBrowser } from "../../src/testing/clients/browser.ts";
import { clientProgram, type ClientProgram } from "../../src/testing/clients/client-program.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";
import type { BrowserContextOptions } from "playwright-core";

export const DASHBOARD_NEEDS = needs("chromium", "kubectl");

export interface DashboardCluster {
  readonly url: string;
  readonly kubectl: ClientProgram;
  readonly machine: K8tsMachine;
  /** A link that logs in as the administrator. */
  link(): Promise<string>;
  /** A page without a login. */
  open(options?: BrowserContextOptions): Promise<OpenedPage>;
  /** A page of the administrator at this address. */
  openAt(address: string, options?: BrowserContextOptions): Promise<OpenedPage>;
  /** A page of the user of a token at this address. */
  openWith(token: string, address: string, options?: BrowserContextOptions): Promise<OpenedPage>;
}

/** Starts and prepares it before the tests of the file; the result is defined inside of tests. */
export function useDashboard(prepare: (cluster: DashboardCluster) => Promise<unknown> = () => Promise.resolve()): () => DashboardCluster {
  let cluster: DashboardCluster | undefined;
  const owned = new Disposables();
  if (DASHBOARD_NEEDS.skip !== false) return () => cluster as DashboardCluster;
  before(async () => {
    cluster = await startDashboard(owned);
    await prepare(cluster);
  });
  after(() => owned[Symbol.asyncDispose]());
  return () => cluster as DashboardCluster;
}

/** Closed with `owned`. */
export async function startDashboard(owned: Disposables): Promise<DashboardCluster> {
  const life = { after: (end: () => void | Promise<void>) => owned.defer(async () => end()) };
  const namespace = makeQuietNamespace(life);
  const machine = await K8tsMachine.make(life, { namespace });
  await machine.start(["up", "--in-memory", "--listen", "127.0.0.1:0", "--simulated-nodes", "3"]);
  const { server: url } = await machine.record();
  const browser: TestBrowser = owned.use(await startBrowser({ namespace }));
  const link = async () => {
    const { stdout, stderr, exitCode } = await machine.k8ts("dashboard");
    if (exitCode !== 0) throw new Error(`k8ts dashboard exited with ${exitCode}: ${stderr}`);
    return stdout.trim();
  };
  const kubectl = kubectlIn(namespace, machine);
  return {
    ...{ url, machine, kubectl, link },
    open: (options) => browser.open(options),
    async openAt(address, options) {
      const opened = await browser.open(options);
      await opened.page.goto(await link());
      await opened.page.getByRole("button", { name: "Log out" }).waitFor();
      await opened.page.goto(`${url}/dashboard/#${address}`);
      return opened;
    },
    async openWith(token, address, options) {
      const opened = await browser.open(options);
      await opened.page.goto(`${url}/dashboard/#${address}`);
      await opened.page.getByLabel("Or paste a token").fill(token);
      await opened.page.getByRole("button", { name: "Log in" }).click();
      await opened.page.getByRole("button", { name: "Log out" }).waitFor();
      return opened;
    },
  };
}

function kubectlIn(namespace: string | undefined, { kubeconfig, root }: K8tsMachine): ClientProgram {
  const environment = { KUBECONFIG: kubeconfig, HOME: root, PATH: process.env["PATH"] ?? "" };
  if (namespace === undefined) return clientProgram({ path: toolPath("kubectl"), environment });
  return clientProgram({ path: "nsenter", environment }, [`--net=/run/netns/${namespace}`, "--", toolPath("kubectl")]);
}
