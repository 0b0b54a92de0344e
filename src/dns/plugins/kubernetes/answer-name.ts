/**
 * Answers names of the cluster's zone by the Kubernetes DNS specification 1.1.0, and reverse names of its addresses. Pure over the index.
 * Where the specification is silent, it follows CoreDNS: endpoints of Services with a cluster IP have names, too; SRV of a Service's own
 * name is all its ports. Not here: resolving the target of an ExternalName Service (kubernetes.ts).
 */
import { negative, soaRecord, type Zone } from "../../answers.ts";
import { addressBytes } from "../../addresses.ts";
import type { RecordsAnswer } from "../../plugin.ts";
import { RCODE, TYPE } from "../../wire/codes.ts";
import { labelsOf } from "../../wire/names.ts";
import { addressRecord, type DnsRecord } from "../../wire/records.ts";
import { subjectOf, type ClusterIndex } from "./cluster-index.ts";
import type { AddressedService, PortTarget, ServiceRecords } from "./service-records.ts";

const SCHEMA_VERSION = "1.1.0";
/** The Service of the DNS server itself. */
const DNS_SERVICE = { namespace: "kube-system", name: "kube-dns" };
/** Sum of the weights of a name's SRV records, as CoreDNS has it. */
const WEIGHT_SUM = 100;

export interface NameOptions {
  readonly zone: Zone;
  readonly hasPodNames: boolean;
}

/** The name is an alias of one that may be anywhere. */
export interface Alias {
  readonly is: "alias";
  readonly record: DnsRecord;
  readonly target: string;
  readonly subject: string;
}

/** A name at or below the zone. */
export function answerName(
  { name, type }: { readonly name: string; readonly type: number },
  index: ClusterIndex,
  options: NameOptions,
): RecordsAnswer | Alias {
  const { zone } = options;
  const labels = labelsOf(name === zone.name ? "" : name.slice(0, -zone.name.length - 1));
  const at: Lookup = { name, type, index, options };
  switch (labels.at(-1)) {
    case undefined:
      return answerApex(at);
    case "svc":
      return answerService(at, labels.slice(0, -1));
    case "pod":
      return answerPod(at, labels.slice(0, -1));
    default:
      return answerOther(at, labels);
  }
}

interface Lookup {
  readonly name: string;
  readonly type: number;
  readonly index: ClusterIndex;
  readonly options: NameOptions;
}

const noData = ({ options }: Lookup, subject: string): RecordsAnswer => negative(options.zone, RCODE.NOERROR, subject);
const noName = ({ options }: Lookup, subject: string): RecordsAnswer => negative(options.zone, RCODE.NXDOMAIN, subject);

/** NODATA if there is no record of the type that was requested. */
function records(at: Lookup, subject: string, found: { answers: readonly DnsRecord[]; additional?: readonly DnsRecord[] }): RecordsAnswer {
  const { answers, additional = [] } = found;
  if (answers.length === 0) return noData(at, subject);
  return { is: "records", rcode: RCODE.NOERROR, isAuthoritative: true, answers, authority: [], additional, subject };
}

function addresses({ name, type, options }: Lookup, all: readonly Uint8Array[]): readonly DnsRecord[] {
  const { ttlSeconds } = options.zone;
  return all.map((bytes) => addressRecord({ name, ttlSeconds, bytes })).filter((record) => type === TYPE.ANY || record.type === type);
}

function answerApex(at: Lookup): RecordsAnswer {
  const { name, type, options } = at;
  const { zone } = options;
  const { ttlSeconds } = zone;
  const server = `${DNS_SERVICE.name}.${DNS_SERVICE.namespace}.svc.${zone.name}`;
  const nameserver: DnsRecord = { name, type: TYPE.NS, ttlSeconds, data: { is: "name", name: server } };
  const subject = subjectOf.service(`${DNS_SERVICE.namespace}/${DNS_SERVICE.name}`);
  if (type === TYPE.SOA) return records(at, subjectOf.nothing, { answers: [soaRecord(zone)] });
  if (type !== TYPE.NS) return noData(at, subjectOf.nothing);
  const additional = dnsAddresses(at).map((bytes) => addressRecord({ name: server, ttlSeconds, bytes }));
  return records(at, subject, { answers: [nameserver], additional });
}

function dnsAddresses({ index }: Lookup): readonly Uint8Array[] {
  const found = index.service(`${DNS_SERVICE.namespace}/${DNS_SERVICE.name}`);
  return found?.is === "addresses" ? found.addresses : [];
}

function answerOther(at: Lookup, labels: readonly string[]): RecordsAnswer {
  const { name, type, options } = at;
  switch (labels.join(".")) {
    case "dns-version": {
      const { ttlSeconds } = options.zone;
      const version: DnsRecord = { name, type: TYPE.TXT, ttlSeconds, data: { is: "txt", texts: [SCHEMA_VERSION] } };
      return records(at, subjectOf.nothing, { answers: type === TYPE.TXT || type === TYPE.ANY ? [version] : [] });
    }
    case "dns":
      return noData(at, subjectOf.nothing);
    // The server in the SOA record.
    case "ns.dns":
      return records(at, subjectOf.service(`${DNS_SERVICE.namespace}/${DNS_SERVICE.name}`), { answers: addresses(at, dnsAddresses(at)) });
    default:
      return noName(at, subjectOf.nothing);
  }
}

