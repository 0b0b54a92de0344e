/** Validation of the ports of a Service, each and as a whole. */
import type { ServicePort, ServiceSpec } from "../../../generated/core/v1.ts";
import { child, duplicate, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateDnsLabel, validatePortName, validatePortNumber, validateQualifiedName } from "../../../machinery/names.ts";

const AT = "spec.ports";
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

export function* validatePorts(ports: readonly ServicePort[]): Iterable<FieldError> {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const here = element(AT, index);
    yield* validateName(port.name ?? "", child(here, "name"), { isRequired: ports.length > 1, names });
    yield* validatePort(port, here);
  }
}

/** With several ports, clients find theirs by name. */
function* validateName(
  name: string,
  field: string,
  { isRequired, names }: { readonly isRequired: boolean; readonly names: Set<string> },
): Iterable<FieldError> {
  if (name === "") {
    if (isRequired) yield required(field);
    return;
  }
  for (const wrong of validateDnsLabel(name)) yield invalid(field, name, wrong);
  if (names.has(name)) yield duplicate(field, name);
  names.add(name);
}

function* validatePort({ port, protocol, targetPort = 0, appProtocol }: ServicePort, at: string): Iterable<FieldError> {
  for (const wrong of validatePortNumber(port)) yield invalid(child(at, "port"), port, wrong);
  if (!PROTOCOLS.includes(protocol ?? "")) {
    yield protocol ? notSupported(child(at, "protocol"), protocol, PROTOCOLS) : required(child(at, "protocol"));
  }
  const wrongTarget = typeof targetPort === "number" ? validatePortNumber(targetPort) : validatePortName(targetPort);
  for (const wrong of wrongTarget) yield invalid(child(at, "targetPort"), targetPort, wrong);
  if (appProtocol === undefined) return;
  for (const wrong of validateQualifiedName(appProtocol)) yield invalid(child(at, "appProtocol"), appProtocol, wrong);
}

/** Rejects node ports where none are allowed, and duplicate pairs of port and protocol. */
export function* validateNodePortUse({ type, ports = [] }: ServiceSpec): Iterable<FieldError> {
  for (const [index, { nodePort = 0 }] of ports.entries()) {
    if (type !== "ClusterIP" || nodePort === 0) continue;
    yield forbidden(child(element(AT, index), "nodePort"), "may not be used when `type` is 'ClusterIP'");
  }
  const nodePorts = new Set<string>();
  for (const [index, { nodePort = 0, protocol }] of ports.entries()) {
    if (nodePort === 0) continue;
    const pair = `${protocol} ${nodePort}`;
    if (nodePorts.has(pair)) yield duplicate(child(element(AT, index), "nodePort"), nodePort);
    nodePorts.add(pair);
  }
  const pairs = new Set<string>();
  for (const [index, { port, protocol }] of ports.entries()) {
    const pair = `${protocol} ${port}`;
    if (pairs.has(pair)) yield duplicate(element(AT, index), shownPort(port, protocol ?? ""));
    pairs.add(pair);
  }
}

/** In the format of upstream's message: with its type names, and only the two relevant members. */
function shownPort(port: number, protocol: string): unknown {
  return { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}
