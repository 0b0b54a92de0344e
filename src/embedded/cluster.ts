/**
 * A whole cluster inside a program, above all inside a test: the real store, API server, controllers, scheduler and node agents, with Pods
 * that are played. By default it has no port and no file, and is gone with the process. Any number of them live side by side.
 *
 * Under virtual time (`clock: "virtual"`) time passes only by `advance` and `until`, and the same seed gives the same history.
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
import type { LengthOfTime } from "./length-of-time.ts";
import type { Manifests } from "./manifests.ts";
import type { UntilOptions } from "./until.ts";
import type { ClusterNodes, NodesOptions } from "../components/simulated-nodes/simulated-nodes.ts";
import type { StoreConfig } from "../config/store-config.ts";

export type { ClusterPart } from "../components/control-plane.ts";
export type KubeSchedulerConfiguration = Omit<WrittenConfiguration, "apiVersion" | "kind">;

export interface ClusterOptions {
  /** Simulated nodes: how many, or what they are like. Default: 1, or those that the cluster had whose snapshot `from` is. */
  readonly nodes?: number | NodesOptions;
  /** "virtual": time passes only by `advance` and `until`. Default: the real time. */
  readonly clock?: "real" | "virtual" | Clock;
  /** What chance does: names, uids, choices between equals. Default: 1 under virtual time, otherwise any. */
  readonly seed?: number;
  /** An HTTPS address and a kubeconfig, for kubectl and any other client. True: any free port of 127.0.0.1. Default: no port, no file. */
  readonly listen?: boolean | Partial<ServingConfig>;
  /** A file that `snapshot` wrote (or `k8ts store snapshot`): the cluster goes on from there, under virtual time at the time of then. */
  readonly from?: string;
  /** Default: in memory, gone with the process. */
  readonly store?: StoreConfig;
  /** Which controllers run, as --controllers of `k8ts controller-manager` takes them. Default: all. */
  readonly controllers?: readonly string[];
  /** As `k8ts scheduler --config` takes it. False: none runs. Default: upstream's one profile. */
  readonly scheduler?: KubeSchedulerConfiguration | false;
  /** What differs from the defaults of the API server. */
  readonly api?: Partial<ApiServerConfig>;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

/**
 * What a fork may have that differs from the original. By default it listens if the original does, at a port of its own, and each fork has
 * chance of its own; with a seed, forks of one moment go the same way as long as the same is done to them.
 */
export type ForkOptions = Pick<ClusterOptions, "listen" | "seed" | "log">;

export interface InNamespace {
  /** Default: "default". */
  readonly namespace?: string;
}

export interface Cluster extends AsyncDisposable {
  readonly parts: readonly ClusterPart[];
  /** The API as the administrator; under virtual time it needs nobody who moves the clock. */
  readonly client: Client;
  readonly clock: Clock;
  /** What repeats this cluster; of a fork, that of the original unless it was given one. Absent if chance was not fixed. */
  readonly seed: number | undefined;
  /** Where the API is, such as https://127.0.0.1:6443. Only of clusters that listen. */
  readonly url: string;
  /** The path of a file with which kubectl, Helm and client libraries find it. Only of clusters that listen. */
  readonly kubeconfig: string;
  /**
   * The API without a socket, for programs that go by this cluster's clock: controllers of one's own. `userAgent` names the program, and who owns the fields that it writes;
   * `identity` says who it is and so what it may do (api/identities.ts has those of the cluster's parts). Default: the administrator.
   */
  transport(options: { readonly userAgent: string; readonly identity?: IdentityName }): Transport;

  /** Server-side apply of YAML or JSON text with any number of documents, or of objects; resolves with what is stored. */
  apply(manifests: Manifests, options?: InNamespace): Promise<readonly KubeObject[]>;
  /** "deployment/web". Rejects with NotFound if there is none. */
  get<T extends KubeObject = KubeObject>(reference: string, options?: InNamespace): Promise<T>;
  delete(reference: string, options?: InNamespace): Promise<void>;
  /**
   * Resolves with the object ("deployment/web") or the objects ("pods") when the condition is true of it; the object is undefined while
   * there is none. Rejects with what was last seen if it takes too long. Any number may wait at once, each for its own moment.
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
  /** For a reference that was put together: what it is decides what the condition gets. */
  until<T extends KubeObject = KubeObject>(
    reference: string,
    condition: (object: T | undefined) => boolean,
    options?: UntilOptions,
  ): Promise<T>;

  /**
   * Lets so much virtual time pass ("6m"): everything that is due on the way happens, exactly when it is due. Two who call this at once
   * let the same time pass, as it does for all who wait meanwhile.
   */
  advance(length: LengthOfTime): Promise<void>;
  /** Lets everything happen that is due at this moment of virtual time. */
  settle(): Promise<void>;

  /** The machines: `stop` silences one as if its cable was cut, `start` brings it back. */
  readonly nodes: ClusterNodes;
  /** What a container of a Pod has written so far. */
  logs(pod: string, options?: InNamespace & { readonly container?: string }): Promise<string>;
  /** Runs a command in a container of a Pod. */
  exec(pod: string, command: readonly string[], options?: InNamespace & { readonly container?: string }): Promise<ExecOutcome>;
  /** Why a Pod is where it is, or nowhere: the scheduler's last decisions about it, newest last. */
  decisions(pod: string, options?: InNamespace): readonly Decision[];

  /** An independent cluster with the same state at the same time. Both go on by themselves. */
  fork(options?: ForkOptions): Promise<Cluster>;
  /** Writes the state and the time to a file, for `startCluster({ from: file })`. */
  snapshot(file: string): Promise<void>;
  /** Stops everything; resolves when nothing of it is left. A second call waits for the same. */
  close(): Promise<void>;
}

export interface ExecOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}
