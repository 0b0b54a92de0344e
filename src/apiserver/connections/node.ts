/** nodes/proxy: to the kubelet, or to another port of the node. */
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import { parseSloppyIp } from "../../api/machinery/ip/ip-address.ts";
import type { Resolver } from "../framework/connection.ts";
import { isForwardable } from "../shared/forwardable.ts";
import { kubeletOf } from "./kubelet.ts";
import { parseNamedPort, portNumber } from "./named-port.ts";

export const nodeProxy: Resolver = async (server, call) => {
  const asked = parseNamedPort(call.request.name);
  if (asked === undefined) throw badRequest(`invalid node request ${quoteGo(call.request.name)}`);
  const node = await kubeletOf(server, call, asked.name);
  // A host name is checked after it is resolved.
  if (parseSloppyIp(node.host) !== undefined && !isForwardable(node.host)) throw badRequest("address not allowed");
  if (asked.port === "" || asked.port === String(node.port)) return { is: "kubelet", node };
  return { is: "server", scheme: asked.scheme || "http", host: node.host, port: portNumber(asked), nodeName: node.name };
};
