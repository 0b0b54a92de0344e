/**
 * Port-forwarding to a Pod: SPDY on the connection itself, SPDY inside a WebSocket, or the older channels of a WebSocket. Not here: the
 * protocols (port-forward-spdy.ts, port-forward-channels.ts), and how a port is reached (the runtime).
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { WebSocketOffer } from "../../../host/http/contract.ts";
import { hasRunning } from "../../pod/containers/runtime-containers.ts";
import { Refusal, type Call, type Handler, type ServedKubelet, type ServerContext } from "../call.ts";
import { choosePortForwardProtocol, portsOf, servePortForwardChannels } from "./port-forward-channels.ts";
import { servePortForward, type PortForwarding } from "./port-forward-spdy.ts";
import { chooseStreamProtocol, switchToSpdy } from "./stream-protocols.ts";
import { SPDY, UPGRADE_REQUIRED } from "./upgrades.ts";
import { webSocketStream } from "./web-socket-stream.ts";

/** SPDY inside a WebSocket. */
const TUNNELLED = "SPDY/3.1+portforward.k8s.io";

/** Protocol inside SPDY. */
const PROTOCOLS = ["portforward.k8s.io"] as const;

export const portForwardHandler: Handler = async (context, call) => {
  const { offer } = call;
  if (offer === undefined) return overSpdy(context, call);
  if (offer.protocols.includes(TUNNELLED)) return insideWebSocket(context, call, offer);
  return overChannels(context, call, offer);
};

async function overSpdy(context: ServerContext, call: Call): Promise<void> {
  const { request, tunnel } = call;
  const forwarding = await forwardingTo(context, call);
  if (tunnel?.protocol.toLowerCase() !== SPDY) throw new Refusal(500, UPGRADE_REQUIRED);
  const protocol = chooseStreamProtocol(request, PROTOCOLS);
  await servePortForward(context.streams.bytes(await switchToSpdy(tunnel, protocol)), forwarding);
}

async function insideWebSocket(context: ServerContext, call: Call, offer: WebSocketOffer): Promise<void> {
  const forwarding = await forwardingTo(context, call);
  await servePortForward(context.streams.bytes(webSocketStream(await offer.accept(TUNNELLED))), forwarding);
}

async function overChannels(context: ServerContext, call: Call, offer: WebSocketOffer): Promise<void> {
  const ports = portsOf(call.query);
  const forwarding = await forwardingTo(context, call);
  const protocol = choosePortForwardProtocol(offer.protocols);
  await servePortForwardChannels(context.streams.webSocket(await offer.accept(protocol)), { protocol, ports, ...forwarding });
}

/** Throws a Refusal if the Pod does not exist or does not run. */
async function forwardingTo({ kubelet, clock }: ServerContext, call: Call): Promise<PortForwarding> {
  const pod = await runningPod(kubelet, call);
  const { namespace, name, uid = "" } = pod.metadata;
  const { runtime } = kubelet;
  return {
    clock,
    async forward(port, stream, signal) {
      if (runtime.portForward === undefined) throw new Error("its runtime has no network");
      await runtime.portForward(uid, port, stream, signal);
    },
    describeFailure(port, error) {
      const why = error instanceof Error ? error.message : String(error);
      return `error forwarding port ${port} to pod ${name}_${namespace}, uid ${uid}: ${why}`;
    },
  };
}

async function runningPod(kubelet: ServedKubelet, { parameters }: Call): Promise<Pod> {
  const { namespace = "", pod: name = "", uid } = parameters;
  const pod = kubelet.pod({ namespace, name });
  if (pod === undefined) throw new Refusal(404, "pod does not exist");
  if (uid !== undefined && uid !== pod.metadata.uid) throw new Refusal(404, "pod not found");
  const sandbox = await kubelet.runtime.status(pod.metadata.uid ?? "");
  if (sandbox?.state !== "ready" && !hasRunning(sandbox)) throw new Refusal(500, `pod not found (${quoteGo(`${name}_${namespace}`)})`);
  return pod;
}
