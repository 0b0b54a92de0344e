/** The terminal of the dashboard on real containers: exec, attach and an ephemeral container, in Chromium. */
import { deepEqual, match } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Disposables } from "../../src/base/disposables.ts";
import { makeQuietNamespace, startBrowser } from "../../src/testing/clients/browser.ts";
import { BUSYBOX_2 } from "../../src/testing/fixtures/busybox-image.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealContainer, REAL_CLUSTER_NEEDS, startRealCluster } from "../../src/testing/servers/real-cluster.ts";

/** Listens on loopback in a namespace and connects each client to the Unix socket. */
const RELAY = `const { createServer, connect } = require("node:net");
const server = createServer((client) => {
  const peer = connect(process.argv[1]);
  client.pipe(peer).pipe(client);
  for (const socket of [client, peer]) socket.on("error", () => (client.destroy(), peer.destroy()));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

/**
 * The URL of the server in a network namespace without other links: Chromium aborts requests when an address of the machine changes, and
 * real Pods change them. Unix sockets connect the namespaces.
 */
async function relayInto(namespace: string, port: number, directory: string, owned: Disposables): Promise<string> {
  const socketPath = join(directory, "relay.sock");
  const server = createServer((client) => {
    const peer = connect(port, "127.0.0.1");
    client.pipe(peer).pipe(client);
    for (const socket of [client, peer]) socket.on("error", () => [client, peer].forEach((end) => end.destroy()));
  });
  server.listen(socketPath);
  await once(server, "listening");
  owned.defer(() => Promise.resolve(void server.close()));
  const words = [`--net=/run/netns/${namespace}`, "--", process.execPath, "-e", RELAY, socketPath];
  const relay = spawn("nsenter", words, { stdio: ["ignore", "pipe", "inherit"] });
  owned.defer(async () => {
    const exited = once(relay, "exit");
    relay.kill("SIGKILL");
    await exited;
  });
  const [listening] = (await once(createInterface(relay.stdout), "line")) as [string];
  return `https://127.0.0.1:${listening}`;
}

test(
  "a terminal runs a shell in a real container, attaches to its process, and adds a debug container",
  needs(...REAL_CLUSTER_NEEDS, "chromium"),
  async (t) => {
    const owned = new Disposables();
    t.after(() => owned[Symbol.asyncDispose]());
    const cluster = owned.use(await startRealCluster());
    const namespace = makeQuietNamespace({ after: (end) => owned.defer(() => Promise.resolve(end())) });
    const kubectl = await cluster.inNamespace("shell");
    const container = aRealContainer("main", 'while read line; do echo "heard $line"; done', { stdin: true, tty: true });
    const spec = { containers: [container], terminationGracePeriodSeconds: 1 };
    await kubectl("create -f -", { input: { apiVersion: "v1", kind: "Pod", metadata: { name: "box" }, spec } });
    await kubectl("wait --for=condition=Ready pod/box --timeout=240s", { timeoutMs: 260_000 });
    const link = new URL((await cluster.k8ts("dashboard")).stdout.trim());
    const url = namespace === undefined ? link.origin : await relayInto(namespace, Number(link.port), cluster.directory, owned);
    const browser = owned.use(await startBrowser({ namespace }));
    const { page, problems } = await browser.open();
    const screen = page.locator(".xterm-rows");
    await page.goto(`${url}/dashboard/${link.hash}`);
    await page.getByRole("button", { name: "Log out" }).waitFor();
    await page.goto(`${url}/dashboard/#/object/pods/shell/box?tab=terminal`);

    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("connected (sh)").waitFor();
    await page.keyboard.type("echo $((6 * 7)) in $(hostname); stty size\n");
    await screen.getByText("42 in box").waitFor();
    await screen.getByText(/^\d+ \d{2,}$/).waitFor();
    await page.keyboard.type("exit 3\n");
    await page.getByText("ended with exit code 3").waitFor();

    await page.getByLabel("Connect to").selectOption({ label: "Main process (attach)" });
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText(/: attached$/).waitFor();
    await page.keyboard.type("hello\n");
    await screen.getByText("heard hello").waitFor();
    match(await kubectl("logs box"), /heard hello/);

    await page.getByLabel("Connect to").selectOption({ label: "New debug container" });
    await page.getByLabel("Image").fill(BUSYBOX_2);
    await page.getByRole("button", { name: "Add and attach" }).click();
    await page.getByText("box debugger-1: attached").waitFor();
    match(await kubectl("get pod box -o jsonpath={.status.ephemeralContainerStatuses[*].state.running.startedAt}"), /^\d{4}-/);
    deepEqual(problems, []);
  },
);
