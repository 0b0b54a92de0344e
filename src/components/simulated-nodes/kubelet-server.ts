/**
 * The HTTPS server shared by many simulated nodes. Logs and exec go to the kubelet that has the Pod; operations that simulated Pods do not
 * support are rejected with a message, and so are endpoints of a node, except its statistics: all nodes share one address, so the node is
 * ambiguous unless a query parameter names it, and there is no machine behind it.
 */
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { writeJson } from "../../api/machinery/codec/json.ts";
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import { Refusal, type ChooseKubelet, type ChosenKubelet } from "../../kubelet/server/call.ts";
import type { Route, RouteFound } from "../../kubelet/server/routes.ts";
import type { NodesPart } from "./simulated-nodes.ts";
import { attachUnsupportedMessage, networkUnsupportedMessage, portForwardUnsupportedMessage } from "./unsupported-messages.ts";

type Nodes = Pick<NodesPart, "names" | "kubelet">;

/** `nodes` is evaluated at each request: they start after the server, whose port they publish. */
export function chooseSimulated(nodes: () => Nodes | undefined): ChooseKubelet {
  return (found, query) => {
    const { namespace, pod: name } = found?.parameters ?? {};
    const node = query.get("node");
    if (found !== undefined && STATISTICS.includes(found.route) && node !== null) return statisticsOf(nodes(), node);
    if (found === undefined || namespace === undefined || name === undefined)
      return refused(501, networkUnsupportedMessage("proxy on a simulated node"));
    const part = nodes();
    for (const nodeName of part?.names() ?? []) {
      const kubelet = part?.kubelet(nodeName);
      if (kubelet?.pod({ namespace, name }) !== undefined) return { nodeName, kubelet: unsupportedBySimulation(found) ?? kubelet };
    }
    return refused(404, `pod ${quoteGo(name)} does not exist`);
  };
}

/** Endpoints of a node that are served if the query parameter `node` names it. */
const STATISTICS: readonly Route[] = ["resourceMetrics", "cadvisorMetrics", "statsSummary"];

function statisticsOf(part: Nodes | undefined, nodeName: string): ChosenKubelet {
  const kubelet = part?.kubelet(nodeName);
  return kubelet === undefined ? refused(404, `node ${quoteGo(nodeName)} does not run here`) : { nodeName, kubelet };
}

function refused(code: number, words: string): ChosenKubelet {
  return { nodeName: "", kubelet: new Refusal(code, words) };
}

/** Undefined: supported. */
function unsupportedBySimulation({ route, parameters: { pod = "", container = "" } }: RouteFound): Refusal | undefined {
  if (route === "attach") return noStream(attachUnsupportedMessage({ pod, container }));
  return route === "portForward" ? noStream(portForwardUnsupportedMessage(pod)) : undefined;
}

/** As a Status: for a stream kubectl parses a message with a colon as YAML and prints nothing. */
function noStream(words: string): Refusal {
  return new Refusal(400, writeJson(badRequest(words).toStatus()), { "content-type": JSON_TYPE });
}
