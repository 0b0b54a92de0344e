/** Targets of a Pod's connections: the kubelet of its node, and for pods/proxy the Pod's own address. */
import type { Pod } from "../../api/generated/core/v1.ts";
import { allContainers } from "../../api/core/v1/pod/containers.ts";
import { specOf } from "../../api/core/v1/pod/validation/pod.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type { ResolveCall, ResolveContext, Resolver } from "../framework/connection.ts";
import { isForwardable } from "../shared/forwardable.ts";
import { kubeletOf } from "./kubelet.ts";
import { parseNamedPort, portNumber } from "./named-port.ts";
import { readObject } from "./read.ts";
import type { PodName } from "../framework/node-connector.ts";

/** pods/log. An unbound Pod has an empty log. */
export const podLog: Resolver = async (server, call) => {
  const pod = await podOf(server, call, call.request.name);
  const container = containerOf(pod, call);
  const { nodeName = "" } = specOf(pod);
  if (nodeName === "") return undefined;
  return { is: "kubelet", node: await kubeletOf(server, call, nodeName), pod: nameOf(pod), container };
};

/** pods/exec and pods/attach. */
export const podContainer: Resolver = async (server, call) => {
  const pod = await podOf(server, call, call.request.name);
  const container = containerOf(pod, call);
  return { is: "kubelet", node: await kubeletOf(server, call, hostOf(pod)), pod: nameOf(pod), container };
};

/** pods/portforward. */
export const podPorts: Resolver = async (server, call) => {
  const pod = await podOf(server, call, call.request.name);
  return { is: "kubelet", node: await kubeletOf(server, call, hostOf(pod)), pod: nameOf(pod) };
};

/** pods/proxy. Default port: the first one that any container declares. */
export const podProxy: Resolver = async (server, call) => {
  const asked = parseNamedPort(call.request.name);
  if (asked === undefined) throw badRequest(`invalid pod request ${quoteGo(call.request.name)}`);
  const pod = await podOf(server, call, asked.name);
  const host = pod.status?.podIPs?.[0]?.ip ?? "";
  if (!isForwardable(host)) throw badRequest("address not allowed");
  const named = specOf(pod).containers.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
  const port = asked.port === "" && named !== undefined ? named : portNumber(asked);
  return { is: "server", scheme: asked.scheme || "http", host, port, pod: nameOf(pod) };
};

function podOf(server: ResolveContext, call: ResolveCall, name: string): Promise<Pod> {
  return readObject<Pod>(server, call, { plural: "pods", namespace: call.request.namespace, name });
}

function nameOf({ metadata }: Pod): PodName {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

function hostOf(pod: Pod): string {
  const { nodeName = "" } = specOf(pod);
  if (nodeName === "") throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  return nodeName;
}

/** The requested container; by default the only one. */
function containerOf(pod: Pod, { options }: ResolveCall): string {
  const { name } = pod.metadata;
  const wanted = (options["container"] ?? "") as string;
  const names = allContainers(specOf(pod), "spec").map(({ container }) => container.name);
  if (wanted !== "") {
    if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
    return wanted;
  }
  const [only, another] = specOf(pod).containers;
  if (only !== undefined && another === undefined) return only.name;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`);
}
