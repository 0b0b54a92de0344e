/**
 * What the network's plugins have on this machine for the Pods of a cluster's own containerd, read from the machine itself: network
 * namespaces, addresses in use, and what the CNI library remembers of each. With it, how all that is of one sandbox is given back: by the
 * plugins themselves, which know of each other's locks and rules.
 * Not here: which of it is wanted (orphaned-network.ts, leftovers.ts), and the network as a whole (network/bridge-network.ts).
 */
import type { Clock } from "../../../base/clock.ts";
import { runProgram } from "../../../host/processes/child-process.ts";
import { killProcesses } from "../../../host/processes/detached-program.ts";
import { fewAtATime } from "../../../host/files/limited-concurrency.ts";
import { joinPath, readTextIfAny, removeFile } from "../../../host/files/files.ts";
import { writePrivateText } from "../../../host/files/private-files.ts";
import { findProcesses } from "../../../host/processes/process-table.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";
import { cniFileName } from "../network/cni-configuration.ts";

export interface CniPlaces {
  /** Those of own-containerd.ts. */
  readonly runDirectory: string;
  readonly stateDirectory: string;
  readonly cniConfigDirectory: string;
  /** Of the link, and of the network. */
  readonly bridge: string;
  readonly addressDirectory: string;
}

export interface NetworkRecords {
  /** Names of namespaces, which are files of one directory that they are mounted on. */
  readonly namespaces: readonly string[];
  /** Ids of sandboxes that have an address, or that the CNI library remembers. */
  readonly sandboxes: readonly string[];
}

/** Where the CNI library remembers what it did: it cannot be told to do so elsewhere. */
const CNI_RESULTS = "/var/lib/cni/results";

/** Of what the runtime and the library call their files, so that nothing else in the same directories is touched. */
const NAMESPACE_NAME = /^cni-[0-9a-f-]+$/;
const RESULT_SANDBOX = /-([0-9a-f]{64})-/;
const SANDBOX_ID = /^[0-9a-zA-Z][\w.-]*$/;
const ADDRESS_NAME = /^[0-9a-f.:]+$/;

/** The one link that a Pod has besides its loopback, as all runtimes call it. */
const POD_LINK = "eth0";

/** The plugins wait for each other's locks; one that takes longer than this is stuck. */
const PLUGIN_TIMEOUT_SECONDS = 20;

/** containerd puts them there when it is told to keep them with its state. */
export function namespacesDirectory({ stateDirectory }: Pick<CniPlaces, "stateDirectory">): string {
  return joinPath(stateDirectory, "io.containerd.grpc.v1.cri", "netns");
}

export async function readNetworkRecords(places: CniPlaces): Promise<NetworkRecords> {
  const [names, addressed, remembered] = await Promise.all([
    namesIn(namespacesDirectory(places)),
    addressedSandboxes(places),
    rememberedSandboxes(places),
  ]);
  return {
    namespaces: names.filter((name) => NAMESPACE_NAME.test(name)),
    sandboxes: [...new Set([...addressed.filter((id) => !remembered.elsewhere.has(id)), ...remembered.ours])],
  };
}

/** Where it is noted what was there before the containerd that was started last. */
export interface EarlierNetworkFile {
  readonly earlierNetwork: string;
}

/** When no containerd runs. */
export async function noteEarlierNetwork({ earlierNetwork, ...places }: CniPlaces & EarlierNetworkFile): Promise<void> {
  await writePrivateText(earlierNetwork, JSON.stringify(await readNetworkRecords(places)));
}

export async function earlierNetworkRecords({ earlierNetwork }: EarlierNetworkFile): Promise<NetworkRecords> {
  return parseRecords(await readTextIfAny(earlierNetwork));
}

