/**
 * Computes the network request of a probe or hook from the Pod's spec: port names, headers, the default host. Messages are upstream's.
 * Pure; machine/probe-actions.ts sends it.
 */
import type { Container, EphemeralContainer, HTTPGetAction } from "../../api/generated/core/v1.ts";
import { KUBELET_VERSION } from "../node/node-facts.ts";
import type { HttpProbeRequest } from "../contracts/probe-actions.ts";

const PORT_MAX = 65_535;

/** "1.36". */
const MINOR_VERSION = /^v(\d+\.\d+)/.exec(KUBELET_VERSION)?.[1] ?? "";

export type ProbePurpose = "probe" | "lifecycle";

/** Throws if the container does not have the named port. */
export function httpRequestOf(
  action: HTTPGetAction,
  container: Container | EphemeralContainer,
  { podIp, purpose }: { readonly podIp: string; readonly purpose: ProbePurpose },
): HttpProbeRequest {
  const { host = "", path = "", scheme = "HTTP", httpHeaders = [] } = action;
  const given = httpHeaders.map(({ name, value }) => [name, value] as const);
  return {
    scheme: scheme === "HTTPS" ? "https" : "http",
    host: host === "" ? podIp : host,
    port: containerPort(action.port, container),
    path: path.startsWith("/") ? path : `/${path}`,
    headers: completed(given, purpose),
  };
}

/** Default User-Agent and Accept, unless the Pod sets them. An empty Accept is omitted. */
function completed(
  headers: readonly (readonly [name: string, value: string])[],
  purpose: ProbePurpose,
): readonly (readonly [name: string, value: string])[] {
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted);
  return [
    ...headers.filter(([name, value]) => name.toLowerCase() !== "accept" || value !== ""),
    ...(has("user-agent") ? [] : [["User-Agent", `kube-${purpose}/${MINOR_VERSION}`] as const]),
    ...(has("accept") ? [] : [["Accept", "*/*"] as const]),
  ];
}

/** A number, or the name of a port of the container. */
export function containerPort(port: number | string, { ports = [] }: Container | EphemeralContainer): number {
  const named = typeof port === "string" ? ports.find(({ name }) => name === port)?.containerPort : port;
  const found = named ?? (/^\d+$/.test(String(port)) ? Number(port) : undefined);
  if (found === undefined) throw new Error(`strconv.Atoi: parsing "${port}": invalid syntax`);
  if (found < 1 || found > PORT_MAX) throw new Error(`invalid port number: ${found}`);
  return found;
}
