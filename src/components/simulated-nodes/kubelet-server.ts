/**
 * The HTTPS server shared by many simulated nodes. Logs and exec go to the kubelet that has the Pod; operations that simulated Pods do not
 * support are rejected with a message, and so are endpoints of a node: all nodes share one address, so the node is ambiguous, and there is
 * no machine behind it.
 */
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { writeJson } from "../../api/machinery/codec/json.ts";
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import { Refusal, type ChooseKubelet, type ChosenKubelet } from "../../kubelet/server/call.ts";
import type { RouteFound } from "../../kubelet/server/routes.ts";
import type { NodesPart } from "./simulated-nodes.ts";
import { attachUnsupportedMessage, networkUnsupportedMessage, portForwardUnsupportedMessage } from "./unsupported-messages.ts";

type Nodes = Pick<NodesPart, "names" | "kubelet">;

/** `nodes` is evaluated at each request: they start after the server, whose port they publish. */
export function chooseSimulated(nodes: () => Nodes | undefined): ChooseKubelet {
  return (found) => {
    const { namespace, pod: name } = found?.parameters ?? {};
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
