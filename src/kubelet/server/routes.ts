/** Routes of the kubelet's server: upstream's paths and methods. A trailing slash is ignored. */

export type Route = keyof typeof RULES;

export interface RouteFound {
  readonly is: "found";
  readonly route: Route;
  /** Decoded; `check`, `namespace`, `pod`, `uid`, `container` as the route has them. */
  readonly parameters: Readonly<Record<string, string>>;
}

export type RouteMatch = RouteFound | { readonly is: "not-found" } | { readonly is: "not-allowed" };

interface Rule {
  /** Absent: any. */
  readonly methods?: readonly string[];
  /** A segment with a colon matches any non-empty one, a star at the end any number of segments. */
  readonly paths: readonly string[];
}

const READ = ["GET"];
const ACT = ["GET", "POST"];

const IN_CONTAINER = "/:namespace/:pod/:container";
const IN_CONTAINER_OF_UID = "/:namespace/:pod/:uid/:container";

const RULES = {
  healthz: { paths: ["/healthz"] },
  healthCheck: { paths: ["/healthz/:check"] },
  pods: { methods: READ, paths: ["/pods"] },
  runningPods: { methods: READ, paths: ["/runningpods"] },
  containerLogs: { methods: READ, paths: [`/containerLogs${IN_CONTAINER}`] },
  exec: { methods: ACT, paths: [`/exec${IN_CONTAINER}`, `/exec${IN_CONTAINER_OF_UID}`] },
  attach: { methods: ACT, paths: [`/attach${IN_CONTAINER}`, `/attach${IN_CONTAINER_OF_UID}`] },
  portForward: { methods: ACT, paths: ["/portForward/:namespace/:pod", "/portForward/:namespace/:pod/:uid"] },
  run: { methods: ["POST"], paths: [`/run${IN_CONTAINER}`, `/run${IN_CONTAINER_OF_UID}`] },
  statsSummary: { methods: ACT, paths: ["/stats/summary"] },
  metrics: { paths: ["/metrics"] },
  resourceMetrics: { paths: ["/metrics/resource"] },
  probeMetrics: { paths: ["/metrics/probes"] },
  cadvisorMetrics: { paths: ["/metrics/cadvisor"] },
  healthIndicators: { paths: ["/metrics/slis"] },
  configz: { paths: ["/configz"] },
  driverCall: { methods: ["POST"], paths: ["/csi/:driver/:service/:method"] },
  nodeLogs: { methods: READ, paths: ["/logs", "/logs/*"] },
} as const satisfies Record<string, Rule>;

const PATTERNS = (Object.entries(RULES) as [Route, Rule][]).flatMap(([route, { methods, paths }]) =>
  paths.map((path) => ({ route, methods, segments: path.slice(1).split("/") })),
);

/** `path` is percent-encoded, as sent. */
export function matchRoute(method: string, path: string): RouteMatch {
  const asked = path.replace(/\/$/, "").slice(1).split("/").map(decoded);
  let isKnown = false;
  for (const { route, methods, segments } of PATTERNS) {
    const parameters = parametersOf(segments, asked);
    if (parameters === undefined) continue;
    if (methods === undefined || methods.includes(method)) return { is: "found", route, parameters };
    isKnown = true;
  }
  return { is: isKnown ? "not-allowed" : "not-found" };
}

/** Route label for metrics without parameters: "exec", "metrics/probes". "other" for unknown paths. */
export function metricPath(path: string): string {
  const [first = "", second] = path.slice(1).split("/");
  const named = first === "metrics" && second !== undefined ? `${first}/${second}` : first;
  return METRIC_PATHS.has(named) ? named : "other";
}

const METRIC_PATHS: ReadonlySet<string> = new Set(
  PATTERNS.map(({ segments: [first = "", second] }) => (first === "metrics" && second !== undefined ? `${first}/${second}` : first)),
);

function parametersOf(segments: readonly string[], asked: readonly (string | undefined)[]): Readonly<Record<string, string>> | undefined {
  if (segments.at(-1) === "*")
    return asked.length >= segments.length && segments[0] === asked[0] && !asked.includes(undefined) ? {} : undefined;
  if (segments.length !== asked.length) return undefined;
  const found: [name: string, value: string][] = [];
  for (const [index, segment] of segments.entries()) {
    const value = asked[index];
    if (value === undefined || value === "") return undefined;
    if (segment.startsWith(":")) found.push([segment.slice(1), value]);
    else if (segment !== value) return undefined;
  }
  return Object.fromEntries(found);
}

/** Undefined if it is not valid UTF-8. */
function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
