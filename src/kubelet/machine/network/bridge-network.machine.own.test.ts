import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { startProgram } from "../../../host/processes/child-process.ts";
import { iptables, linkExists } from "../../../host/network/network-links.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { runCriPod, type CriPod } from "../../../testing/fixtures/cri-pod.ts";
import { needs } from "../../../testing/needs.ts";
import { gatewayOf } from "../../../api/pod-ranges.ts";
import { choosePodCidr } from "./pod-cidr.ts";
import { networkLeftovers, prepareNetwork, removeNetwork } from "./bridge-network.ts";

const NEEDS = needs("containerd", "cni", "busybox", "iptables");

/** HTTP server that answers GET / with its hostname. */
const SERVER = ["sh", "-c", "mkdir -p /www && hostname > /www/index.html && exec httpd -f -p 80 -h /www"];

function fetchText(host: string, port = 80): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host, port, agent: false, timeout: 10_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(text));
    }).on("error", reject);
  });
}

const LISTENS_WITHIN_MS = 30_000;
/** Timeout for `nc`, reached only on a busy machine. */
const NC_PATIENCE_SECONDS = "15";

/** httpd listens shortly after its start, without an event. */
async function fetchSoon(host: string, port = 80): Promise<string> {
  for (const until = Date.now() + LISTENS_WITHIN_MS; ;) {
    try {
      return await fetchText(host, port);
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

/** Simulates another machine: a linked namespace without a route to Pods, whose server answers with the client's address. */
async function startOutside() {
  const [name, address, nodeAddress] = [`k8out${process.pid}`, "10.197.0.2", "10.197.0.1"];
  const ip = (line: string) => execFileSync("ip", line.split(" "));
  ip(`netns add ${name}`);
  ip(`link add ${name} type veth peer name eth0 netns ${name}`);
  ip(`address add ${nodeAddress}/30 dev ${name}`);
  ip(`link set ${name} up`);
  ip(`-n ${name} address add ${address}/30 dev eth0`);
  ip(`-n ${name} link set eth0 up`);
  const program = `require("node:net").createServer((s) => s.end("you are " + s.remoteAddress + "\\n")).listen(9000, "${address}", () => console.log("up"))`;
  let isUp: () => void = () => undefined;
  const up = new Promise<void>((resolve) => (isUp = resolve));
  const server = await startProgram({
    command: "ip",
    arguments: ["netns", "exec", name, process.execPath, "-e", program],
    onLine: () => isUp(),
  });
  await up;
  return {
    address,
    nodeAddress,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      ip(`netns delete ${name}`);
    },
  };
}

describe("Pods on the bridge", { ...NEEDS }, () => {
  let containerd: TestContainerd;
  let [one, two]: CriPod[] = [];
  before(async () => {
    containerd = await startTestContainerd();
    one = await runCriPod(containerd, { name: "one", command: SERVER });
    two = await runCriPod(containerd, { name: "two", command: SERVER, hostPort: { hostPort: 28_080, containerPort: 80 } });
  });
  after(() => containerd[Symbol.asyncDispose]());

  test("have distinct addresses of the node's podCIDR", () => {
    const prefix = containerd.podCidr.replace("0/24", "");
    ok(one?.ip.startsWith(prefix) && two?.ip.startsWith(prefix), `${one?.ip} ${two?.ip}`);
    ok(one?.ip !== two?.ip && one?.ip !== containerd.nodeAddress);
  });

  test("are reachable from the node", async () => {
    equal(await fetchSoon(one!.ip), "one\n");
    equal(await fetchSoon(two!.ip), "two\n");
  });

  test("reach each other and themselves", async () => {
    equal(await one!.exec("wget", "-qO-", `http://${two!.ip}/`), "two\n");
    equal(await two!.exec("wget", "-qO-", `http://${one!.ip}/`), "one\n");
    equal(await one!.exec("wget", "-qO-", `http://${one!.ip}/`), "one\n");
  });

  test("reach the node by its address on the bridge", async () => {
    const server = createServer((socket) => socket.end("node\n")).listen(0, containerd.nodeAddress);
    await new Promise((resolve) => server.once("listening", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      equal(await one!.exec("nc", "-w", NC_PATIENCE_SECONDS, containerd.nodeAddress, String(port)), "node\n");
    } finally {
      server.close();
    }
  });

  test("are reachable by hostPort, also from each other", async () => {
    equal(await fetchSoon(containerd.nodeAddress, 28_080), "two\n");
    equal(await one!.exec("wget", "-qO-", `http://${containerd.nodeAddress}:28080/`), "two\n");
    equal(await two!.exec("wget", "-qO-", `http://${containerd.nodeAddress}:28080/`), "two\n");
  });

  test("may listen below 1024 as any user, and have a loopback", async () => {
    equal(await one!.exec("cat", "/proc/sys/net/ipv4/ip_unprivileged_port_start"), "0\n");
    equal(await one!.exec("wget", "-qO-", "http://127.0.0.1/"), "one\n");
  });

  test("reach networks beyond the node, masqueraded as the node", async () => {
    await using outside = await startOutside();
    const answer = await one!.exec("nc", "-w", NC_PATIENCE_SECONDS, outside.address, "9000");
    equal(answer, `you are ${outside.nodeAddress}\n`);
  });

  test("leave no link, rule or address when they are deleted", async () => {
    const before = await networkLeftovers(containerd.bridge);
    const three = await runCriPod(containerd, { name: "three", hostPort: { hostPort: 28_081, containerPort: 80 } });
    const during = await networkLeftovers(containerd.bridge);
    await three.remove();

    equal(during.links.length, before.links.length + 1);
    ok(during.rules.length > before.rules.length);
    const later = await networkLeftovers(containerd.bridge);
    equal(JSON.stringify(later), JSON.stringify(before));
  });
});

test("preparing a network is idempotent, follows the podCIDR, and its removal leaves nothing", { ...NEEDS }, async () => {
  const directory = await mkdtemp("/tmp/k8ts-network-");
  const bridge = `k8n${process.pid}`;
  const network = { bridge, podCidr: "10.199.7.0/24", addressDirectory: `${directory}/addresses`, configDirectory: `${directory}/cni` };
  try {
    await prepareNetwork(network);
    const { configFile } = await prepareNetwork(network);
    equal((await networkLeftovers(bridge)).rules.length, 4);

    await prepareNetwork({ ...network, podCidr: "10.199.8.0/24" });
    const { rules } = await networkLeftovers(bridge);
    equal(rules.length, 4);
    match(rules.map(({ rule }) => rule).join("\n"), /-s 10\.199\.8\.0\/24 /);
    match(await readFile(configFile, "utf8"), /10\.199\.8\.0\/24/);

    await removeNetwork(network);
    await removeNetwork(network);
    equal((await networkLeftovers(bridge)).rules.length, 0);
    equal(await linkExists(bridge), false);
    ok(!(await iptables("-t", "nat", "-S")).some((rule) => rule.includes(bridge)));
  } finally {
    await removeNetwork(network);
    await rm(directory, { recursive: true });
  }
});

test("two clusters choose different podCIDRs, keep them, and choose others once they are in use", { ...NEEDS }, async () => {
  const directory = await mkdtemp("/tmp/k8ts-cidr-");
  const network = (name: string) => ({
    bridge: `k8${name}${process.pid}`,
    addressDirectory: `${directory}/${name}`,
    configDirectory: `${directory}/cni`,
  });
  const [one, two] = [network("a"), network("b")];
  try {
    const first = await choosePodCidr({ file: `${directory}/one`, bridge: one.bridge });
    await prepareNetwork({ ...one, podCidr: first.podCidr });
    const second = await choosePodCidr({ file: `${directory}/two`, bridge: two.bridge });

    match(gatewayOf(first.podCidr), /^10\.\d+\.0\.1$/);
    ok(second.podCidr !== first.podCidr);
    deepEqual(await choosePodCidr({ file: `${directory}/one`, bridge: one.bridge }), first);
    await prepareNetwork({ ...two, podCidr: second.podCidr });
    await writeFile(`${directory}/one`, `${second.clusterCidr}\n`);
    ok((await choosePodCidr({ file: `${directory}/one`, bridge: one.bridge })).podCidr !== second.podCidr);
  } finally {
    await removeNetwork(one);
    await removeNetwork(two);
    await rm(directory, { recursive: true });
  }
});
