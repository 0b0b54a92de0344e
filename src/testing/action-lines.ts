/** Records the writes that pass through a transport: one line per accepted write, and rejected ones with the reason. */
import type { JsonObject, KubeObject } from "../api/machinery/object.ts";
import { isStatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportRequest } from "../api/machinery/transport.ts";

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);

export function linesOf(transport: Transport, lines: string[]): Transport {
  return {
    ...transport,
    async request(request) {
      if (READS.has(request.verb)) return transport.request(request);
      // In request order: concurrent requests may be answered in any order.
      const place = lines.push(lineOf(request)) - 1;
      try {
        return await transport.request(request);
      } catch (error) {
        lines[place] += ` -> ${isStatusError(error) ? error.reason : String(error)}`;
        throw error;
      }
    },
  };
}

function lineOf(request: TransportRequest): string {
  const { verb, subresource, patch, object } = request;
  const written = object as KubeObject | undefined;
  if (subresource === "status" && verb === "update") return `status ${target(request)} ${JSON.stringify((object as JsonObject)["status"])}`;
  if (patch !== undefined) return `${patch.type === "apply" ? "apply" : "patch"} ${target(request)} ${JSON.stringify(patch.value)}`;
  if (verb === "create" && subresource === undefined) {
    const { name, generateName = "" } = written?.metadata ?? { name: undefined };
    return `create ${target({ ...request, name: name ?? `${generateName}*` })}`;
  }
  return `${verb} ${target(request)}`;
}

function target({ plural, subresource, namespace, name, verb }: TransportRequest): string {
  const resource = subresource === undefined || (subresource === "status" && verb === "update") ? plural : `${plural}/${subresource}`;
  const place = [...(namespace === undefined ? [] : [namespace]), ...(name === undefined ? [] : [name])].join("/");
  return place === "" ? resource : `${resource} ${place}`;
}
