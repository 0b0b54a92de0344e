/**
 * Validation of an Ingress. Values that an older server accepted (secret names, rules of wildcard hosts) remain valid in an existing
 * object: it could otherwise not be changed at all.
 */
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressTLS,
} from "../../../generated/networking.k8s.io/v1.ts";
import { child, element, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { parseSloppyIp } from "../../../machinery/ip/ip-address.ts";
import { validateLegacyIp } from "../../../machinery/ip/ip-validation.ts";
import {
  validateDnsLabel,
  validateDnsSubdomain,
  validatePortName,
  validatePortNumber,
  validateWildcardDnsSubdomain,
} from "../../../machinery/names.ts";
import { validateTypedReference } from "../typed-reference.ts";

export const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
/** Sequences that proxies interpret differently. */
const PATH_PARTS_REFUSED = ["//", "/./", "/../", "%2f", "%2F"];
const PATH_ENDS_REFUSED = ["/..", "/."];
const NOT_A_NAME = "must be a DNS name, not an IP address";

export function* validateIngress({ metadata, spec = {} }: Ingress, previous?: Ingress): Iterable<FieldError> {
  yield* validateSpec(spec, previous?.spec ?? {});
  if (previous !== undefined) return;
  const annotated = metadata.annotations?.[CLASS_ANNOTATION];
  if (annotated === undefined || spec.ingressClassName === undefined || annotated === spec.ingressClassName) return;
  yield invalid(child("annotations", CLASS_ANNOTATION), annotated, "must match `ingressClassName` when both are specified");
}

function* validateSpec({ defaultBackend, rules = [], tls = [], ingressClassName }: IngressSpec, before: IngressSpec): Iterable<FieldError> {
  if (rules.length === 0 && defaultBackend === undefined) {
    yield invalid("spec", undefined, "either `defaultBackend` or `rules` must be specified");
  }
  if (defaultBackend !== undefined) yield* validateBackend(defaultBackend, "spec.defaultBackend");
  const mayWildcardsBeWrong = before.rules?.some(isWrongWildcardRule) ?? false;
  for (const [index, rule] of rules.entries()) {
    const at = element("spec.rules", index);
    yield* validateHost(rule.host ?? "", child(at, "host"));
    if (!mayWildcardsBeWrong || !hasWildcard(rule)) yield* validateHttp(rule, child(at, "http"));
  }
  const maySecretsBeWrong = before.tls?.some(({ secretName = "" }) => secretNameErrors(secretName).length > 0) ?? false;
  for (const [index, item] of tls.entries()) yield* validateTls(item, element("spec.tls", index), { maySecretsBeWrong });
  if (ingressClassName === undefined) return;
  for (const wrong of validateDnsSubdomain(ingressClassName)) yield invalid("spec.ingressClassName", ingressClassName, wrong);
}

function hasWildcard({ host = "" }: IngressRule): boolean {
  return host.includes("*");
}

function isWrongWildcardRule(rule: IngressRule): boolean {
  return hasWildcard(rule) && [...validateHttp(rule, "")].length > 0;
}

function* validateHost(host: string, at: string): Iterable<FieldError> {
  if (host === "") return;
  if (parseSloppyIp(host) !== undefined) yield invalid(at, host, NOT_A_NAME);
  for (const wrong of hostErrors(host)) yield invalid(at, host, wrong);
}

function hostErrors(host: string): readonly string[] {
  return host.includes("*") ? validateWildcardDnsSubdomain(host) : validateDnsSubdomain(host);
}

function* validateHttp({ http }: IngressRule, at: string): Iterable<FieldError> {
  if (http === undefined) return;
  // Required by the type; a client may have omitted them.
  const paths: readonly HTTPIngressPath[] | undefined = http.paths;
  if (paths === undefined || paths.length === 0) yield required(child(at, "paths"));
  for (const [index, path] of (paths ?? []).entries()) yield* validatePath(path, element(child(at, "paths"), index));
}

function* validatePath(item: HTTPIngressPath, at: string): Iterable<FieldError> {
  const { path = "", backend } = item;
  const pathType: string | undefined = item.pathType;
  if (pathType === undefined) {
    yield required(child(at, "pathType"), "pathType must be specified");
    return;
  }
  if (!PATH_TYPES.includes(pathType)) yield notSupported(child(at, "pathType"), pathType, PATH_TYPES);
  else if (pathType !== "ImplementationSpecific") yield* validatePlainPath(path, child(at, "path"));
  else if (path !== "") yield* validateAbsolute(path, child(at, "path"));
  yield* validateBackend(backend, child(at, "backend"));
}

/** A path that every controller must interpret alike. */
function* validatePlainPath(path: string, at: string): Iterable<FieldError> {
  yield* validateAbsolute(path, at);
  for (const part of PATH_PARTS_REFUSED) if (path.includes(part)) yield invalid(at, path, `must not contain '${part}'`);
  for (const end of PATH_ENDS_REFUSED) if (path.endsWith(end)) yield invalid(at, path, `cannot end with '${end}'`);
}

function* validateAbsolute(path: string, at: string): Iterable<FieldError> {
  if (!path.startsWith("/")) yield invalid(at, path, "must be an absolute path");
}

function* validateBackend({ resource, service }: IngressBackend, at: string): Iterable<FieldError> {
  if (resource !== undefined && service !== undefined) yield invalid(at, "", "cannot set both resource and service backends");
  else if (resource !== undefined) yield* validateTypedReference(resource, child(at, "resource"));
  else if (service !== undefined) yield* validateService(service, at);
  else yield invalid(at, "", "resource or service backend is required");
}

function* validateService({ name, port = {} }: IngressServiceBackend, at: string): Iterable<FieldError> {
  const { name: portName = "", number = 0 } = port;
  const nameAt = child(at, "service.name");
  if (name === "") yield required(nameAt);
  else for (const wrong of validateDnsLabel(name)) yield invalid(nameAt, name, wrong);
  if (portName !== "" && number !== 0) yield invalid(at, "", "cannot set both port name & port number");
  else if (portName !== "") {
    for (const wrong of validatePortName(portName)) yield invalid(child(at, "service.port.name"), portName, wrong);
  } else if (number !== 0) {
    for (const wrong of validatePortNumber(number)) yield invalid(child(at, "service.port.number"), number, wrong);
  } else yield required(at, "port name or number is required");
}

function* validateTls(
  { hosts = [], secretName = "" }: IngressTLS,
  at: string,
  { maySecretsBeWrong }: { readonly maySecretsBeWrong: boolean },
): Iterable<FieldError> {
  for (const [index, host] of hosts.entries()) {
    for (const wrong of hostErrors(host)) yield invalid(element(child(at, "hosts"), index), host, wrong);
  }
  if (maySecretsBeWrong) return;
  for (const wrong of secretNameErrors(secretName)) yield invalid(child(at, "secretName"), secretName, wrong);
}

function secretNameErrors(name: string): readonly string[] {
  return name === "" ? [] : validateDnsSubdomain(name);
}

export function* validateIngressStatus({ status }: Ingress, previous: Ingress): Iterable<FieldError> {
  const before = new Set((previous.status?.loadBalancer?.ingress ?? []).map(({ ip = "" }) => ip));
  for (const [index, { ip = "", hostname = "" }] of (status?.loadBalancer?.ingress ?? []).entries()) {
    const at = element("status.loadBalancer.ingress", index);
    if (ip !== "") {
      for (const wrong of validateLegacyIp(ip, { strict: true, previous: before })) yield invalid(child(at, "ip"), ip, wrong);
    }
    if (hostname === "") continue;
    for (const wrong of validateDnsSubdomain(hostname)) yield invalid(child(at, "hostname"), hostname, wrong);
    if (parseSloppyIp(hostname) !== undefined) yield invalid(child(at, "hostname"), hostname, NOT_A_NAME);
  }
}
