/**
 * services/proxy: to a random Pod of a Service. Only to addresses of Pods in the same namespace: Endpoints can be written manually, and
 * must not reach other targets.
 */
import type { EndpointAddress, Endpoints, EndpointSubset, Pod, Service } from "../../api/generated/core/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { badRequest, StatusError } from "../../api/machinery/status-error.ts";
import { shuffled } from "../../base/random.ts";
import type { ResolveCall, ResolveContext, Resolver } from "../framework/connection.ts";
import { parseNamedPort } from "./named-port.ts";
import { findObject, readObject } from "./read.ts";
import type { ConnectionTarget } from "../framework/node-connector.ts";

export const serviceProxy: Resolver = async (server, call) => {
  const { namespace, name: asked } = call.request;
  const parsed = parseNamedPort(asked);
  if (parsed === undefined) throw badRequest(`invalid service request ${quoteGo(asked)}`);
  const { name, scheme } = parsed;
  const portName = await portNameOf(server, call, parsed);
  const { subsets = [] } = await readObject<Endpoints>(server, call, { plural: "endpoints", namespace, name });
  if (subsets.length === 0) throw noEndpoints(name);
  for (const subset of shuffled(server.random, subsets)) {
    const found = await addressIn(server, subset, { namespace, portName });
    if (found !== undefined) return { is: "server", scheme: scheme || "http", ...found };
  }
  throw noEndpoints(asked);
};

/** The port may be given by its number in the Service; Endpoints have its name. */
async function portNameOf(server: ResolveContext, call: ResolveCall, { name, port }: { name: string; port: string }): Promise<string> {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const { namespace } = call.request;
  const service = await readObject<Service>(server, call, { plural: "services", namespace, name });
  const found = service.spec?.ports?.find((candidate) => candidate.port === Number(port));
  if (found === undefined)
    throw new StatusError("ServiceUnavailable", `no service port ${Number(port)} found for service ${quoteGo(name)}`);
  return found.name ?? "";
}

type Address = Omit<Extract<ConnectionTarget, { readonly is: "server" }>, "is" | "scheme">;

async function addressIn(
  server: ResolveContext,
  { addresses = [], ports = [] }: EndpointSubset,
  { namespace, portName }: { readonly namespace: string; readonly portName: string },
): Promise<Address | undefined> {
  const port = ports.find(({ name = "" }) => name === portName);
  if (port === undefined) return undefined;
  for (const address of shuffled(server.random, addresses)) {
    const pod = await podAt(server, namespace, address);
    if (pod !== undefined) return { host: address.ip, port: port.port, pod: { namespace, name: pod.metadata.name ?? "" } };
  }
  return undefined;
}

async function podAt(server: ResolveContext, namespace: string, { ip, targetRef }: EndpointAddress): Promise<Pod | undefined> {
  if (targetRef?.name === undefined || targetRef.namespace !== namespace) return undefined;
  const pod = await findObject<Pod>(server, { plural: "pods", namespace, name: targetRef.name });
  return pod?.status?.podIPs?.some((own) => own.ip === ip) === true ? pod : undefined;
}

function noEndpoints(what: string): StatusError {
  return new StatusError("ServiceUnavailable", `no endpoints available for service ${quoteGo(what)}`);
}