/** None of what is not written as it should be. */
export function parseRecords(text: string): NetworkRecords {
  try {
    const { namespaces, sandboxes } = JSON.parse(text) as { readonly namespaces?: unknown; readonly sandboxes?: unknown };
    return { namespaces: stringsIn(namespaces), sandboxes: stringsIn(sandboxes) };
  } catch {
    return { namespaces: [], sandboxes: [] };
  }
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** A file is called by the address, and says who has it. Beside them are a lock and the address that was given last. */
async function addressedSandboxes({ addressDirectory, bridge }: CniPlaces): Promise<readonly string[]> {
  const directory = joinPath(addressDirectory, bridge);
  const names = (await namesIn(directory)).filter((name) => ADDRESS_NAME.test(name));
  const texts = await fewAtATime(names, (name) => readTextIfAny(joinPath(directory, name)));
  return texts.flatMap((text) => {
    const [id = ""] = text.trim().split(/\s+/);
    return SANDBOX_ID.test(id) ? [id] : [];
  });
}

/**
 * A cluster may have had a runtime of the machine's before, whose Pods have addresses of the same directory, and may live on: what was
 * remembered of them names a namespace elsewhere.
 */
async function rememberedSandboxes(places: CniPlaces) {
  const results = await fewAtATime(await ownResults(places), async (path) => ({
    id: RESULT_SANDBOX.exec(path)?.[1] ?? "",
    isOurs: (await readTextIfAny(path)).includes(`"${places.runDirectory}/`),
  }));
  const ours = new Set(results.flatMap(({ id, isOurs }) => (isOurs && id !== "" ? [id] : [])));
  return { ours, elsewhere: new Set(results.flatMap(({ id }) => (ours.has(id) ? [] : [id]))) };
}

/**
 * Each names the namespace that it was for, which is in our directory. Those of a runtime that is not our own are called by the network, by
 * the Pod's sandbox and by the link; the loopback's have another network's name.
 */
export async function ownResults({ runDirectory, bridge }: Pick<CniPlaces, "runDirectory" | "bridge">): Promise<readonly string[]> {
  const names = await namesIn(CNI_RESULTS);
  const sandboxes = names.flatMap((name) => (name.startsWith(`${bridge}-`) ? [name.slice(bridge.length + 1).split("-")[0] ?? ""] : []));
  const isOwn = await fewAtATime(
    names,
    async (name) =>
      sandboxes.some((id) => name.includes(`-${id}-`)) || (await readTextIfAny(joinPath(CNI_RESULTS, name))).includes(`"${runDirectory}/`),
  );
  return names.filter((_, index) => isOwn[index]).map((name) => joinPath(CNI_RESULTS, name));
}

/**
 * Of a containerd that is dead: a plugin that it had started would go on for nobody, and take an address maybe only after another containerd
 * runs. Known by the namespace that it was told, which is in our directory.
 */
export async function endPlugins(
  { stateDirectory, cniBinaryDirectory }: { readonly stateDirectory: string; readonly cniBinaryDirectory: string },
  clock: Clock,
): Promise<void> {
  const plugins = await findProcesses(([program = ""]) => program.startsWith(`${cniBinaryDirectory}/`));
  const told = await fewAtATime(plugins, ({ pid }) => readTextIfAny(`/proc/${pid}/environ`));
  const ours = `CNI_NETNS=${namespacesDirectory({ stateDirectory })}/`;
  await killProcesses(
    plugins.filter((_, index) => told[index]?.split("\0").some((word) => word.startsWith(ours))),
    clock,
  );
}

/**
 * Its addresses, rules for ports of the node, and what the library remembers of it; what it never had is fine. Its namespace is not
 * named: that is removed as a whole. Rejects if the cluster's network is not configured.
 */
export async function releaseSandbox(id: string, places: CniPlaces & { readonly cniBinaryDirectory: string }): Promise<void> {
  const text = await readTextIfAny(joinPath(places.cniConfigDirectory, cniFileName(places.bridge)));
  for (const { type, configuration } of pluginsToAsk(text)) await askToDelete(id, { ...places, type, configuration });
  for (const name of await namesIn(CNI_RESULTS)) {
    if (RESULT_SANDBOX.exec(name)?.[1] === id) await removeFile(joinPath(CNI_RESULTS, name));
  }
}

export interface PluginToAsk {
  readonly type: string;
  /** What it reads. */
  readonly configuration: string;
}

/** Who is told of no ports removes no rules for any; who is told of one removes all that the sandbox has, whichever they are. */
const SOME_PORT = { portMappings: [{ hostPort: 1, containerPort: 1, protocol: "tcp" }] };

/** Of a network's configuration, the last plugin first: what was added last is taken away first. */
export function pluginsToAsk(text: string): readonly PluginToAsk[] {
  const { cniVersion, name, plugins } = JSON.parse(text) as {
    readonly cniVersion: string;
    readonly name: string;
    readonly plugins: readonly { readonly type: string }[];
  };
  return plugins
    .map((plugin) => ({ type: plugin.type, configuration: JSON.stringify({ cniVersion, name, ...plugin, runtimeConfig: SOME_PORT }) }))
    .toReversed();
}

async function askToDelete(id: string, options: PluginToAsk & { readonly cniBinaryDirectory: string }): Promise<void> {
  const { type, configuration, cniBinaryDirectory } = options;
  const script = `printf %s "$1" | timeout -s KILL ${PLUGIN_TIMEOUT_SECONDS} "$2"`;
  await runProgram({
    command: "sh",
    arguments: ["-c", script, "sh", configuration, joinPath(cniBinaryDirectory, type)],
    environment: { CNI_COMMAND: "DEL", CNI_CONTAINERID: id, CNI_NETNS: "", CNI_IFNAME: POD_LINK, CNI_PATH: cniBinaryDirectory },
  });
}
