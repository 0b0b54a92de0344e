/** Pods of `k8ts up` reach its API server, which listens on loopback; other machines do not. In one process and in several. */
import { deepEqual, equal, match } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { connect } from "node:tls";
import { iptables } from "../../src/host/network/network-links.ts";
import { gatewayOf } from "../../src/api/pod-ranges.ts";
import { networkLeftovers, rulesOf } from "../../src/kubelet/machine/network/bridge-network.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const CLUSTER_IP = "10.96.0.1";
const READY_WITHIN_MS = 100_000;
/** Dropped packets are never answered: timeout of the attempt. */
const GIVE_UP_MS = 2_000;

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }];
}

async function apiServerOf({ kubectl }: RealCluster): Promise<{ readonly port: number; readonly authority: string }> {
  const [{ cluster }] = (JSON.parse(await kubectl("config view --raw --minify -o json")) as Kubeconfig).clusters;
  return {
    port: Number(new URL(cluster.server).port),
    authority: Buffer.from(cluster["certificate-authority-data"], "base64").toString(),
  };
}

/**
 * Opens a TLS connection from this process through `nc` in a Pod, verifying the server's certificate for `host`. Resolves with the
 * response.
 */
async function getFromPod(
  cluster: RealCluster,
  { pod, host, port, token }: { pod: string; host: string; port: number; token: string },
): Promise<string> {
  const { authority } = await apiServerOf(cluster);
  const nc = spawn(toolPath("kubectl"), ["exec", "--stdin", pod, "--", "nc", host, String(port)], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const socket = connect({ socket: Duplex.from({ readable: nc.stdout, writable: nc.stdin }), host, ca: authority });
  const path = "/api/v1/namespaces/default/pods/none";
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`);
  try {
    return await text(socket);
  } finally {
    nc.kill();
  }
}

/** A network namespace that acts as another machine, which routes Pod and Service addresses to this one. */
function makeOutside() {
  const [name, address, nodeAddress] = [`k8api${process.pid}`, "10.197.4.2", "10.197.4.1"];
  const ip = (line: string) => execFileSync("ip", line.split(" "));
  ip(`netns add ${name}`);
  ip(`link add ${name} type veth peer name eth0 netns ${name}`);
  ip(`address add ${nodeAddress}/30 dev ${name}`);
  ip(`link set ${name} up`);
  ip(`-n ${name} address add ${address}/30 dev eth0`);
  ip(`-n ${name} link set eth0 up`);
  ip(`-n ${name} route add default via ${nodeAddress}`);
  const program = `
    const socket = require("node:net").connect(process.argv[2], process.argv[1], () => { console.log("connected"); process.exit(); });
    socket.on("error", ({ code }) => { console.log(code); process.exit(); });
    setTimeout(() => { console.log("no answer"); process.exit(); }, ${GIVE_UP_MS});`;
  return {
    connect: (host: string, port: number): string =>
      execFileSync("ip", ["netns", "exec", name, process.execPath, "-e", program, host, String(port)], { encoding: "utf8" }).trim(),
    [Symbol.dispose]: () => void ip(`netns delete ${name}`),
  };
}

describe("the API server of a cluster that listens on loopback", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;
  let nothing: readonly string[] = [];

  before(async () => {
    cluster = await startRealCluster();
    nothing = (await cluster.onMachine()).filter((one) => one.startsWith("link veth"));
    await cluster.kubectl("wait --for=create serviceaccount/default --timeout=90s", { timeoutMs: READY_WITHIN_MS });
    await cluster.kubectl("apply -f -", { input: aRealPod("client", SLEEP) });
    await cluster.kubectl("apply -f -", { input: aRealPod("on-host", SLEEP, { hostNetwork: true }) });
  });
  after(() => cluster[Symbol.asyncDispose]());

  const gateway = async () => gatewayOf(JSON.parse(await cluster.kubectl("get nodes -o jsonpath={.items[0].spec}")).podCIDR as string);
  const ready = () => cluster.kubectl("wait --for=condition=Ready pod/client pod/on-host --timeout=90s", { timeoutMs: READY_WITHIN_MS });

  for (const { mode, words } of [
    { mode: "in one process", words: undefined },
    { mode: "in a process of its own", words: ["--processes"] },
  ]) {
    describe(mode, () => {
      before(async () => {
        if (words === undefined) return ready();
        await cluster.interrupt();
        await cluster.up(...words);
        return ready();
      });

      test("a Pod reaches the API server by its cluster IP and endpoint, with a certificate for both", async () => {
        const { port } = await apiServerOf(cluster);
        const token = await cluster.kubectl("exec client -- cat /var/run/secrets/kubernetes.io/serviceaccount/token");
        const endpoint = await cluster.kubectl("get endpointslices kubernetes -o jsonpath={.endpoints[0].addresses[0]}:{.ports[0].port}");
        equal(endpoint, `${await gateway()}:${port}`);

        for (const to of [
          { pod: "client", host: CLUSTER_IP, port: 443 },
          { pod: "client", host: await gateway(), port },
          // To the network this is a process of this machine.
          { pod: "on-host", host: CLUSTER_IP, port: 443 },
        ]) {
          const answer = await getFromPod(cluster, { ...to, token });
          // The server authenticates the Pod, and rejects what it may not do.
          match(answer, /^HTTP\/1\.1 403 .*system:serviceaccount:default:default/s);
        }
      });

      test("another network does not reach the API server, and would without the rule that drops packets", async () => {
        using outside = makeOutside();
        const { port } = await apiServerOf(cluster);
        const target = await gateway();

        equal(outside.connect(target, port), "no answer");
        equal(outside.connect(CLUSTER_IP, 443) === "connected", false);

        const podCidr = target.replace(/1$/, "0/24");
        const [drop] = rulesOf({ bridge: cluster.places.bridge, podCidr }).filter(({ chain }) => chain === "INPUT");
        await iptables("-t", "filter", "-D", "INPUT", ...(drop?.rule ?? []));
        try {
          equal(outside.connect(target, port), "connected");
        } finally {
          await iptables("-t", "filter", "-I", "INPUT", ...(drop?.rule ?? []));
        }
      });
    });
  }

  test("no rule, chain or link is left behind when the cluster stops", async () => {
    equal(await cluster.interrupt(), 0);
    deepEqual(await networkLeftovers(cluster.places.bridge), { links: [], rules: [] });
    deepEqual(
      (await cluster.onMachine()).filter((one) => !nothing.includes(one)),
      [],
    );
  });
});
