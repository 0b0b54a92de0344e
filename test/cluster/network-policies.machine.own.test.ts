/**
 * Network policies and bandwidth limits on a cluster with real containers: before a Pod's first packet, across a restart, and nothing left at
 * the end.
 */
import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ownNetworkNamespace } from "../../src/host/network/network-namespace.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { aRealPod, lineOf, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

/** Connects once, at once, and reports the result. */
const connectOnce = (address: string): string => `if echo | nc -w 3 ${address} 80 >/dev/null; then echo reached; else echo blocked; fi`;

/** Tries all the time, so that a gap in the rules is noticed: each attempt sends its next packet after a second. */
const connectAlways = (address: string): string =>
  `for offset in 0 2 4 6 8; do (sleep 0.$offset; while true; do echo | nc -w 1 ${address} 80 >/dev/null && echo leaked; done) & done`;

const POLICY = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "no-egress" },
  spec: { podSelector: { matchLabels: { app: "isolated" } }, policyTypes: ["Egress"] },
};

function tables({ places: { bridge } }: RealCluster): string {
  const owner = bridge.split("-").at(-1) ?? "";
  const listed = execFileSync("nft", ["list", "tables"], { encoding: "utf8" });
  return listed
    .split("\n")
    .filter((line) => line.includes(`k8ts-${owner}-policy`))
    .join();
}

/** The rates of the token bucket filters that shape a link, in bytes per second. */
async function shapedRates(link: string): Promise<readonly number[]> {
  const qdiscs = JSON.parse(await tc("-json", "qdisc", "show", "dev", link)) as readonly Qdisc[];
  return qdiscs.flatMap(({ kind, options }) => (kind === "tbf" && options?.rate !== undefined ? [options.rate] : []));
}

interface Link {
  readonly ifindex: number;
  readonly ifname: string;
}

interface Qdisc {
  readonly kind: string;
  readonly options?: { readonly rate?: number };
}

const tc = (...words: readonly string[]): Promise<string> => ownNetworkNamespace.run("tc", words);

