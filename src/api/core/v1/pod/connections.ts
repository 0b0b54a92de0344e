/** The subresources of a Pod that connect to its containers: their options and validation. */
import type { PodLogOptions } from "../../../generated/core/v1.ts";
import { forbidden, invalid, type FieldError } from "../../../machinery/field-error.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import type { Subresource } from "../../../machinery/resource.ts";
import { nonNegative } from "../../../number-validation.ts";
import { proxyConnection } from "../proxy-connection.ts";

type Connection = Extract<Subresource, { readonly of: "connection" }>;

export const podConnections = {
  attach: streaming("PodAttachOptions"),
  exec: streaming("PodExecOptions"),
  log: {
    of: "connection",
    verbs: ["get"],
    options: { group: "", version: "v1", kind: "PodLogOptions", schema: "io.k8s.api.core.v1.PodLogOptions" },
    validateOptions: validateLogOptions,
    answersText: true,
  },
  portforward: streaming("PodPortForwardOptions"),
  proxy: proxyConnection("PodProxyOptions"),
} as const satisfies Record<string, Connection>;

function streaming(kind: string): Connection {
  return {
    of: "connection",
    verbs: ["create", "get"],
    options: { group: "", version: "v1", kind, schema: `io.k8s.api.core.v1.${kind}` },
    alsoNeeds: "create",
  };
}

/** Upstream's name of the options object. */
const OPTIONS = "[]";

export function* validateLogOptions(options: JsonObject): Iterable<FieldError> {
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options as PodLogOptions;
  yield* nonNegative(tailLines, "tailLines");
  if (limitBytes !== undefined && limitBytes < 1) yield invalid("limitBytes", limitBytes, "must be greater than 0");
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    yield forbidden(OPTIONS, "at most one of `sinceTime` or `sinceSeconds` may be specified");
  else if (sinceSeconds !== undefined && sinceSeconds < 1) yield invalid("sinceSeconds", sinceSeconds, "must be greater than 0");
  // Selecting a single stream is an alpha feature (PodLogsQuerySplitStreams), off by default.
  if (stream !== undefined) yield forbidden("stream", "may not be specified");
}