/** Of [endpoint or port and protocol,] service, namespace. */
function answerService(at: Lookup, labels: readonly string[]): RecordsAnswer | Alias {
  const namespace = labels.at(-1);
  const service = labels.at(-2);
  if (namespace === undefined) return noData(at, subjectOf.nothing);
  if (service === undefined) return answerNamespace(at, namespace);
  const key = `${namespace}/${service}`;
  const subject = subjectOf.service(key);
  const found = at.index.service(key);
  if (found === undefined || found.is === "none") return noName(at, subject);
  const rest = labels.slice(0, -2);
  if (found.is === "external") return rest.length === 0 ? aliasOf(at, found, subject) : noName(at, subject);
  const [first = "", second] = rest;
  if (rest.length === 0) return answerOwnName(at, found, subject);
  if (rest.length === 1 && !first.startsWith("_")) return answerEndpoint(at, found.endpoints.get(first), subject);
  // "_tcp" alone exists if a name below it does.
  if (rest.length === 1) return hasPort(found, { protocol: first }) ? noData(at, subject) : noName(at, subject);
  if (rest.length === 2 && second !== undefined) return answerPort(at, found, { name: first, protocol: second, subject });
  return noName(at, subject);
}

function answerNamespace(at: Lookup, namespace: string): RecordsAnswer {
  const subject = subjectOf.namespace(namespace);
  return at.index.hasNamespace(namespace) ? noData(at, subject) : noName(at, subject);
}

function aliasOf({ name, options }: Lookup, { name: target }: ServiceRecords & { is: "external" }, subject: string): Alias {
  const record: DnsRecord = { name, type: TYPE.CNAME, ttlSeconds: options.zone.ttlSeconds, data: { is: "name", name: target } };
  return { is: "alias", record, target, subject };
}

function answerOwnName(at: Lookup, service: AddressedService, subject: string): RecordsAnswer {
  if (at.type === TYPE.SRV) return answerPorts(at, { service, serviceName: at.name, ports: service.ports, subject });
  return records(at, subject, { answers: addresses(at, service.addresses) });
}

function answerEndpoint(at: Lookup, found: readonly Uint8Array[] | undefined, subject: string): RecordsAnswer {
  return found === undefined ? noName(at, subject) : records(at, subject, { answers: addresses(at, found) });
}

function hasPort(service: AddressedService, { protocol }: { readonly protocol: string }): boolean {
  return service.ports.some((port) => port.name !== "" && `_${port.protocol}` === protocol);
}

/** "_http", "_tcp". */
function answerPort(
  at: Lookup,
  service: AddressedService,
  { name, protocol, subject }: { readonly name: string; readonly protocol: string; readonly subject: string },
): RecordsAnswer {
  const ports = service.ports.filter((port) => port.name !== "" && `_${port.name}` === name && `_${port.protocol}` === protocol);
  if (ports.length === 0) return noName(at, subject);
  if (at.type !== TYPE.SRV && at.type !== TYPE.ANY) return noData(at, subject);
  return answerPorts(at, { service, serviceName: at.name.slice(name.length + protocol.length + 2), ports, subject });
}

interface Ports {
  readonly service: AddressedService;
  readonly serviceName: string;
  readonly ports: readonly PortTarget[];
  readonly subject: string;
}

function answerPorts(at: Lookup, { service, serviceName, ports, subject }: Ports): RecordsAnswer {
  const { ttlSeconds } = at.options.zone;
  const weight = Math.max(1, Math.floor(WEIGHT_SUM / ports.length));
  const targets = new Map<string, readonly Uint8Array[]>();
  const answers = ports.map(({ port, endpoint }): DnsRecord => {
    const target = endpoint === undefined ? serviceName : `${endpoint}.${serviceName}`;
    targets.set(target, endpoint === undefined ? service.addresses : (service.endpoints.get(endpoint) ?? []));
    return { name: at.name, type: TYPE.SRV, ttlSeconds, data: { is: "srv", priority: 0, weight, port, target } };
  });
  const additional = [...targets].flatMap(([name, all]) => all.map((bytes) => addressRecord({ name, ttlSeconds, bytes })));
  return records(at, subject, { answers, additional });
}

/** "10-244-0-7", namespace. */
function answerPod(at: Lookup, labels: readonly string[]): RecordsAnswer {
  const { index, options } = at;
  const namespace = labels.at(-1);
  if (!options.hasPodNames) return noName(at, subjectOf.nothing);
  if (namespace === undefined) return noData(at, subjectOf.nothing);
  const subject = subjectOf.namespace(namespace);
  if (!index.hasNamespace(namespace) || labels.length > 2) return noName(at, subject);
  if (labels.length === 1) return noData(at, subject);
  const bytes = podAddress(labels[0] ?? "");
  return bytes === undefined ? noName(at, subject) : records(at, subject, { answers: addresses(at, [bytes]) });
}

function podAddress(label: string): Uint8Array | undefined {
  const isIpv4 = /^\d+-\d+-\d+-\d+$/.test(label);
  return addressBytes(label.replaceAll("-", isIpv4 ? "." : ":"));
}

/** The names of an address of the cluster; undefined if it is not of the cluster. */
export function answerReverse(
  { name, address }: { readonly name: string; readonly address: string },
  index: ClusterIndex,
  { zone }: NameOptions,
): RecordsAnswer | undefined {
  const names = index.namesOf(address);
  if (names.length === 0) return undefined;
  const answers = names.map(({ endpoint, service, namespace }): DnsRecord => {
    const target = `${endpoint === undefined ? "" : `${endpoint}.`}${service}.${namespace}.svc.${zone.name}`;
    return { name, type: TYPE.PTR, ttlSeconds: zone.ttlSeconds, data: { is: "name", name: target } };
  });
  const subject = subjectOf.address(address);
  return { is: "records", rcode: RCODE.NOERROR, isAuthoritative: true, answers, authority: [], additional: [], subject };
}
