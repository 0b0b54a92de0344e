/** Output of `k8ts status`, as text and as JSON. Pure. */
import type { ClusterRecord } from "./home/cluster-record.ts";
import type { ApiStatus, ClusterStatus, NodeStatus } from "./observe-cluster.ts";

/** Up to this number nodes are listed individually. */
const NODES_NAMED_MAX = 10;

export function statusLines(status: ClusterStatus): readonly string[] {
  const { name, directory, state, record, unrecorded, api } = status;
  const rows: (readonly [string, string] | undefined)[] = [
    ["directory", directory],
    record === undefined || state === "killed" ? undefined : ["process", `${record.process.pid}, since ${record.since}`],
    unrecorded === undefined ? undefined : ["process", String(unrecorded.process.pid)],
    unrecorded === undefined ? undefined : ["record", damageText(unrecorded.damagedRecord)],
    record === undefined ? undefined : ["version", `k8ts ${record.version}, Kubernetes ${record.kubernetesVersion}`],
    state === "killed" || record?.server === undefined ? undefined : ["API server", serverText(record, api)],
    ...partRows(status),
    processRow(status),
    ...(api?.answers === true ? nodeRows(api.nodes) : []),
    api?.answers === true ? ["pods", podText(api.podsByPhase)] : undefined,
    record?.node?.runtimeEndpoint === undefined ? undefined : ["runtime", runtimeText(record.node)],
    record?.kubeconfig === undefined ? undefined : ["context", `${record.context} in ${record.kubeconfig}`],
    record === undefined ? undefined : ["log", record.logFile],
  ];
  return [
    `${record?.role ?? "cluster"} "${name}": ${stateText(state, record?.role)}`,
    ...rows.flatMap((row) => (row === undefined ? [] : [line(...row)])),
  ];
}

/** The JSON output: everything that is known. */
export function statusObject({ name, directory, state, record, unrecorded, api }: ClusterStatus): object {
  return { name, directory, state, ...(record === undefined ? {} : { record }), ...unrecorded, ...(api === undefined ? {} : { api }) };
}

function damageText(path: string): string {
  return `${path} is corrupt; k8ts down stops the cluster, and the next k8ts up rewrites the file`;
}

function line(what: string, text: string): string {
  return `  ${`${what}:`.padEnd(12)} ${text}`;
}

function stateText(state: ClusterStatus["state"], role: ClusterRecord["role"]): string {
  if (state !== "killed") return state;
  if (role === "node") return "stopped (its process was killed; k8ts join resumes the node, k8ts down cleans up)";
  return "stopped (its process was killed; k8ts up resumes the cluster, k8ts down cleans up)";
}

/** A joined node has no credentials to list the objects of its cluster. */
function serverText({ server, role }: Pick<ClusterRecord, "server" | "role">, api: ApiStatus | undefined): string {
  return role === "node" ? `${server}, of which this machine is a node` : `${server}, ${apiText(api)}`;
}

function apiText(api: ApiStatus | undefined): string {
  if (api === undefined) return "not started yet";
  return api.answers ? "answers" : `does not respond: ${api.why}`;
}

/** Processes of the components, with --processes. */
function processRow({ record, state }: ClusterStatus): readonly [string, string] | undefined {
  if (state === "killed" || record?.mode !== "one process per component" || record.parts === undefined) return undefined;
  const own = record.parts.filter(({ name }) => name !== "store");
  return ["processes", own.map(({ name, process }) => `${name} ${process?.pid ?? "(restarting)"}`).join(", ")];
}

/** Components with separate lines, which show their current state. */
const ASKED_FOR = ["API server", "node", "nodes"];

function partRows({ record, state }: ClusterStatus): (readonly [string, string])[] {
  if (state === "killed") return [];
  const asked = record?.role === "node" ? [] : ASKED_FOR;
  return (record?.parts ?? []).filter(({ name }) => !asked.includes(name)).map(({ name, description }) => [name, description]);
}

function nodeRows(nodes: readonly NodeStatus[]): (readonly [string, string])[] {
  if (nodes.length > NODES_NAMED_MAX) {
    const ready = nodes.filter((node) => node.ready === "Ready").length;
    return [["nodes", `${nodes.length}, ${ready} Ready`]];
  }
  return nodes.map(({ name, ready, runtime }) => ["node", `${name} ${ready}${runtime === undefined ? "" : ` (${runtime})`}`]);
}

/** "5 (3 Running, 2 Pending)" */
function podText(byPhase: Readonly<Record<string, number>>): string {
  const phases = Object.entries(byPhase);
  const total = phases.reduce((sum, [, count]) => sum + count, 0);
  return total === 0 ? "none" : `${total} (${phases.map(([phase, count]) => `${count} ${phase}`).join(", ")})`;
}

function runtimeText({ runtime, runtimeEndpoint }: { readonly runtime?: string; readonly runtimeEndpoint?: string }): string {
  return runtime === undefined ? (runtimeEndpoint ?? "") : `${runtime} at ${runtimeEndpoint}`;
}
