/**
 * Environment variables for Service discovery without DNS: NAME_SERVICE_HOST and _PORT, and those of Docker links. Only for Services of the
 * Pod's namespace that have a cluster IP, and always for the API server's.
 */
import type { Service } from "../../api/generated/core/v1.ts";

/**
 * Services that get variables: all of the Pod's namespace with enableServiceLinks, and default/kubernetes. A Service of that name in the
 * Pod's namespace takes precedence.
 */
export function linkedServices(
  services: readonly Service[],
  { namespace, links }: { readonly namespace: string; readonly links: boolean },
): readonly Service[] {
  const linked = new Map<string, Service>();
  for (const service of services) {
    if (!hasClusterIp(service)) continue;
    const name = service.metadata.name;
    const isMaster = service.metadata.namespace === "default" && name === "kubernetes";
    if (isMaster ? !linked.has(name) : links && service.metadata.namespace === namespace) linked.set(name, service);
  }
  return [...linked.values()].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function hasClusterIp({ spec }: Service): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== "" && spec.clusterIP !== "None";
}

export function serviceVariables(services: readonly Service[]): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const service of services) {
    for (const [name, value] of variablesOf(service)) variables.set(name, value);
  }
  return variables;
}

function* variablesOf({ metadata, spec }: Service): Iterable<readonly [name: string, value: string]> {
  const prefix = asVariableName(metadata.name);
  const host = spec?.clusterIP ?? "";
  const ports = spec?.ports ?? [];
  yield [`${prefix}_SERVICE_HOST`, host];
  for (const [index, { name = "", port }] of ports.entries()) {
    if (index === 0) yield [`${prefix}_SERVICE_PORT`, String(port)];
    if (name !== "") yield [`${prefix}_SERVICE_PORT_${asVariableName(name)}`, String(port)];
  }
  for (const [index, { port, protocol = "TCP" }] of ports.entries()) {
    const url = `${protocol.toLowerCase()}://${host.includes(":") ? `[${host}]` : host}:${port}`;
    const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    if (index === 0) yield [`${prefix}_PORT`, url];
    yield [link, url];
    yield [`${link}_PROTO`, protocol.toLowerCase()];
    yield [`${link}_PORT`, String(port)];
    yield [`${link}_ADDR`, host];
  }
}

function asVariableName(name: string): string {
  return name.replaceAll("-", "_").toUpperCase();
}
