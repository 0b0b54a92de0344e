/**
 * The routing table of all Ingresses of our classes. Pure. The oldest Ingress wins where two want the same path or certificate; the other
 * one gets a problem and keeps the rest. Nothing that one Ingress contains can change what another one gets, except by being older.
 */
import type { Service } from "../../api/generated/core/v1.ts";
import type { HTTPIngressPath, Ingress, IngressBackend, IngressClass } from "../../api/generated/networking.k8s.io/v1.ts";
import { comparablePath } from "../comparable-path.ts";
import {
  CLASS_NAME,
  CONTROLLER_NAME,
  ingressName,
  type HostRoutes,
  type Problem,
  type Route,
  type RoutingTable,
  type SecretReference,
  type ServedIngress,
  type ServiceBackend,
} from "../model.ts";
import { parseAnnotations, settingsFor, type ParsedAnnotations } from "./annotations.ts";
import { findBackend } from "./backends.ts";

export interface RouteSources {
  readonly ingresses: readonly Ingress[];
  readonly classes: readonly IngressClass[];
  service(namespace: string, name: string): Service | undefined;
}

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";
const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

export function computeRoutes(sources: RouteSources): RoutingTable {
  const builder = new TableBuilder(sources);
  for (const ingress of ownIngresses(sources).toSorted(byAge)) builder.add(ingress);
  return builder.table();
}

