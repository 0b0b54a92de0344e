/**
 * Contract of an embedded cluster, mainly for tests: the real store, API server, controllers, scheduler and kubelets, with simulated Pods.
 * By default it has no port and no file, and ends with the process. Any number can run side by side.
 *
 * With virtual time (`clock: "virtual"`) time passes only in `advance` and `until`, and the same seed gives the same history.
 */
import type { IdentityName } from "../api/identities.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { ApiServerConfig } from "../apiserver/framework/api-server-config.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Client } from "../client/client.ts";
import type { Decision } from "../scheduler/decisions.ts";
import type { WrittenConfiguration } from "../scheduler/config/written-configuration.ts";
import type { ServingConfig } from "../config/api-server-config.ts";
import type { ClusterPart } from "../components/control-plane.ts";
import type { DurationInput } from "./duration-input.ts";
import type { Manifests } from "./manifests.ts";
import type { UntilOptions } from "./until.ts";
import type { ClusterNodes, NodesOptions } from "../components/simulated-nodes/simulated-nodes.ts";
import type { StoreConfig } from "../config/store-config.ts";

export type { ClusterPart } from "../components/control-plane.ts";
export type KubeSchedulerConfiguration = Omit<WrittenConfiguration, "apiVersion" | "kind">;

export interface ClusterOptions {
  /** Simulated nodes: their number, or options. Default: 1, or those of the snapshot in `from`. */
  readonly nodes?: number | NodesOptions;
  /** "virtual": time passes only in `advance` and `until`. Default: real time. */
  readonly clock?: "real" | "virtual" | Clock;
  /** Seed of all randomness: names, UIDs, choices between equals. Default: 1 with virtual time, otherwise random. */
  readonly seed?: number;
  /** Serves HTTPS and writes a kubeconfig, for kubectl and any other client. True: a free port on 127.0.0.1. Default: no port, no file. */
  readonly listen?: boolean | Partial<ServingConfig>;
  /** Path of a snapshot from `snapshot` or `k8ts store snapshot`: the cluster resumes from it, with virtual time at its timestamp. */
  readonly from?: string;
  /** Default: in memory. */
  readonly store?: StoreConfig;
  /** Controllers to run, like --controllers of `k8ts controller-manager`. Default: all. */
  readonly controllers?: readonly string[];
  /** Like the file of `k8ts scheduler --config`. False: no scheduler runs. Default: upstream's one profile. */
  readonly scheduler?: KubeSchedulerConfiguration | false;
  /** Overrides of API server defaults. */
  readonly api?: Partial<ApiServerConfig>;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

/**
 * Options of a fork that differ from the original. By default it listens if the original does, on its own port, and has its own randomness;
 * forks with the same seed have the same history as long as they get the same requests.
 */
export type ForkOptions = Pick<ClusterOptions, "listen" | "seed" | "log">;

export interface InNamespace {
  /** Default: "default". */
  readonly namespace?: string;
}

export interface Cluster extends AsyncDisposable {
  readonly parts: readonly ClusterPart[];
  /** Client of the administrator; with virtual time, requests do not need `advance`. */
  readonly client: Client;
  readonly clock: Clock;
  /** Seed that reproduces this cluster; of a fork, that of the original unless it has its own. Absent if randomness is not seeded. */
  readonly seed: number | undefined;
  /** URL of the API server, such as https://127.0.0.1:6443. Only if the cluster listens. */
  readonly url: string;
  /** Path of the kubeconfig for kubectl, Helm and client libraries. Only if the cluster listens. */
  readonly kubeconfig: string;
  /**
   * In-process transport for programs that use this cluster's clock, such as custom controllers. `userAgent` names the program and its
   * field manager; `identity` is its user and determines its permissions (api/identities.ts has those of components). Default: the
   * administrator.
   */
  transport(options: { readonly userAgent: string; readonly identity?: IdentityName }): Transport;

  /** Server-side apply of YAML or JSON text with any number of documents, or of objects; resolves with what is stored. */
  apply(manifests: Manifests, options?: InNamespace): Promise<readonly KubeObject[]>;
  /** "deployment/web". Rejects with NotFound if it does not exist. */
  get<T extends KubeObject = KubeObject>(reference: string, options?: InNamespace): Promise<T>;
  delete(reference: string, options?: InNamespace): Promise<void>;
  /**
   * Resolves with the object ("deployment/web") or the objects ("pods") when the condition is true; the object is undefined while it does
   * not exist. Rejects with the last observed state after the timeout. Calls can be concurrent.
   */
  until<T extends KubeObject = KubeObject>(
    reference: `${string}/${string}`,
    condition: (object: T | undefined) => object is undefined,
    options?: UntilOptions,
  ): Promise<undefined>;
  until<T extends KubeObject = KubeObject>(
    reference: `${string}/${string}`,
    condition: (object: T | undefined) => boolean,
    options?: UntilOptions,
  ): Promise<T>;
  until<T extends KubeObject = KubeObject>(
    reference: string,
    condition: (objects: readonly T[]) => boolean,
    options?: UntilOptions,
  ): Promise<readonly T[]>;
  /** For a computed reference: the condition gets an object or a list, depending on the reference. */
  until<T extends KubeObject = KubeObject>(
    reference: string,
    condition: (object: T | undefined) => boolean,
    options?: UntilOptions,
  ): Promise<T>;

  /** Advances virtual time ("6m"): everything that is due happens at its exact time. Concurrent calls advance the same time. */
  advance(length: DurationInput): Promise<void>;
  /** Runs everything that is due at the current virtual time. */
  settle(): Promise<void>;

  /** The nodes: `stop` disconnects one, `start` reconnects it. */
  readonly nodes: ClusterNodes;
  /** Log of a container. */
  logs(pod: string, options?: InNamespace & { readonly container?: string }): Promise<string>;
  /** Runs a command in a container. */
  exec(pod: string, command: readonly string[], options?: InNamespace & { readonly container?: string }): Promise<ExecOutcome>;
  /** The scheduler's last decisions about a Pod, newest last. */
  decisions(pod: string, options?: InNamespace): readonly Decision[];

  /**
   * An independent cluster with the same state at the same time. With real time, controllers, scheduler and nodes may begin after it
   * resolves.
   */
  fork(options?: ForkOptions): Promise<Cluster>;
  /** Writes state and time to a file, for `startCluster({ from: file })`. */
  snapshot(file: string): Promise<void>;
  /** Stops everything; resolves when nothing is left. A second call waits for the same. */
  close(): Promise<void>;
}

export interface ExecOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}