describe("the network of Pods with real containers", needs(...REAL_CLUSTER_NEEDS, "nftables"), () => {
  let cluster: RealCluster;
  let kubectl: ClientProgram;
  const create = (object: object): Promise<string> => kubectl("apply -f -", { input: object });
  const ready = (pods: string): Promise<string> => kubectl(`wait --for=condition=Ready ${pods} --timeout=100s`);

  before(async () => {
    cluster = await startRealCluster();
    kubectl = await cluster.inNamespace("policies");
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  test("annotations limit the bandwidth of a Pod in both directions, and nothing of it is left", async () => {
    const annotations = { "kubernetes.io/ingress-bandwidth": "10M", "kubernetes.io/egress-bandwidth": "20M" };
    await create({ ...aRealPod("limited", SLEEP), metadata: { name: "limited", annotations } });
    await ready("pod/limited");

    const peer = /@if(\d+)/.exec(await kubectl("exec limited -- ip link show eth0"))?.[1];
    const links = JSON.parse(await ownNetworkNamespace.run("ip", ["-json", "link", "show"])) as readonly Link[];
    const veth = links.find(({ ifindex }) => String(ifindex) === peer)?.ifname ?? "";
    const [, redirected = ""] = /to device (\S+?)\)/.exec(await tc("filter", "show", "dev", veth, "ingress")) ?? [];
    // 10 and 20 million bits per second.
    deepEqual([await shapedRates(veth), await shapedRates(redirected)], [[1_250_000], [2_500_000]]);

    await kubectl("delete pod limited --grace-period=1");
    // The runtime removes the network after the Pod's containers.
    await becomes(async () => (await ownNetworkNamespace.run("ip", ["-brief", "link"])).includes(redirected), false);
  });

  test("policies hold from a Pod's first packet on, without a gap across SIGKILL and a restart with --processes, and leave nothing", async () => {
    await create(aRealPod("server", `httpd -p 80 -h /\n${SLEEP}`));
    await ready("pod/server");
    const address = await kubectl("get pod server -o jsonpath={.status.podIP}");
    await create(POLICY);
    await create(aRealPod("isolated", `${connectOnce(address)}\n${connectAlways(address)}\n${SLEEP}`));
    await create(aRealPod("free", `${connectOnce(address)}\n${SLEEP}`));
    await ready("pod/isolated pod/free");

    equal(await lineOf(kubectl, "logs --follow isolated", /^(reached|blocked)$/), "blocked");
    equal(await lineOf(kubectl, "logs --follow free", /^(reached|blocked)$/), "reached");
    match((await cluster.k8ts("status")).stdout, /network-policy.*nftables/);

    await cluster.kill();
    match(tables(cluster), /-policy/);
    await cluster.up("--processes");
    match((await cluster.k8ts("status")).stdout, /network-policy.*nftables/);
    const tryFrom = (pod: string): Promise<string> => kubectl(`exec ${pod} -- sh -c '${connectOnce(address)}'`);
    match(await tryFrom("isolated"), /blocked/);
    match(await tryFrom("free"), /reached/);
    // The kubelet is in another process now than the rest of the network.
    await create({
      ...aRealPod("another", `${connectOnce(address)}\n${SLEEP}`),
      metadata: { name: "another", labels: { app: "isolated" } },
    });
    await ready("pod/another");
    equal(await lineOf(kubectl, "logs --follow another", /^(reached|blocked)$/), "blocked");
    doesNotMatch(await kubectl("logs isolated"), /leaked/);

    await kubectl("delete networkpolicy no-egress");
    // No event reports that the rules are gone.
    await becomes(async () => (await tryFrom("isolated")).trim(), "reached");

    equal(await cluster.interrupt(), 0);
    equal(tables(cluster), "");
  });

  test("a Pod that a policy selects waits while policies cannot be enforced, others start, and it starts when they can", async () => {
    await using programs = await breakablePrograms({ nft: toolPath("nftables"), iptables: toolPath("iptables") });
    await cluster.up();
    const status = async (): Promise<string> => (await cluster.k8ts("status")).stdout;
    match(await status(), /network-policy: not running: Cannot enforce network policies: .*broken/);
    await kubectl("delete pod --all --grace-period=1");
    await create(POLICY);
    for (const name of ["isolated", "free"]) await create(aRealPod(name, `echo started\n${SLEEP}`));
    await ready("pod/free");
    const event = await lineOf(kubectl, "get events --watch -o custom-columns=TEXT:.reason,MORE:.message", /^FailedCreatePodSandBox /);
    match(event, /NetworkPolicy policies\/no-egress selects the Pod, but network-policy is not running: .*broken/);
    equal(await kubectl("get pod isolated -o jsonpath={.status.containerStatuses[0].state.waiting.reason}"), "ContainerCreating");

    await programs.repair();
    await ready("pod/isolated");
    match(await status(), /network-policy: nftables\n/);
    match(tables(cluster), /-policy/);

    // Also after a kill, nothing is left.
    await cluster.kill();
    equal((await cluster.k8ts("down")).exitCode, 0);
    equal(tables(cluster), "");
  });
});

/** Puts programs on the PATH that fail until they are repaired. */
async function breakablePrograms(programs: Readonly<Record<string, string>>) {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-broken-"));
  const path = process.env["PATH"] ?? "";
  const broken = join(directory, "broken");
  await writeFile(broken, "");
  for (const [name, program] of Object.entries(programs)) {
    // The service proxy needs other tables than that of the policies.
    const isMeant = name === "iptables" ? `echo "$*" | grep -q mangle` : "true";
    const script = `#!/bin/sh\nif [ -e ${broken} ] && ${isMeant}; then echo broken >&2; exit 1; fi\nexec ${program} "$@"\n`;
    await writeFile(join(directory, name), script, { mode: 0o700 });
  }
  process.env["PATH"] = `${directory}:${path}`;
  return {
    repair: () => rm(broken),
    async [Symbol.asyncDispose]() {
      process.env["PATH"] = path;
      await rm(directory, { recursive: true });
    },
  };
}
