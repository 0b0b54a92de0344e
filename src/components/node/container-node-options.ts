/** Options of a node that runs containers (container-node.ts). */
import type { ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { PressureSettings } from "../../kubelet/eviction/pressure-settings.ts";
import type { KubeletMetrics } from "../../kubelet/kubelet-metrics.ts";
import type { NodeFacts } from "../../kubelet/node/node-facts.ts";
import type { PullProgress } from "../../kubelet/contracts/runtime.ts";
import type { CriRuntime } from "../../kubelet/runtime/cri/cri-runtime.ts";
import type { KubeletServerTls } from "../../kubelet/server/kubelet-server.ts";
import type { SidecarAccess } from "./csi.ts";
import type { ServerAccess } from "./server-access.ts";

export interface ContainerNodeOptions {
  readonly nodeName: string;
  /** The main one first. */
  readonly nodeIps: readonly string[];
  /** What the kubelet keeps: volumes, and files of Pods. */
  readonly rootDirectory: string;
  /** Of the logs of Pods. */
  readonly podLogDirectory: string;
  /** Owned by the caller; not closed here. */
  readonly runtime: CriRuntime;
  /** Where that is: "unix:///…". */
  readonly runtimeEndpoint: string;
  readonly cgroupRoot: string;
  readonly podsMax: number;
  readonly podCidrs?: readonly string[];
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NodeFacts["taints"];
  readonly reserved?: ResourceList;
  readonly pressure: PressureSettings;
  readonly server: ContainerNodeServer;
  /** Additional fields of /configz, which concern only the caller. */
  readonly configuration?: JsonObject;
  readonly metrics: KubeletMetrics;
  /** Of the node's identity. */
  readonly transport: Transport;
  /** For the built-in sidecars of CSI drivers, on the one node that runs them. Absent: this node does not. */
  readonly csiSidecars?: SidecarAccess;
  /** Of the API server, in metrics. Absent: it is in this process. */
  readonly apiServerHost?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal?: AbortSignal;
  /** Awaited when a Pod has its addresses, before a container of it is created. Rejects with the reason if the Pod must not start now. */
  admitPod?(pod: Pod, addresses: readonly string[]): Promise<void>;
  /** Called periodically while an image is pulled. */
  onPull?(image: string, done: PullProgress): void;
}

export interface ContainerNodeServer extends ServerAccess {
  readonly host: string;
  readonly port: number;
  /** Of the port that is taken: whether any other will do. */
  readonly mayMove: boolean;
  readonly tls: KubeletServerTls;
}
