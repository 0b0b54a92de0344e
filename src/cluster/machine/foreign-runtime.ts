/**
 * State of a cluster in a container runtime that k8ts does not manage, which remains when the cluster stops: exited containers, removed
 * when the cluster is deleted, and, after a kill, its network configuration. Such a runtime removes a Pod sandbox only while it has a
 * network, so the cluster's is restored for that time.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { fileExists, makePrivateDirectory, readWhole } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { askSettings } from "../../kubelet/machine/containerd/runtime-settings.ts";
import type { Environment } from "../../cli/framework/command.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { foreignRuntimeFile } from "./container-paths.ts";
import { removeForeignConfiguration, startNetwork, type MachineNetwork } from "./machine-network.ts";
import { stopMachinePods } from "./stop-machine-pods.ts";

export interface ForeignRuntimeOptions {
  readonly home: ClusterHome;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Exited containers stay in the runtime when the cluster stops: its deletion has to find them. */
export async function recordForeignRuntime(home: ClusterHome, endpoint: string): Promise<void> {
  await makePrivateDirectory(home.kubeletDirectory);
  await writePrivateText(foreignRuntimeFile(home), `${endpoint}\n`);
}

/** Endpoint of the runtime with state of the cluster; undefined if none. */
export async function foreignRuntime(home: ClusterHome): Promise<string | undefined> {
  const file = foreignRuntimeFile(home);
  return (await fileExists(file)) ? new TextDecoder().decode(await readWhole(file)).trim() : undefined;
}

/** For a stopped cluster, or one that is deleted (`isForGood`). Resolves with what a kill had left, for output. */
export async function leaveForeignRuntime(
  options: ForeignRuntimeOptions,
  { isForGood }: { readonly isForGood: boolean },
): Promise<readonly string[]> {
  const endpoint = await foreignRuntime(options.home);
  if (endpoint === undefined) return [];
  const directory = await removeForeignConfiguration(options.home);
  if (isForGood) await clear(endpoint, options);
  return directory === undefined ? [] : [`its network configuration in ${directory}`];
}

async function clear(endpoint: string, { home, environment, clock, log }: ForeignRuntimeOptions): Promise<void> {
  let network: MachineNetwork | undefined;
  try {
    network = await startNetwork({ endpoint, isOwn: false }, { home, environment, clock });
    await untilReady(endpoint, clock);
  } catch (error) {
    // Another cluster's network works as well; an unresponsive runtime is reported by the next call.
    log.debug("Configuring a network for the container runtime failed", { endpoint, error });
  }
  await stopMachinePods({ home, endpoint, clock, log, isForGood: true });
  await network?.remove();
}

/** Time in which a runtime notices a new file. */
const READY_WITHIN_MS = 10_000;
/** There is no event for it. */
const ASK_AGAIN_MS = 20;

async function untilReady(endpoint: string, clock: Clock): Promise<void> {
  const giveUpAtMs = clock.monotonic() + READY_WITHIN_MS;
  while (clock.monotonic() < giveUpAtMs && (await askSettings(endpoint, clock)).networkTrouble !== undefined)
    await clock.sleep(ASK_AGAIN_MS);
}
