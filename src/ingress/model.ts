/**
 * The routing table: what the ingress controller serves, as data. Computed from API objects (compute/compute-routes.ts), searched per request
 * (match.ts). No text of an Ingress is ever a pattern, a template or code: hosts and paths are compared, settings are parsed into numbers.
 * Types and names only.
 */
import type { Ingress } from "../api/generated/networking.k8s.io/v1.ts";
import type { ForwardPolicy } from "../host/http/proxy/contract.ts";

/** spec.controller of the IngressClasses that this controller serves. */
export const CONTROLLER_NAME = "k8ts.io/ingress";

/** The IngressClass that is created if it is missing. */
export const CLASS_NAME = "k8ts";

export interface RateLimit {
  /** Requests per second and client address. */
  readonly perSecond: number;
  readonly burst: number;
}

/** By annotations of the Ingress. */
export interface RouteSettings extends ForwardPolicy {
  /** Replaces the matched path of the request; undefined: the path is kept. */
  readonly rewritePath: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** Name of the cookie that keeps a client on its endpoint. */
  readonly stickyCookie: string | undefined;
  /** Undefined: hosts with TLS are redirected. */
  readonly sslRedirect: boolean | undefined;
}

/** One port of a Service: all routes to it share its endpoints. */
export interface ServiceBackend {
  readonly is: "service";
  /** "default/web/http" */
  readonly key: string;
  readonly namespace: string;
  readonly service: string;
  /** Name of the port in Service and EndpointSlices; "" for the only one. */
  readonly portName: string;
  /** Address family of the Service's cluster IP. */
  readonly addressType: "IPv4" | "IPv6";
}

/** Answered with 503. */
export interface NoBackend {
  readonly is: "none";
  readonly reason: string;
}

export type Backend = ServiceBackend | NoBackend;

export interface Route {
  /** "default/web" */
  readonly ingress: string;
  /** As in the Ingress. */
  readonly path: string;
  readonly backend: Backend;
  readonly settings: RouteSettings;
  /** Plain HTTP is redirected to HTTPS. */
  readonly redirectsToTls: boolean;
}

/** Routes of one host. */
export interface HostRoutes {
  readonly exact: ReadonlyMap<string, Route>;
  /** By path without a trailing slash: "" is every path. */
  readonly prefixes: ReadonlyMap<string, Route>;
  /** Elements of the longest prefix: bounds the search. */
  readonly prefixElementsMax: number;
  /** Default backend of the Ingress that declares the host. */
  readonly fallback: Route | undefined;
}

/** Something that an Ingress cannot have as it asks for it: an event. */
export interface Problem {
  /** One word. */
  readonly reason: "BackendNotFound" | "BackendUnsupported" | "CertificateUnusable" | "InvalidAnnotation" | "RouteConflict";
  readonly message: string;
}

export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

export interface ServedIngress {
  readonly ingress: Ingress;
  readonly problems: readonly Problem[];
}

export interface RoutingTable {
  /** By host. */
  readonly hosts: ReadonlyMap<string, HostRoutes>;
  /** By what follows the first label of "*.example.com": ".example.com". */
  readonly wildcards: ReadonlyMap<string, HostRoutes>;
  /** Rules without a host. */
  readonly anyHost: HostRoutes | undefined;
  /** For requests that no rule matches. */
  readonly fallback: Route | undefined;
  readonly backends: ReadonlyMap<string, ServiceBackend>;
  /** Secrets of the hosts with TLS: exact, or "*.example.com". */
  readonly secrets: ReadonlyMap<string, SecretReference>;
  readonly served: readonly ServedIngress[];
}

/** "default/web" */
export function ingressName({ metadata: { namespace = "", name } }: Ingress): string {
  return `${namespace}/${name}`;
}
