/**
 * The kubelet's HTTPS server: logs, exec, port-forward and statistics of a node's Pods, for the API server and monitoring. Every request,
 * also for health, is authenticated and authorized first. Not here: the content of each page (its own file), and the read-only port, which
 * does not exist.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { FileTree } from "../../host/files/file-tree.ts";
import type { HttpReply, HttpRequest, TunnelOffer, WebSocketOffer } from "../../host/http/contract.ts";
import { startHttpsServer, type HttpsServer } from "../../host/http/server.ts";
import type { DriverCalls } from "../contracts/driver-calls.ts";
import { authenticator, CLIENT_AUTHORITY, type Authenticate, type KubeletAuthentication } from "./authentication.ts";
import { authorizer, type Authorize, type KubeletAuthorization } from "./authorization.ts";
import { Refusal, sendText, type ChooseKubelet, type Handler, type ServedKubelet, type ServerContext } from "./call.ts";
import { driverCallHandler } from "./driver-calls.ts";
import { healthHandlers } from "./health.ts";
import { containerLogs } from "./log-pages.ts";
import { nodeLogsHandler } from "./node-logs.ts";
import { OpenStreams, STREAM_IDLE_TIMEOUT_MS } from "./streaming/open-streams.ts";
import { podsPage, runningPodsPage } from "./pod-pages.ts";
import { portForwardHandler } from "./streaming/port-forward.ts";
import { attachHandler, execHandler, runHandler } from "./streaming/remote-command.ts";
import { attributesOf } from "./request-attributes.ts";
import { matchRoute, metricPath, type Route } from "./routes.ts";
import { statsHandlers, type StatsSources } from "./stats/stats-pages.ts";

export const KUBELET_PORT = 10_250;

export interface KubeletServerOptions extends StatsSources {
  /** The handler, or for several nodes that share this server, their router. */
  readonly kubelet: ServedKubelet | ChooseKubelet;
  /** An address of this machine. */
  readonly host: string;
  /** Default: KUBELET_PORT. 0: any free port. */
  readonly port?: number;
  readonly tls: KubeletServerTls;
  readonly authentication: KubeletAuthentication;
  readonly authorization: KubeletAuthorization;
  readonly clock: Clock;
  readonly log: Logger;
  /** Log directory of the machine: /var/log. Absent: none. */
  readonly nodeLogs?: FileTree;
  /** To storage drivers of the node. Absent: none. */
  readonly driverCalls?: DriverCalls;
  /** Problem of the loop that reconciles Pods; undefined: healthy. */
  readonly syncProblem?: () => string | undefined;
  /** Idle timeout of streams. Default: STREAM_IDLE_TIMEOUT_MS. */
  readonly streamIdleTimeoutMs?: number;
}

/** PEM. */
export interface KubeletServerTls {
  readonly certificate: string;
  readonly key: string;
}

export interface KubeletServer extends AsyncDisposable {
  /** The port it listens on. */
  readonly port: number;
  /** Serves new connections with this certificate. */
  useTls(tls: KubeletServerTls): void;
  /** Closes the streams, and other requests after a grace period. */
  close(): Promise<void>;
}

/** Grace period for active requests when the server stops. Streams are closed at once. */
const STOP_GRACE_MS = 1_000;

/** Clients send nothing but an empty POST body, and calls of storage drivers, which may contain a Secret (1 MiB). */
const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** Resolves when it listens. Rejects with a ListenError. */
export async function startKubeletServer(options: KubeletServerOptions): Promise<KubeletServer> {
  const { host, port = KUBELET_PORT, clock, log, authentication, streamIdleTimeoutMs = STREAM_IDLE_TIMEOUT_MS } = options;
  const streams = new OpenStreams(clock, streamIdleTimeoutMs);
  const pages = new Pages(options, streams);
  const { clientAuthority } = authentication;
  const clients = clientAuthority === undefined ? {} : { clientAuthorities: { [CLIENT_AUTHORITY]: clientAuthority } };
  const server = await startHttpsServer({
    ...{ host, port, log },
    tls: { ...options.tls, ...clients },
    limits: { bodyBytesMax: BODY_BYTES_MAX },
    bodyTooLarge: (limitBytes) => new Refusal(413, `the body must have at most ${limitBytes} bytes`),
    handler: (request, reply, offer, tunnel) => void pages.serve(request, reply, { offer, tunnel }),
  });
  return runningServer(server, streams, (tls) => server.useTls({ ...tls, ...clients }));
}