/** The Ingresses of classes of this controller. */
export function ownIngresses({ ingresses, classes }: Pick<RouteSources, "ingresses" | "classes">): readonly Ingress[] {
  const own = classes.filter(({ spec }) => spec?.controller === CONTROLLER_NAME);
  const names = new Set(own.map(({ metadata }) => metadata.name));
  // Created before the class was: admission could not set it.
  const hasDefault = own.some(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true");
  return ingresses.filter(({ metadata, spec }) => {
    if (metadata.deletionTimestamp !== undefined) return false;
    if (spec?.ingressClassName !== undefined) return names.has(spec.ingressClassName);
    const annotated = metadata.annotations?.[CLASS_ANNOTATION];
    return annotated === undefined ? hasDefault : annotated === CLASS_NAME;
  });
}

function byAge(a: Ingress, b: Ingress): number {
  const [first = "", second = ""] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (first !== second) return first < second ? -1 : 1;
  return ingressName(a) < ingressName(b) ? -1 : 1;
}

interface HostBuilder {
  readonly exact: Map<string, Route>;
  readonly prefixes: Map<string, Route>;
  fallback: Route | undefined;
}

/** The Ingress that is being added. */
interface Adding {
  readonly ingress: Ingress;
  readonly name: string;
  readonly namespace: string;
  readonly annotations: ParsedAnnotations;
  readonly problems: Problem[];
  /** Hosts of its `tls`. */
  readonly tlsHosts: ReadonlySet<string>;
}

class TableBuilder {
  readonly #sources: RouteSources;
  /** By host; "" for rules without one. */
  readonly #hosts = new Map<string, HostBuilder>();
  readonly #backends = new Map<string, ServiceBackend>();
  readonly #secrets = new Map<string, SecretReference & { readonly ingress: string }>();
  readonly #served: ServedIngress[] = [];
  #fallback: Route | undefined;
  #isFallbackOnly = false;

  constructor(sources: RouteSources) {
    this.#sources = sources;
  }

  add(ingress: Ingress): void {
    const { namespace = "" } = ingress.metadata;
    const annotations = parseAnnotations(ingress.metadata.annotations);
    const problems = [...annotations.problems];
    const adding = { ingress, name: ingressName(ingress), namespace, annotations, problems, tlsHosts: tlsHostsOf(ingress) };
    for (const { host = "", http } of ingress.spec?.rules ?? []) {
      for (const path of http?.paths ?? []) this.#addPath(adding, host.toLowerCase(), path);
    }
    this.#addFallback(adding);
    this.#addSecrets(adding);
    this.#served.push({ ingress, problems });
  }

  #addPath(adding: Adding, host: string, { path = "/", pathType, backend }: HTTPIngressPath): void {
    const routes = this.#routesOf(host);
    const compared = comparablePath(path);
    const [where, key] = pathType === "Exact" ? [routes.exact, compared] : [routes.prefixes, withoutTrailingSlash(compared)];
    const known = where.get(key);
    if (known !== undefined) {
      const at = `${host === "" ? "any host" : `host ${host}`}, path ${path}`;
      if (known.ingress === adding.name) return;
      adding.problems.push({ reason: "RouteConflict", message: `The route of ${at} belongs to the older Ingress ${known.ingress}` });
      return;
    }
    where.set(key, this.#route(adding, backend, { path, host }));
  }

  #routesOf(host: string): HostBuilder {
    let routes = this.#hosts.get(host);
    if (routes === undefined) this.#hosts.set(host, (routes = { exact: new Map(), prefixes: new Map(), fallback: undefined }));
    return routes;
  }

  #route(adding: Adding, reference: IngressBackend, { path, host }: { readonly path: string; readonly host: string }): Route {
    const { annotations, name, namespace, problems, tlsHosts } = adding;
    const { backend, appProtocol, problem } = findBackend(reference, namespace, (...key) => this.#sources.service(...key));
    if (problem !== undefined && !problems.some(({ message }) => message === problem.message)) problems.push(problem);
    if (backend.is === "service") this.#backends.set(backend.key, backend);
    const settings = settingsFor(annotations, appProtocol);
    return { ingress: name, path, backend, settings, redirectsToTls: settings.sslRedirect ?? hasHost(tlsHosts, host) };
  }

  /** The default backend serves what no rule matches: for the hosts of its Ingress, and for all other hosts. */
  #addFallback(adding: Adding): void {
    const { defaultBackend, rules = [] } = adding.ingress.spec ?? {};
    if (defaultBackend === undefined) return;
    const route = this.#route(adding, defaultBackend, { path: "/", host: "" });
    for (const { host = "" } of rules) this.#routesOf(host.toLowerCase()).fallback ??= route;
    const isOnly = rules.length === 0;
    // An Ingress that is nothing but a default backend wins over those that also have rules.
    if (this.#fallback !== undefined && (this.#isFallbackOnly || !isOnly)) {
      if (isOnly)
        adding.problems.push({
          reason: "RouteConflict",
          message: `The default backend belongs to the older Ingress ${this.#fallback.ingress}`,
        });
      return;
    }
    this.#fallback = route;
    this.#isFallbackOnly = isOnly;
  }

  #addSecrets({ ingress, name, namespace, problems }: Adding): void {
    for (const { hosts = [], secretName = "" } of ingress.spec?.tls ?? []) {
      if (secretName === "") continue;
      for (const host of hosts.length > 0 ? hosts : ruleHosts(ingress)) {
        const key = host.toLowerCase();
        const known = this.#secrets.get(key);
        if (known === undefined) this.#secrets.set(key, { namespace, name: secretName, ingress: name });
        else if (known.ingress !== name && (known.namespace !== namespace || known.name !== secretName)) {
          const message = `The certificate of host ${host} belongs to the older Ingress ${known.ingress}`;
          problems.push({ reason: "RouteConflict", message });
        }
      }
    }
  }

  table(): RoutingTable {
    const hosts = new Map<string, HostRoutes>();
    const wildcards = new Map<string, HostRoutes>();
    for (const [host, routes] of this.#hosts) {
      if (host === "") continue;
      if (host.startsWith("*.")) wildcards.set(host.slice(1), finished(routes));
      else hosts.set(host, finished(routes));
    }
    const anyHost = this.#hosts.get("");
    return {
      hosts,
      wildcards,
      anyHost: anyHost === undefined ? undefined : finished(anyHost),
      fallback: this.#fallback,
      backends: this.#backends,
      secrets: this.#secrets,
      served: this.#served,
    };
  }
}

function finished(routes: HostBuilder): HostRoutes {
  const prefixElementsMax = Math.max(0, ...[...routes.prefixes.keys()].map(elementsOf));
  return { ...routes, prefixElementsMax };
}

/** "/a/b" has two. */
function elementsOf(prefix: string): number {
  return prefix.split("/").length - 1;
}

/** Upstream ignores a trailing slash of a prefix. */
function withoutTrailingSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

function ruleHosts({ spec }: Ingress): readonly string[] {
  return (spec?.rules ?? []).flatMap(({ host = "" }) => (host === "" ? [] : [host]));
}

function tlsHostsOf(ingress: Ingress): ReadonlySet<string> {
  const tls = ingress.spec?.tls ?? [];
  return new Set(tls.flatMap(({ hosts = [] }) => (hosts.length > 0 ? hosts : ruleHosts(ingress))).map((host) => host.toLowerCase()));
}

/** Itself, or by a wildcard. */
function hasHost(hosts: ReadonlySet<string>, host: string): boolean {
  return hosts.has(host) || hosts.has(`*${host.slice(Math.max(0, host.indexOf(".")))}`);
}
