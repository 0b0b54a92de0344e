/**
 * Observes a cluster from outside: its record, whether its process is alive, and the state that its API server reports within a timeout.
 */
import { nodes as nodeKind } from "../api/core/v1/node.ts";
import type { Node } from "../api/generated/core/v1.ts";
import { pods as podKind } from "../api/core/v1/pod.ts";
import { createClient } from "../client/rest-client.ts";
import { httpsTransport } from "../client/https/https-transport.ts";
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import { isOwnAddress } from "../host/network/network-address.ts";
import type { ProcessMark } from "../host/processes/process-identity.ts";
import { readTrustedText } from "../host/files/trusted-path.ts";
import { adminConnection } from "./kubeconfig/admin-connection.ts";
import type { ClusterHome } from "./home/cluster-home.ts";
import type { ClusterRecord } from "./home/cluster-record.ts";
import { findRunningProcess } from "./home/find-running-process.ts";

/** A working server responds within milliseconds. */
const ANSWER_WITHIN_MS = 5_000;

export interface ClusterStatus {
  readonly name: string;
  readonly directory: string;
  /** "killed": its process is gone without a cleanup; the next `up` or `down` cleans up. */
  readonly state: ClusterRecord["state"] | "stopped" | "killed";
  /** Record of the running or killed cluster. */
  readonly record?: ClusterRecord;
  /** For a running cluster with a corrupt record. */
  readonly unrecorded?: { readonly process: ProcessMark; readonly damagedRecord: string };
  /** Absent if it was not queried: the cluster is not running, or still starting. */
  readonly api?: ApiStatus;
}

export type ApiStatus =
  | { readonly answers: true; readonly nodes: readonly NodeStatus[]; readonly podsByPhase: Readonly<Record<string, number>> }
  | { readonly answers: false; readonly why: string };

export interface ObserveOptions {
  readonly clock: Clock;
  /** $HOME: files below it are trusted. */
  readonly userHome: string | undefined;
}

export interface NodeStatus {
  readonly name: string;
  /** "Ready", "NotReady", "Unknown". */
  readonly ready: string;
  /** Such as "containerd://1.6.20". */
  readonly runtime?: string;
}

export async function observeCluster(home: ClusterHome, { clock, userHome }: ObserveOptions): Promise<ClusterStatus> {
  const { name, directory } = home;
  const { record, isDamaged, process } = await findRunningProcess(home);
  if (record === undefined) {
    if (process !== undefined) return { name, directory, state: "running", unrecorded: { process, damagedRecord: home.record } };
    // A graceful stop has removed the record.
    return { name, directory, state: isDamaged ? "killed" : "stopped" };
  }
  if (process === undefined) return { name, directory, state: "killed", record };
  // The home's own, whatever path the record has.
  const api = record.adminKubeconfig === undefined ? undefined : await askApi(home.kubeconfig, { clock, userHome });
  return { name, directory, state: record.state, record, ...(api === undefined ? {} : { api }) };
}

async function askApi(kubeconfig: string, options: ObserveOptions): Promise<ApiStatus> {
  const { clock } = options;
  const late = new AbortController();
  const timer = new AbortController();
  const timing = clock.sleep(ANSWER_WITHIN_MS, timer.signal).then(
    () => late.abort(new Error(`no response within ${ANSWER_WITHIN_MS / 1_000} s`)),
    () => undefined, // It responded in time.
  );
  try {
    return await lookThrough(kubeconfig, options, late.signal);
  } catch (error) {
    return { answers: false, why: ((late.signal.aborted ? late.signal.reason : error) as Error).message };
  } finally {
    timer.abort();
    await timing;
  }
}

async function lookThrough(path: string, { clock, userHome }: ObserveOptions, signal: AbortSignal): Promise<ApiStatus> {
  // The server is local: proxies of the environment are not used.
  const connection = adminConnection({ path, text: await readTrustedText(path, { userHome }), isOwnAddress });
  await using transport = httpsTransport(connection, { clock, log: silentLogger, userAgent: "k8ts-status" });
  const client = createClient(transport).with({ signal });
  const nodes = (await client.list(nodeKind)).items.map(nodeStatus);
  const podsByPhase: Record<string, number> = {};
  for await (const { items } of client.pages(podKind)) {
    for (const { status } of items) {
      const phase = status?.phase ?? "Unknown";
      podsByPhase[phase] = (podsByPhase[phase] ?? 0) + 1;
    }
  }
  return { answers: true, nodes, podsByPhase };
}

function nodeStatus({ metadata, status }: Node): NodeStatus {
  const condition = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const runtime = status?.nodeInfo?.containerRuntimeVersion;
  return {
    name: metadata.name,
    ready: condition === "True" ? "Ready" : condition === "False" ? "NotReady" : "Unknown",
    ...(runtime === undefined || runtime === "" ? {} : { runtime }),
  };
}
