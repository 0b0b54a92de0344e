/**
 * Which page of a Pod has metrics, by the annotations that Prometheus's usual configuration for Kubernetes reads: `prometheus.io/scrape`,
 * `port`, `path` and `scheme`. Pure.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { isForwardable } from "../shared/forwardable.ts";

export interface ScrapeTarget {
  readonly pod: Pod;
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** Begins with a slash. */
  readonly path: string;
  readonly query: string;
}

const SCRAPE = "prometheus.io/scrape";
const PORT = "prometheus.io/port";
const PATH = "prometheus.io/path";
const SCHEME = "prometheus.io/scheme";

const DEFAULT_PATH = "/metrics";
const PORT_MAX = 65_535;

/** Undefined: the Pod is not annotated, does not run, or its annotations name no port or address that may be called. */
export function scrapeTargetOf(pod: Pod): ScrapeTarget | undefined {
  const { annotations = {} } = pod.metadata;
  if (annotations[SCRAPE] !== "true" || pod.status?.phase !== "Running") return undefined;
  const host = pod.status.podIP ?? "";
  const port = portOf(pod);
  if (!isForwardable(host) || port === undefined) return undefined;
  const [path = "", ...query] = (annotations[PATH] ?? DEFAULT_PATH).split("?");
  return {
    pod,
    scheme: annotations[SCHEME] === "https" ? "https" : "http",
    host,
    port,
    path: path.startsWith("/") ? path : `/${path}`,
    query: query.join("?"),
  };
}

/** The annotated port; without the annotation the first one that a container declares. */
function portOf({ metadata, spec }: Pod): number | undefined {
  const annotated = metadata.annotations?.[PORT];
  const declared = spec?.containers.flatMap(({ ports = [] }) => ports).find(({ protocol = "TCP" }) => protocol === "TCP");
  const port = annotated === undefined ? declared?.containerPort : Number(annotated);
  return port !== undefined && Number.isInteger(port) && port > 0 && port <= PORT_MAX ? port : undefined;
}
