import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { realClock } from "../../../host/real-clock.ts";
import { isAlive, processMark } from "../../../host/processes/process-identity.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { runCriPod, type CriPod } from "../../../testing/fixtures/cri-pod.ts";
import { needs } from "../../../testing/needs.ts";
import { cniFileName } from "../network/cni-configuration.ts";
import { endPlugins, namespacesDirectory, pluginsToAsk } from "./cni-records.ts";
import { cniBinaryDirectory, containerdFiles } from "./own-containerd.ts";
import { supervisorOf } from "./testing/supervisor-of.ts";

const NEEDS = needs("containerd", "cni", "busybox", "iptables");

const RESULTS = "/var/lib/cni/results";

/** Sets up a network as containerd does, up to the step before it stores the sandbox. Resolves with the namespace. */
function beginNetwork({ places }: TestContainerd, hostPort: number): string {
  const directory = namespacesDirectory(containerdFiles(places));
  const [id, name] = [randomBytes(32).toString("hex"), `cni-${randomBytes(16).toString("hex")}`];
  const path = join(directory, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, "");
  execFileSync("unshare", [`--net=${path}`, "true"]);
  const [portmap, bridge] = pluginsToAsk(readFileSync(join(places.cniConfigDirectory, cniFileName(places.bridge)), "utf8"));
  const add = (type: string, configuration: object) =>
    JSON.parse(
      execFileSync(join(cniBinaryDirectory(), type), {
        input: JSON.stringify(configuration),
        encoding: "utf8",
        env: {
          ...process.env,
          ...{ CNI_COMMAND: "ADD", CNI_CONTAINERID: id, CNI_NETNS: path, CNI_IFNAME: "eth0", CNI_PATH: cniBinaryDirectory() },
        },
      }),
    ) as object;
  const prevResult = add("bridge", JSON.parse(bridge?.configuration ?? "") as object);
  const portMappings = [{ hostPort, containerPort: 80, protocol: "tcp" }];
  add("portmap", { ...(JSON.parse(portmap?.configuration ?? "") as object), prevResult, runtimeConfig: { portMappings } });
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${places.bridge}-${id}-eth0`), JSON.stringify({ containerId: id, sandbox: path }));
  return name;
}

/** Network state of its Pods, in any order. */
async function networkOf(containerd: TestContainerd) {
  const { addressDirectory, bridge } = containerd.places;
  const left = (await containerd.leftovers()).flatMap(({ is, name }) =>
    ["network namespace", "link", "rule", "file"].includes(is) ? [`${is} ${name}`] : [],
  );
  const addresses = readdirSync(join(addressDirectory, bridge)).filter((name) => /^[0-9]/.test(name));
  return new Set([...left, ...addresses.map((name) => `address ${name}`), ...namespacesIn(containerd)]);
}

function namespacesIn({ places }: TestContainerd): readonly string[] {
  return readdirSync(namespacesDirectory(containerdFiles(places)));
}

const LINKS_GONE_WITHIN_MS = 20_000;

/** Timeout for `nc`, reached only on a busy machine. */
const NC_PATIENCE_SECONDS = "15";

async function reachesNode(pod: CriPod, { nodeAddress }: TestContainerd): Promise<boolean> {
  const server = createServer((socket) => socket.end("node\n")).listen(0, nodeAddress);
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    return (await pod.exec("nc", "-w", NC_PATIENCE_SECONDS, nodeAddress, String(port))) === "node\n";
  } finally {
    server.close();
  }
}

test("after a SIGKILL of containerd, unfinished Pod networks are removed and those of Pods are kept", { ...NEEDS }, async () => {
  await using containerd = await startTestContainerd();
  const pod = await runCriPod(containerd, { name: "stays", hostPort: { hostPort: 28_180, containerPort: 80 } });
  const ofPod = await networkOf(containerd);
  beginNetwork(containerd, 28_181);
  // A namespace that was created but not mounted when containerd was killed.
  writeFileSync(join(namespacesDirectory(containerdFiles(containerd.places)), "cni-0-1"), "");
  const begun = await networkOf(containerd);
  ok(begun.size >= ofPod.size + 8, [...begun].join("\n")); // Two files, a mount, a link, an address, a cached result, and rules.
  let onReport = (): void => {};
  const startedAgain = new Promise<void>((resolve) => (onReport = resolve));
  const supervisor = supervisorOf(containerd, () => onReport());

  await containerd.kill();
  await startedAgain;
  await supervisor.stop();

  // The kernel removes a namespace's links shortly after the namespace, without an event to wait for.
  for (const until = Date.now() + LINKS_GONE_WITHIN_MS; (await networkOf(containerd)).size > ofPod.size && Date.now() < until;) continue;
  deepEqual(await networkOf(containerd), ofPod);
  await containerd.restart();
  ok(await reachesNode(pod, containerd));
  await pod.remove();
  equal(namespacesIn(containerd).length, 0);
});

test("adopting a containerd removes unfinished networks of an earlier one, and none that is younger", { ...NEEDS }, async () => {
  await using containerd = await startTestContainerd();
  const ended = await runCriPod(containerd, { name: "ended" });
  const [ofEnded = ""] = namespacesIn(containerd);
  await containerd.kill();
  const old = beginNetwork(containerd, 28_182);
  await containerd.restart();
  const young = beginNetwork(containerd, 28_183);
  deepEqual(new Set(namespacesIn(containerd)), new Set([ofEnded, old, young]));

  await supervisorOf(containerd, () => {}).stop();

  deepEqual(new Set(namespacesIn(containerd)), new Set([ofEnded, young]));
  await containerd.restart();
  await ended.remove();
});

test("a CNI plugin that outlives a killed containerd is terminated before the next containerd starts", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const files = containerdFiles(containerd.places);
  const programs = join(containerd.directory, "plugins");
  mkdirSync(programs);
  // Blocks on a line that never comes, and is named as containerd names plugins.
  copyFileSync("/bin/cat", join(programs, "cat"));
  const start = async (netns: string) => {
    const child = spawn(join(programs, "cat"), { stdio: ["pipe", "pipe", "ignore"], env: { CNI_NETNS: netns } });
    child.stdin.write("\n");
    await new Promise((resolve) => child.stdout.once("data", resolve));
    return { child, mark: processMark(child.pid ?? 0) };
  };
  const ours = await start(join(namespacesDirectory(files), "cni-1"));
  const others = await start("/run/netns/cni-1");

  await endPlugins({ ...files, cniBinaryDirectory: programs }, realClock);

  deepEqual([isAlive(ours.mark), isAlive(others.mark)], [false, true]);
  others.child.kill("SIGKILL");
});
