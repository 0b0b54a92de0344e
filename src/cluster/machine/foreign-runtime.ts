/**
 * What a cluster has in a container runtime that is not its own, and stays when the cluster stops: ended containers, which go when the
 * cluster is deleted, and, after a kill, the configuration of its network. Such a runtime removes a Pod's sandbox only while it has a
 * network, so the cluster's is put there again for as long as that takes.
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

/** What ended stays in the runtime when the cluster stops: whoever deletes the cluster has to find it. */
export async function recordForeignRuntime(home: ClusterHome, endpoint: string): Promise<void> {
  await makePrivateDirectory(home.kubeletDirectory);
  await writePrivateText(foreignRuntimeFile(home), `${endpoint}\n`);
}

/** The endpoint of the one that has something of the cluster; undefined if none has. */
export async function foreignRuntime(home: ClusterHome): Promise<string | undefined> {
  const file = foreignRuntimeFile(home);
  return (await fileExists(file)) ? new TextDecoder().decode(await readWhole(file)).trim() : undefined;
}

/** Of a cluster that has stopped, or will not start again (`isForGood`). Resolves with what a kill had left, in words. */
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
    // Another cluster's does as well; a runtime that does not answer is told of by who asks next.
    log.debug("Configuring a network for the container runtime failed", { endpoint, error });
  }
  await stopMachinePods({ home, endpoint, clock, log, isForGood: true });
  await network?.remove();
}

/** A runtime hears of a new file within moments. */
const READY_WITHIN_MS = 10_000;
/** There is no event for it. */
const ASK_AGAIN_MS = 20;

async function untilReady(endpoint: string, clock: Clock): Promise<void> {
  const giveUpAtMs = clock.monotonic() + READY_WITHIN_MS;
  while (clock.monotonic() < giveUpAtMs && (await askSettings(endpoint, clock)).networkTrouble !== undefined)
    await clock.sleep(ASK_AGAIN_MS);
}
