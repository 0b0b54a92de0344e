/**
 * Connects the API server to simulated nodes in this process, without a network: logs, exec and resource usage come from the kubelets. Operations that
 * simulated Pods do not support (attach, port-forward, proxy) are rejected with a message. Not here: authorization and validation
 * (apiserver/connections).
 */
import type { PodExecOptions, PodLogOptions } from "../../api/generated/core/v1.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type { ExchangeAnswer } from "../../apiserver/framework/exchange.ts";
import { streamedAnswer } from "../../apiserver/shared/streamed-response.ts";
import type { Clock } from "../../base/clock.ts";
import { prometheusText } from "../../base/metrics/prometheus-text.ts";
import { logBytes, loggedContainer, runtimeLogOptions } from "../../kubelet/logs/container-logs.ts";
import { chooseProtocol, EXEC_PROTOCOLS, serveExec, type ExecRun } from "../../kubelet/exec/exec-channels.ts";
import type { Kubelet } from "../../kubelet/kubelet.ts";
import { resourceFamilies } from "../../kubelet/server/stats/resource-metrics.ts";
import { runtimeNumbers } from "../../kubelet/server/stats/runtime-numbers.ts";
import { isRunning } from "../../kubelet/pod/containers/runtime-containers.ts";
import type { NodesPart } from "./simulated-nodes.ts";
import { attachUnsupportedMessage, networkUnsupportedMessage, portForwardUnsupportedMessage } from "./unsupported-messages.ts";
import type { ConnectionCall, ConnectionTarget, NodeConnector } from "../../apiserver/framework/node-connector.ts";

export interface NodesConnectorOptions {
  readonly clock: Clock;
  /** Connector to nodes that are not simulated. Absent: none exist. */
  readonly network?: NodeConnector | undefined;
}

/** `nodes` is evaluated at each request: they start after the API server. */
export function nodesConnector(nodes: () => NodesPart | undefined, { clock, network }: NodesConnectorOptions): NodeConnector {
  const isElsewhere = (target: ConnectionTarget): boolean => network !== undefined && !isSimulated(nodes(), target);
  return {
    async connect(call) {
      const { subresource, target } = call;
      if (network !== undefined && isElsewhere(target)) return network.connect(call);
      if (target.is === "kubelet" && subresource === "metrics") return resourceMetrics(await kubeletAt(nodes(), target));
      if (target.is === "kubelet" && subresource === "log") return log(await kubeletAt(nodes(), target), call, clock);
      if (target.is === "kubelet" && subresource === "exec") return channels(call, execIn(nodes(), target, call));
      if (target.is === "kubelet" && subresource === "attach") return channels(call, () => Promise.reject(noAttaching(target)));
      throw new Error(noWayTo(subresource, target));
    },
    refusal(subresource, target) {
      if (isElsewhere(target)) return undefined;
      return target.is === "kubelet" && SERVED.includes(subresource) ? undefined : noWayTo(subresource, target);
    },
  };
}

function isSimulated(nodes: NodesPart | undefined, target: ConnectionTarget): boolean {
  const names = nodes?.names() ?? [];
  if (target.is === "kubelet") return names.includes(target.node.name);
  const { pod, nodeName } = target;
  if (pod === undefined) return nodeName !== undefined && names.includes(nodeName);
  return names.some((name) => nodes?.kubelet(name)?.pod(pod) !== undefined);
}

/** Attach is rejected in its stream, where kubectl expects the message. */
const SERVED: readonly string[] = ["log", "exec", "attach"];

type KubeletTarget = Extract<ConnectionTarget, { readonly is: "kubelet" }>;

async function kubeletAt(nodes: NodesPart | undefined, { node }: KubeletTarget): Promise<Kubelet> {
  const kubelet = await nodes?.whenBegun(node.name);
  if (kubelet === undefined) throw new Error(`error dialing backend: dial tcp ${node.host}:${node.port}: connect: no route to host`);
  return kubelet;
}

// ── logs ────────────────────────────────────────────────────────────────────────────────────────────

function log(kubelet: Kubelet, call: ConnectionCall, clock: Clock): ExchangeAnswer {
  const { pod: podName = NO_POD, container = "" } = call.target as KubeletTarget;
  const options = call.options as PodLogOptions;
  const pod = kubelet.pod(podName);
  if (pod === undefined) return text(404, `pod "${podName.name}" does not exist`);
  const found = loggedContainer(pod, container, options);
  if (found.is === "refused") return text(400, found.message);
  const read = (signal: AbortSignal): AsyncIterable<Uint8Array> =>
    logBytes(kubelet.runtime.logs(found.id, runtimeLogOptions(options, clock.now()), signal), options);
  return streamedAnswer({ code: 200, headers: {} }, read, { reportsFailure: true });
}

const NO_POD = { namespace: "", name: "" };

function text(code: number, message: string): ExchangeAnswer {
  return { code, headers: {}, body: [new TextEncoder().encode(message)] };
}

// ── resource usage ──────────────────────────────────────────────────────────────────────────────────

async function resourceMetrics(kubelet: Kubelet): Promise<ExchangeAnswer> {
  return text(200, prometheusText(resourceFamilies(await runtimeNumbers(kubelet))));
}

// ── exec ────────────────────────────────────────────────────────────────────────────────────────────

/** Errors of `run` are sent in the WebSocket: see exec-channels.ts. */
function channels({ offer, switching, options }: ConnectionCall, run: ExecRun): ExchangeAnswer {
  if (offer === undefined && switching !== undefined)
    throw badRequest(`unable to upgrade to ${JSON.stringify(switching.protocol)}: simulated Pods support only WebSockets`);
  const offered = offer?.protocols ?? [];
  const protocol = chooseProtocol(offered);
  if (protocol === undefined)
    throw badRequest(`unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${EXEC_PROTOCOLS.join(" ")}]`);
  return { protocol, run: (socket) => void serveExec(socket, options, run, protocol) };
}

function execIn(nodes: NodesPart | undefined, target: KubeletTarget, { options }: ConnectionCall): ExecRun {
  return async (streams, signal) => {
    const { pod = NO_POD, container = "" } = target;
    const { command, stdin = false, stdout = false, stderr = false } = options as PodExecOptions;
    if (!stdin && !stdout && !stderr) throw cannotUpgrade("you must specify at least 1 of stdin, stdout, stderr");
    const kubelet = await kubeletAt(nodes, target);
    const found = await kubelet.container(pod, container);
    if (found === undefined || !isRunning(found)) throw cannotUpgrade(`container not found ("${container}")`);
    return kubelet.runtime.exec(found.id, command, streams, signal);
  };
}

/** Upstream's message of a kubelet before there is a stream. */
function cannotUpgrade(why: string): Error {
  return new Error(`unable to upgrade connection: ${why}`);
}

// ── unsupported operations ──────────────────────────────────────────────────────────────────────────

function noAttaching({ pod = NO_POD, container = "" }: KubeletTarget): Error {
  return badRequest(attachUnsupportedMessage({ pod: pod.name, container }));
}

function noWayTo(subresource: string, target: ConnectionTarget): string {
  if (target.is === "server") return `cannot connect to ${target.host}:${target.port}: simulated Pods and nodes have no network`;
  if (subresource === "portforward") return portForwardUnsupportedMessage(target.pod?.name ?? "");
  return networkUnsupportedMessage(`${subresource} on node "${target.node.name}"`);
}
