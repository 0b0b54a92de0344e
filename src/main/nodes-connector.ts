/**
 * The way of the API server to the simulated nodes, without a network: logs and exec are joined to the node agents of this process.
 * What cannot be had of Pods that are only played (attaching, ports, proxies) is refused in words.
 * Not here: who may, and what may be asked (apiserver/connections).
 */
import type { PodExecOptions, PodLogOptions } from "../api/generated/core/v1.ts";
import { badRequest } from "../api/machinery/status-error.ts";
import type { ConnectionCall, ConnectionTarget, NodeConnector } from "../apiserver/connection.ts";
import type { ExchangeAnswer, Sink, StreamedAnswer } from "../apiserver/exchange.ts";
import type { Clock } from "../base/clock.ts";
import { logBytes, loggedContainer, runtimeLogOptions } from "../kubelet/container-logs.ts";
import { chooseProtocol, EXEC_PROTOCOLS, serveExec, type ExecRun } from "../kubelet/exec-channels.ts";
import type { Kubelet } from "../kubelet/kubelet.ts";
import { isRunning } from "../kubelet/runtime-containers.ts";
import type { NodesPart } from "./nodes-part.ts";

/** Of a log, waiting for a client who reads slowly: reading goes on when it has taken them. */
const LOG_WAITING_BYTES_MAX = 1 << 20;

/** `nodes` is asked at each request: they come after the API server. */
export function nodesConnector(nodes: () => NodesPart | undefined, clock: Clock): NodeConnector {
  return {
    async connect(call) {
      const { subresource, target } = call;
      if (target.is === "kubelet" && subresource === "log") return log(kubeletAt(nodes(), target), call, clock);
      if (target.is === "kubelet" && subresource === "exec") return channels(call, execIn(nodes(), target, call));
      if (target.is === "kubelet" && subresource === "attach") return channels(call, () => Promise.reject(noAttaching(target)));
      throw new Error(noWayTo(subresource, target));
    },
    refusal: (subresource, target) => (target.is === "kubelet" && SERVED.includes(subresource) ? undefined : noWayTo(subresource, target)),
  };
}

/** Attaching is refused in its own stream, which is where kubectl looks for words. */
const SERVED: readonly string[] = ["log", "exec", "attach"];

type KubeletTarget = Extract<ConnectionTarget, { readonly is: "kubelet" }>;

function kubeletAt(nodes: NodesPart | undefined, { node }: KubeletTarget): Kubelet {
  const kubelet = nodes?.kubelet(node.name);
  if (kubelet === undefined) throw new Error(`error dialing backend: dial tcp ${node.host}:${node.port}: connect: no route to host`);
  return kubelet;
}

// ── logs ────────────────────────────────────────────────────────────────────────────────────────────

function log(kubelet: Kubelet, call: ConnectionCall, clock: Clock): ExchangeAnswer {
  const { pod: podName = NO_POD, container = "" } = call.target as KubeletTarget;
  const options = call.options as unknown as PodLogOptions;
  const pod = kubelet.pod(podName);
  if (pod === undefined) return text(404, `pod "${podName.name}" does not exist`);
  const found = loggedContainer(pod, container, options);
  if (found.is === "refused") return text(400, found.message);
  return streamed((signal) => {
    const lines = kubelet.runtime.logs(found.id, runtimeLogOptions(options, clock.now()), signal);
    return logBytes(lines, options);
  });
}

const NO_POD = { namespace: "", name: "" };

function text(code: number, message: string): ExchangeAnswer {
  return { code, headers: {}, body: [new TextEncoder().encode(message)] };
}

function streamed(read: (signal: AbortSignal) => AsyncIterable<Uint8Array>): StreamedAnswer {
  return {
    code: 200,
    headers: {},
    stream(sink) {
      const gone = new AbortController();
      sink.onClosed(() => gone.abort(new Error("The client has gone")));
      void pour(read(gone.signal), sink);
    },
  };
}

/** Never rejects. What goes wrong when the answer has begun can only be told within it. */
async function pour(pieces: AsyncIterable<Uint8Array>, sink: Sink): Promise<void> {
  const flow = new Flow(sink);
  try {
    for await (const bytes of pieces) if (sink.write({ bytes }) > LOG_WAITING_BYTES_MAX) await flow.goesOn();
  } catch (error) {
    sink.write({ bytes: new TextEncoder().encode(error instanceof Error ? error.message : String(error)) });
  }
  sink.end();
}

/** When a client who was too slow can take more, or has gone. */
class Flow {
  #wake: () => void = () => undefined;

  constructor(sink: Sink) {
    sink.onDrained(() => this.#wake());
    sink.onClosed(() => this.#wake());
  }

  goesOn(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

// ── exec ────────────────────────────────────────────────────────────────────────────────────────────

/** Whatever `run` is refused with is told in the WebSocket: see exec-channels.ts. */
function channels({ offer, options }: ConnectionCall, run: ExecRun): ExchangeAnswer {
  const offered = offer?.protocols ?? [];
  const protocol = chooseProtocol(offered);
  if (protocol === undefined)
    throw badRequest(`unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${EXEC_PROTOCOLS.join(" ")}]`);
  return { protocol, run: (socket) => void serveExec(socket, options, run) };
}

function execIn(nodes: NodesPart | undefined, target: KubeletTarget, { options }: ConnectionCall): ExecRun {
  return async (streams, signal) => {
    const { pod = NO_POD, container = "" } = target;
    const { command, stdin = false, stdout = false, stderr = false } = options as unknown as PodExecOptions;
    if (!stdin && !stdout && !stderr) throw cannotUpgrade("you must specify at least 1 of stdin, stdout, stderr");
    const kubelet = kubeletAt(nodes, target);
    const found = await kubelet.container(pod, container);
    if (found === undefined || !isRunning(found)) throw cannotUpgrade(`container not found ("${container}")`);
    return kubelet.runtime.exec(found.id, command, streams, signal);
  };
}

/** Upstream's words for what a kubelet says before there is a stream. */
function cannotUpgrade(why: string): Error {
  return new Error(`unable to upgrade connection: ${why}`);
}

// ── what there is not ───────────────────────────────────────────────────────────────────────────────

function noAttaching({ pod = NO_POD, container = "" }: KubeletTarget): Error {
  return badRequest(
    `cannot attach to container "${container}" in pod "${pod.name}": it is simulated and has no process; use kubectl logs --follow or kubectl exec`,
  );
}

function noWayTo(subresource: string, target: ConnectionTarget): string {
  if (target.is === "server") return `cannot connect to ${target.host}:${target.port}: what is simulated has no network`;
  if (subresource === "portforward")
    return `cannot forward ports of pod "${target.pod?.name ?? ""}": it is simulated and nothing listens in it`;
  return `cannot do ${subresource} on node "${target.node.name}": what is simulated has no network`;
}
