/**
 * State of the CNI plugins for the Pods of a cluster's own containerd, read from the machine itself: network namespaces, allocated
 * addresses, and cached CNI results. Also releases all of one sandbox through the plugins' DEL, since they know each other's locks and
 * rules. Not here: which of it is orphaned (orphaned-network.ts, leftovers.ts), and the network as a whole (network/bridge-network.ts).
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
  /** Directories of own-containerd.ts. */
  readonly runDirectory: string;
  readonly stateDirectory: string;
  readonly cniConfigDirectory: string;
  /** Name of the link and of the network. */
  readonly bridge: string;
  readonly addressDirectory: string;
}

export interface NetworkRecords {
  /** Namespace names: files of one directory that the namespaces are mounted on. */
  readonly namespaces: readonly string[];
  /** Ids of sandboxes that have an address or a cached CNI result. */
  readonly sandboxes: readonly string[];
}

/** Cache directory of the CNI library, which is not configurable. */
const CNI_RESULTS = "/var/lib/cni/results";

/** File name patterns of the runtime and the library, so that other files in the same directories are not touched. */
const NAMESPACE_NAME = /^cni-[0-9a-f-]+$/;
const RESULT_SANDBOX = /-([0-9a-f]{64})-/;
const SANDBOX_ID = /^[0-9a-zA-Z][\w.-]*$/;
const ADDRESS_NAME = /^[0-9a-f.:]+$/;

/** Interface of a Pod besides its loopback, as all runtimes name it. */
const POD_LINK = "eth0";

/** Plugins wait for each other's locks; one that exceeds this timeout is stuck. */
const PLUGIN_TIMEOUT_SECONDS = 20;

/** containerd's location with netns_mounts_under_state_dir. */
export function namespacesDirectory({ stateDirectory }: Pick<CniPlaces, "stateDirectory">): string {
  return joinPath(stateDirectory, "io.containerd.grpc.v1.cri", "netns");
}

export async function readNetworkRecords(places: CniPlaces): Promise<NetworkRecords> {
  const [names, addressed, recorded] = await Promise.all([
    namesIn(namespacesDirectory(places)),
    addressedSandboxes(places),
    recordedSandboxes(places),
  ]);
  return {
    namespaces: names.filter((name) => NAMESPACE_NAME.test(name)),
    sandboxes: [...new Set([...addressed.filter((id) => !recorded.elsewhere.has(id)), ...recorded.ours])],
  };
}

/** Record of what existed before the last started containerd. */
export interface EarlierNetworkFile {
  readonly earlierNetwork: string;
}

/** Called while no containerd runs. */
export async function noteEarlierNetwork({ earlierNetwork, ...places }: CniPlaces & EarlierNetworkFile): Promise<void> {
  await writePrivateText(earlierNetwork, JSON.stringify(await readNetworkRecords(places)));
}

export async function earlierNetworkRecords({ earlierNetwork }: EarlierNetworkFile): Promise<NetworkRecords> {
  return parseRecords(await readTextIfAny(earlierNetwork));
}

/** Malformed entries are skipped. */
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

/** A file is named by the address and contains the sandbox that has it. Beside them are a lock and the last allocated address. */
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
 * The cluster may have used a runtime of the machine before, whose Pods have addresses in the same directory and may still run: their
 * cached results name a namespace elsewhere.
 */
async function recordedSandboxes(places: CniPlaces) {
  const results = await fewAtATime(await ownResults(places), async (path) => ({
    id: RESULT_SANDBOX.exec(path)?.[1] ?? "",
    isOurs: (await readTextIfAny(path)).includes(`"${places.runDirectory}/`),
  }));
  const ours = new Set(results.flatMap(({ id, isOurs }) => (isOurs && id !== "" ? [id] : [])));
  return { ours, elsewhere: new Set(results.flatMap(({ id }) => (ours.has(id) ? [] : [id]))) };
}

/**
 * Each result names its namespace, which is in our directory. Those of a runtime that is not our own are named by network, sandbox and
 * interface; those of the loopback have another network name.
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
 * Plugins started by a dead containerd: they would continue without a parent and may allocate an address after the next containerd runs.
 * Recognized by CNI_NETNS, which is in our directory.
 */
export async function endPlugins(
  { stateDirectory, cniBinaryDirectory }: { readonly stateDirectory: string; readonly cniBinaryDirectory: string },
  clock: Clock,
): Promise<void> {
  const plugins = await findProcesses(([program = ""]) => program.startsWith(`${cniBinaryDirectory}/`));
  const environments = await fewAtATime(plugins, ({ pid }) => readTextIfAny(`/proc/${pid}/environ`));
  const ours = `CNI_NETNS=${namespacesDirectory({ stateDirectory })}/`;
  await killProcesses(
    plugins.filter((_, index) => environments[index]?.split("\0").some((word) => word.startsWith(ours))),
    clock,
  );
}

/**
 * Releases addresses, hostPort rules and cached results; missing ones are ignored. The namespace is not passed: it is removed as a whole.
 * Rejects if the cluster's network is not configured.
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
  /** Its stdin. */
  readonly configuration: string;
}

/**
 * The portmap plugin removes rules only if the configuration has a port mapping; with any single one it removes all rules of the sandbox.
 */
const SOME_PORT = { portMappings: [{ hostPort: 1, containerPort: 1, protocol: "tcp" }] };

/** Plugins of a network's configuration in reverse order, as DEL requires. */
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