function runningServer(server: HttpsServer, streams: OpenStreams, useTls: (tls: KubeletServerTls) => void): KubeletServer {
  const close = (): Promise<void> => {
    streams.close();
    return server.close({ graceMs: STOP_GRACE_MS });
  };
  return { port: server.port, useTls, close, [Symbol.asyncDispose]: close };
}

interface Offers {
  readonly offer: WebSocketOffer | undefined;
  readonly tunnel: TunnelOffer | undefined;
}

class Pages {
  readonly #context: Omit<ServerContext, "kubelet">;
  readonly #choose: ChooseKubelet;
  readonly #authenticate: Authenticate;
  readonly #authorize: Authorize;
  readonly #handlers: Readonly<Record<Route, Handler>>;
  readonly #metrics: StatsSources["metrics"];

  constructor(options: KubeletServerOptions, streams: OpenStreams) {
    const { kubelet, clock, log, authentication, authorization } = options;
    this.#context = { clock, log, streams };
    this.#choose = typeof kubelet === "function" ? kubelet : () => ({ nodeName: kubelet.nodeName, kubelet });
    this.#metrics = options.metrics;
    this.#authenticate = authenticator(authentication, clock);
    this.#authorize = authorizer(authorization, clock);
    const stats = statsHandlers(options);
    this.#handlers = {
      ...healthHandlers(options.syncProblem),
      pods: podsPage,
      runningPods: runningPodsPage,
      containerLogs,
      exec: execHandler,
      attach: attachHandler,
      portForward: portForwardHandler,
      run: runHandler,
      statsSummary: stats.statsSummaryPage,
      metrics: stats.metricsPage,
      resourceMetrics: stats.resourceMetricsPage,
      probeMetrics: stats.probeMetricsPage,
      cadvisorMetrics: stats.cadvisorMetricsPage,
      configz: stats.configzPage,
      nodeLogs: nodeLogsHandler(options.nodeLogs),
      driverCall: driverCallHandler(options.driverCalls),
    };
  }

  /** Never rejects. */
  async serve(request: HttpRequest, reply: HttpReply, offers: Offers): Promise<void> {
    this.#count(request);
    try {
      const match = matchRoute(request.method, request.path);
      const query = new URLSearchParams(request.query);
      const { nodeName, kubelet } = this.#choose(match.is === "found" ? match : undefined, query);
      await this.#mustBeAllowed(request, nodeName);
      if (match.is === "not-found") throw new Refusal(404, "404 page not found\n");
      if (match.is === "not-allowed") throw new Refusal(405, "405: Method Not Allowed");
      if (kubelet instanceof Refusal) throw kubelet;
      await this.#handlers[match.route]({ ...this.#context, kubelet }, { request, reply, ...offers, parameters: match.parameters, query });
    } catch (error) {
      this.#refuse(request, reply, error);
    }
  }

  #count({ method, path }: HttpRequest): void {
    const asked = metricPath(path);
    this.#metrics?.requested({
      method: METHODS.has(method) ? method : "other",
      path: asked,
      isLongRunning: asked === "exec" || asked === "attach",
    });
  }

  async #mustBeAllowed(request: HttpRequest, nodeName: string): Promise<void> {
    const user = await this.#authenticate(request).catch((error: unknown) => {
      this.#context.log.error("Authentication of a request failed", { error });
      return undefined;
    });
    if (user === undefined) throw new Refusal(401, "Unauthorized");
    const authorized = await this.#authorize(user, attributesOf(request.method, decodedPath(request.path)), nodeName);
    if (authorized.is === "refused") throw new Refusal(403, authorized.message);
    if (authorized.is === "allowed") return;
    this.#context.log.error("Authorization of a request failed", { user: user.name, error: authorized.cause });
    throw new Refusal(500, authorized.message);
  }

  /** After the response has begun an error cannot be sent. */
  #refuse({ method, path, signal }: HttpRequest, reply: HttpReply, error: unknown): void {
    if (error instanceof Refusal) return sendText(reply, error.code, error.message, { headers: error.headers });
    // The client disconnected: there is nothing to report.
    if (signal.aborted) return;
    this.#context.log.warn("Handling a request failed", { method, path, error });
    sendText(reply, 500, error instanceof Error ? error.message : String(error));
  }
}

/** Methods that are distinguished in metrics: upstream's. */
const METHODS: ReadonlySet<string> = new Set(["OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT"]);

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Refusal(400, "400 Bad Request");
  }
}
