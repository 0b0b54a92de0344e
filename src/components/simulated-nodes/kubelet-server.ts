/**
 * The one HTTPS server of many simulated nodes: who answers what is asked of it. Logs and commands are those of the node agent that has the
 * Pod; what cannot be had of Pods that are only played is refused in words. Pages of a node as a whole are refused, too: all nodes are at one
 * address, so nobody can tell of which of them a page is asked, and there is no machine that it could be about.
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

/** `nodes` is asked at each request: they come after the server, whose port they tell. */
export function chooseSimulated(nodes: () => Nodes | undefined): ChooseKubelet {
  return (found) => {
    const { namespace, pod: name } = found?.parameters ?? {};
    if (found === undefined || namespace === undefined || name === undefined)
      return refused(501, networkUnsupportedMessage("proxy on a simulated node"));
    const part = nodes();
    for (const nodeName of part?.names() ?? []) {
      const kubelet = part?.kubelet(nodeName);
      if (kubelet?.pod({ namespace, name }) !== undefined) return { nodeName, kubelet: playedOnly(found) ?? kubelet };
    }
    return refused(404, `pod ${quoteGo(name)} does not exist`);
  };
}

function refused(code: number, words: string): ChosenKubelet {
  return { nodeName: "", kubelet: new Refusal(code, words) };
}

/** Undefined: it can be had. */
function playedOnly({ route, parameters: { pod = "", container = "" } }: RouteFound): Refusal | undefined {
  if (route === "attach") return noStream(attachUnsupportedMessage({ pod, container }));
  return route === "portForward" ? noStream(portForwardUnsupportedMessage(pod)) : undefined;
}

/** As a Status: where kubectl asked for a stream it takes words with a colon in them for YAML, and shows nothing of them. */
function noStream(words: string): Refusal {
  return new Refusal(400, writeJson(badRequest(words).toStatus()), { "content-type": JSON_TYPE });
}
