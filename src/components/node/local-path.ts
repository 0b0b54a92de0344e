/** The storage of a node and its provisioner, beside the kubelet. Not here: how (localpath/). */
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { openVolumesOnDisk } from "../../localpath/disk/volumes-on-disk.ts";
import { startProvisioner } from "../../localpath/start-provisioner.ts";

export interface LocalPathNodeOptions {
  readonly nodeName: string;
  /** Of the volumes' files. Created if missing. */
  readonly directory: string;
  /** True on one node of the cluster: it also refuses claims that no node was selected for. */
  readonly isFirst: boolean;
  /** Of the node's identity. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Resolves when the volumes of an earlier start can be mounted: to be awaited before the kubelet starts Pods. */
export async function startLocalPath({ nodeName, directory, isFirst, ...options }: LocalPathNodeOptions): Promise<AsyncDisposable> {
  const volumes = await options.clock.external(openVolumesOnDisk({ directory, log: options.log }));
  return startProvisioner({ ...options, volumes, isOwnNode: (name) => name === nodeName, refusesUnplaced: isFirst });
}
